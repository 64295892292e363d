"""Which of the system's shared libraries are missing, and which Debian packages bring them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

# What Qt needs to show windows under X11 and what minimal systems are known to lack. It is named
# in full as soon as one is missing, so that one command is enough.
QT_WINDOW_PACKAGES = (
    "libegl1",
    "libgl1",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-keysyms1",
    "libxkbcommon-x11-0",
)

_NOT_FOUND = re.compile(r"^\s*(\S+\.so\S*) => not found", re.MULTILINE)
_SONAME = re.compile(r"(?P<name>lib.+)\.so\.(?P<version>\d+)")
_IRREGULAR_PACKAGES = {
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libz.so.1": "zlib1g",
}


def platform_plugin(environment: Mapping[str, str]) -> str:
    """Which of Qt's platform plugins a window is shown with: `xcb` for X11, `wayland`, ...

    Args:
        environment: the environment variables of the session.
    """
    chosen = environment.get("QT_QPA_PLATFORM", "")
    if not chosen:
        chosen = "wayland" if environment.get("XDG_SESSION_TYPE") == "wayland" else "xcb"
    # 'wayland-egl;xcb' and 'offscreen:size=800x600' are ways to write it, too.
    return re.split(r"[;:-]", chosen)[0]


def qt_files(site_packages: Path, platform: str) -> tuple[Path, ...]:
    """The files of Qt whose needs matter.

    Args:
        site_packages: the folder that PySide6 is installed in.
        platform: the platform plugin, such as `xcb` or `offscreen`.
    """
    qt = site_packages / "PySide6"
    modules = ("QtGui", "QtWidgets", "QtSvg")
    found = [qt / f"{module}.abi3.so" for module in modules]
    return (*found, qt / "Qt" / "plugins" / "platforms" / f"libq{platform}.so")


def embedded_model_files(site_packages: Path) -> tuple[Path, ...]:
    """The files of the embedded model's server; none where it is not installed."""
    return tuple(sorted((site_packages / "xllamacpp").glob("*.so")))


def missing_libraries(files: Iterable[Path]) -> tuple[str, ...]:
    """Names such as `libEGL.so.1` that the loader cannot find for any of the files, sorted."""
    existing = [str(file) for file in files if file.exists()]
    if not existing:
        return ()
    told = subprocess.run(["ldd", *existing], capture_output=True, text=True, check=False)
    return unresolved(told.stdout)


def unresolved(ldd_output: str) -> tuple[str, ...]:
    """The libraries that `ldd` reports as not found, each once, sorted."""
    return tuple(sorted(set(_NOT_FOUND.findall(ldd_output))))


def debian_package(library: str) -> str:
    """The Debian package of a library by Debian's own naming rule: `libEGL.so.1` is in `libegl1`.

    A name that the rule does not cover is given back as it is.
    """
    irregular = _IRREGULAR_PACKAGES.get(library)
    if irregular is not None:
        return irregular
    match = _SONAME.match(library)
    if match is None:
        return library
    name = match["name"].lower().replace("_", "-")
    separator = "-" if name[-1].isdigit() else ""
    return f"{name}{separator}{match['version']}"


def packages_for(libraries: Iterable[str], platform: str) -> tuple[str, ...]:
    """The Debian packages to install for what is missing; empty if nothing is.

    Args:
        libraries: what `missing_libraries` found.
        platform: Qt's platform plugin; for `xcb` everything is named that it needs.
    """
    packages = {debian_package(library) for library in libraries}
    if packages - {"libgomp1"} and platform == "xcb":
        packages.update(QT_WINDOW_PACKAGES)
    return tuple(sorted(packages))

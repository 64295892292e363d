"""Missing libraries of the system, by the names that a person can install."""

from __future__ import annotations

from pathlib import Path

import pytest
import system_libraries as libraries

LDD = """\
/somewhere/QtGui.abi3.so:
\tlinux-vdso.so.1 (0x00007f96ca201000)
\tlibEGL.so.1 => not found
\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f96ca1eb000)
/somewhere/libqxcb.so:
\tlibxcb-cursor.so.0 => not found
\tlibEGL.so.1 => not found
"""


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libEGL.so.1", "libegl1"),
        ("libGL.so.1", "libgl1"),
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxcb-icccm.so.4", "libxcb-icccm4"),
        ("libxcb-keysyms.so.1", "libxcb-keysyms1"),
        ("libxcb-render-util.so.0", "libxcb-render-util0"),
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11-0"),
        ("libX11-xcb.so.1", "libx11-xcb1"),
        ("libdbus-1.so.3", "libdbus-1-3"),
        ("libgssapi_krb5.so.2", "libgssapi-krb5-2"),
        ("libgomp.so.1", "libgomp1"),
        ("libstdc++.so.6", "libstdc++6"),
        ("libglib-2.0.so.0", "libglib2.0-0"),
        ("libz.so.1", "zlib1g"),
        ("ld-linux.so", "ld-linux.so"),
    ],
)
def test_a_library_is_in_the_package_of_its_name(library: str, package: str) -> None:
    assert libraries.debian_package(library) == package


@pytest.mark.parametrize(
    ("session", "plugin"),
    [
        ({}, "xcb"),
        ({"XDG_SESSION_TYPE": "x11"}, "xcb"),
        ({"XDG_SESSION_TYPE": "wayland"}, "wayland"),
        ({"XDG_SESSION_TYPE": "wayland", "QT_QPA_PLATFORM": "xcb"}, "xcb"),
        ({"QT_QPA_PLATFORM": "wayland-egl;xcb"}, "wayland"),
        ({"QT_QPA_PLATFORM": "offscreen:size=800x600"}, "offscreen"),
    ],
)
def test_the_session_tells_how_windows_are_shown(session: dict[str, str], plugin: str) -> None:
    assert libraries.platform_plugin(session) == plugin


def test_what_the_loader_misses_is_listed_once() -> None:
    assert libraries.unresolved(LDD) == ("libEGL.so.1", "libxcb-cursor.so.0")


def test_one_missing_library_names_all_that_windows_need() -> None:
    packages = libraries.packages_for(["libxcb-shape.so.0"], "xcb")

    assert set(packages) == {*libraries.QT_WINDOW_PACKAGES, "libxcb-shape0"}
    assert libraries.packages_for(["libEGL.so.1"], "offscreen") == ("libegl1",)


def test_the_demo_model_alone_does_not_call_for_the_packages_of_windows() -> None:
    assert libraries.packages_for(["libgomp.so.1"], "xcb") == ("libgomp1",)


def test_nothing_missing_is_nothing_to_install(tmp_path: Path) -> None:
    assert libraries.missing_libraries([tmp_path / "not-there.so"]) == ()
    assert libraries.packages_for([], "xcb") == ()

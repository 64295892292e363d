"""Makes the environment of a checkout: `.venv`, the locked packages, the checkout itself.

Run by `./start` and `./test` with any Python that OpenFlow supports; needs nothing but the
standard library. Everything is told on standard error: standard output belongs to the program
that is started afterwards.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pip_progress
import system_libraries

CHECKOUT = Path(__file__).resolve().parent.parent
ENVIRONMENT = CHECKOUT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
LOG = ENVIRONMENT / "install.log"
# There while an installation is under way, so one that was broken off is noticed.
UNFINISHED = ENVIRONMENT / "openflow-unfinished"

REQUIREMENTS = {"app": "requirements.txt", "dev": "requirements-dev.txt"}
EMBEDDED_REQUIREMENTS = "requirements-embedded.txt"
SETUP_FAILED = 2
INTERRUPTED = 130


class SetupError(Exception):
    """Something that keeps the environment from being made, in one sentence for a person."""


def say(sentence: str) -> None:
    """Tell a person something."""
    sys.stderr.write(f"OpenFlow: {sentence}\n")


@contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Wait until no other process makes this environment, and keep the others waiting."""
    with open(CHECKOUT / ".venv.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another start is installing; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make_virtual_environment() -> None:
    """Make `.venv`, anew where the one that is there is broken or half made."""
    if UNFINISHED.exists():
        say("the last installation was broken off; starting it afresh.")
    elif is_usable(PYTHON):
        return
    if ENVIRONMENT.exists():
        shutil.rmtree(ENVIRONMENT)
    say(f"making .venv with Python {sys.version.split()[0]}.")
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(ENVIRONMENT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        reason = (made.stdout + made.stderr).strip().splitlines() or ["no reason given"]
        raise SetupError(
            f"{sys.executable} cannot make a virtual environment ({reason[-1].strip()}). "
            "On Debian and Ubuntu: sudo apt-get install python3-venv."
        )


def is_usable(python: Path) -> bool:
    """Whether this is a working Python of a version that OpenFlow supports."""
    try:
        asked = subprocess.run(
            [python, "-c", "import sys, pip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    if asked.returncode != 0:
        return False
    major, minor = (int(part) for part in asked.stdout.split())
    return (3, 11) <= (major, minor) <= (3, 14)


def install(requirements: str, what: str, options: Sequence[str] = ()) -> None:
    """Install exactly what a lock file names, each file checked against its hash.

    Raises:
        SetupError: if pip fails.
    """
    locked = CHECKOUT / requirements
    total = pip_progress.count_requirements(locked.read_text(encoding="utf-8"))
    say(f"installing {what} ({requirements}).")
    command = [str(PYTHON), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--require-hashes", *options, "--requirement", str(locked)]
    # The user's pip configuration stands, but not an option that no virtual environment can follow.
    environment = {**os.environ, "PIP_USER": "0", "PYTHONUNBUFFERED": "1"}
    with (
        open(LOG, "a", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
        ) as pip,
    ):
        assert pip.stdout is not None
        try:
            errors = pip_progress.follow(pip.stdout, total=total, log=log, out=sys.stderr)
        except BaseException:
            # Interrupted: pip must not go on while the next start clears the environment.
            pip.terminate()
            raise
    if pip.returncode != 0:
        raise SetupError(f"{pip_progress.reason(errors)} All that pip said is in {LOG}.")


def install_embedded_model() -> None:
    """Install the demo model; on a system that it has no build for, everything else still works."""
    try:
        install(EMBEDDED_REQUIREMENTS, "the demo model", ["--only-binary=:all:"])
    except SetupError as error:
        if "No matching distribution" not in str(error):
            raise
        say("the demo model has no build for this system; all other providers work.")


def make_importable() -> None:
    """Let the environment find the checkout, know its version and have the `openflow` command."""
    with open(CHECKOUT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    name, version = project["name"], project["version"]
    packages = site_packages()
    for stale in packages.glob(f"{name}-*.dist-info"):
        shutil.rmtree(stale)
    (packages / f"{name}.pth").write_text(f"{CHECKOUT}\n", encoding="utf-8")
    metadata = packages / f"{name}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    (metadata / "INSTALLER").write_text("packaging/environment.py\n", encoding="utf-8")
    (metadata / "RECORD").write_text("", encoding="utf-8")
    command = PYTHON.parent / name
    command.write_text(
        f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} -P -m app "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)


def site_packages() -> Path:
    """The folder of the environment that packages are installed in."""
    return next((ENVIRONMENT / "lib").glob("python3.*/site-packages"))


def check_system_libraries(platform: str, *, install_with_apt: bool) -> None:
    """Say in one line which of the system's libraries are missing, or install them.

    Args:
        platform: Qt's platform plugin, such as `xcb` or `offscreen`.
        install_with_apt: install what is missing (as root, on a machine made for one run).

    Raises:
        SetupError: if Qt lacks something.
    """
    packages = missing_packages(platform)
    if packages and install_with_apt:
        apt_get("update")
        say(f"installing {' '.join(packages)} with apt-get.")
        apt_get("install", "--yes", "--no-install-recommends", *packages)
        packages = missing_packages(platform)
    if packages == ("libgomp1",):
        say("the demo model needs libgomp1: sudo apt-get install libgomp1")
    elif packages:
        raise SetupError(
            f"Qt needs libraries that this system lacks: sudo apt-get install {' '.join(packages)}"
        )


def apt_get(*arguments: str) -> None:
    """Run apt-get without questions.

    Raises:
        SetupError: if it fails.
    """
    told = subprocess.run(
        ["apt-get", "-qq", *arguments],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    if told.returncode != 0:
        reason = told.stderr.strip().splitlines() or ["no reason given"]
        raise SetupError(f"apt-get {arguments[0]} failed: {reason[-1]}")


def missing_packages(platform: str) -> tuple[str, ...]:
    """The Debian packages of all system libraries that are missing for a platform plugin."""
    packages = site_packages()
    files = (
        *system_libraries.qt_files(packages, platform),
        *system_libraries.embedded_model_files(packages),
    )
    return system_libraries.packages_for(system_libraries.missing_libraries(files), platform)


def bring_up_to_date(kind: str, stamp: str) -> None:
    """Install what the kind of environment needs, if its stamp is not the one given.

    An environment for development holds all that the app needs, in the same versions.
    """
    stamp_file = ENVIRONMENT / f"openflow-{kind}.stamp"
    if is_usable(PYTHON) and not UNFINISHED.exists() and read(stamp_file) == stamp:
        return
    make_virtual_environment()
    UNFINISHED.touch()
    LOG.unlink(missing_ok=True)
    install(REQUIREMENTS[kind], "the packages that it needs")
    install_embedded_model()
    make_importable()
    stamp_file.write_text(stamp, encoding="utf-8")
    UNFINISHED.unlink()
    say("everything is installed.")


def read(file: Path) -> str | None:
    """A file's text, or None where there is no such file."""
    return file.read_text(encoding="utf-8").strip() if file.exists() else None


def main(arguments: Sequence[str]) -> int:
    """Make the environment; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=sorted(REQUIREMENTS))
    parser.add_argument("--stamp", required=True, help="what the lock files say, as one text")
    parser.add_argument("--qt", choices=["window", "offscreen"], help="check what Qt needs for it")
    parser.add_argument("--apt", action="store_true", help="install missing system libraries")
    wanted = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with only_one_at_a_time():
            bring_up_to_date(wanted.kind, wanted.stamp)
            if wanted.qt is not None:
                platform = (
                    system_libraries.platform_plugin(os.environ)
                    if wanted.qt == "window"
                    else wanted.qt
                )
                check_system_libraries(platform, install_with_apt=wanted.apt)
                (ENVIRONMENT / f"openflow-{wanted.qt}.stamp").touch()
    except SetupError as error:
        say(str(error))
        return SETUP_FAILED
    except KeyboardInterrupt:
        say("interrupted; the next start goes on with it.")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

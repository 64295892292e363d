"""What a person sees of an installation, and what is made of pip's errors."""

from __future__ import annotations

import io

import pip_progress
import pytest

SAID = """\
Collecting wheel-one==1.0 (from -r requirements.txt (line 1))
  Downloading wheel_one-1.0-py3-none-any.whl (2.1 kB)
Ignoring colorama: markers 'sys_platform == "win32"' don't match your environment
Collecting pyside6-essentials==6.11.3 (from -r requirements.txt (line 9))
  Using cached pyside6_essentials-6.11.3-cp310-abi3-manylinux.whl (80.3 MB)
Requirement already satisfied: rich==15.0.0 in ./.venv (from -r requirements.txt (line 12))
Installing collected packages: wheel-one, pyside6-essentials
Successfully installed pyside6-essentials-6.11.3 wheel-one-1.0
"""


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def follow(text: str, out: io.StringIO) -> tuple[str, ...]:
    log = io.StringIO()
    errors = pip_progress.follow(text.splitlines(keepends=True), total=4, log=log, out=out)
    assert log.getvalue() == text, "the log holds all that pip said"
    return errors


def test_a_terminal_shows_each_package_in_one_line() -> None:
    out = Terminal()

    errors = follow(SAID, out)

    shown = [part.removeprefix("\x1b[K") for part in out.getvalue().split("\r") if part]
    assert errors == ()
    assert shown == [
        "  [1/4] wheel-one==1.0",
        "  [2/4] colorama",
        "  [3/4] pyside6-essentials==6.11.3",
        "  [3/4] pyside6_essentials, 80.3 MB",
        "  [4/4] rich==15.0.0",
        "  unpacking 2 packages (up to a minute)",
        "",
    ]


def test_a_log_file_gets_large_downloads_and_the_last_step_only() -> None:
    out = io.StringIO()

    follow(SAID, out)

    assert out.getvalue().splitlines() == [
        "  [3/4] pyside6_essentials, 80.3 MB",
        "  unpacking 2 packages (up to a minute)",
    ]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: No matching distribution found for rich==15.0.0\n",
            "could not be downloaded: check the network",
        ),
        ("ERROR: Could not install packages: [Errno 28] No space left on device\n", "disk is full"),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n",
            "not the one that was locked",
        ),
        (
            "ERROR: Could not find a version that satisfies rich==15.0.0 (from versions: none)\n"
            "ERROR: No matching distribution found for rich==15.0.0\n",
            "nothing to download for this Python and system",
        ),
        ("ERROR: something else\n", "ERROR: something else"),
        ("", "without saying why"),
    ],
)
def test_a_failure_has_a_reason(said: str, reason: str) -> None:
    errors = follow(said, io.StringIO())

    assert reason in pip_progress.reason(errors)


def test_requirements_are_counted_without_their_hashes() -> None:
    lock = (
        "# Locked\n"
        "rich==15.0.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\n    # via typer\n"
        "backports-tarfile==1.2.0 ; python_full_version < '3.12' \\\n    --hash=sha256:02\n"
    )

    assert pip_progress.count_requirements(lock) == 2

"""The program: a subcommand goes to the command line, everything else opens the window."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

COMMANDS = frozenset({"diff", "run", "runs", "validate", "providers", "version"})


class WindowRequest(NamedTuple):
    """A window to open, with a workflow in it where `file` names one."""

    file: Path | None
    data_dir: Path | None
    debug: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    status = _run(words)
    if arguments is None:
        # All is done and told. Whoever ends the program now still gets the status that is right.
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):  # Windows knows no hang-up
                signal.signal(getattr(signal, name), signal.SIG_IGN)
    return status


def _run(words: list[str]) -> int:
    try:
        request = window_request(words)
        if request is None:
            from app.cli.application import command_line

            return command_line(words)
        return _open_window(request)
    except KeyboardInterrupt:
        _refuse("stopped by Ctrl+C")
        return 130


def window_request(words: Sequence[str]) -> WindowRequest | None:
    """What the words say about a window; `None` if the command line has to deal with them.

    This is looked at by hand so that a window opens without loading the command line first.
    """
    file: Path | None = None
    data_dir: Path | None = None
    debug = False
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--debug":
            debug = True
        elif name == "--data-dir":
            folder = value if equals else next(rest, "")
            if not folder:
                return None
            data_dir = Path(folder)
        elif word.startswith("-") or word in COMMANDS or file is not None:
            return None
        else:
            file = Path(word)
    return WindowRequest(file, data_dir, debug)


def _open_window(request: WindowRequest) -> int:
    if request.file is not None and not request.file.exists():
        commands = ", ".join(sorted(COMMANDS))
        return _refuse(
            f"there is no file {request.file} to open, and no command of that name; "
            f"the commands are {commands}"
        )
    if not _has_screen():
        return _refuse(
            "there is no screen here for the window (DISPLAY is not set); "
            "'openflow run FILE' needs none"
        )
    try:
        from app.gui import run_window
    except ImportError as error:
        if request.debug:
            raise
        return _refuse(
            f"the window cannot open, because a library is missing ({error}); "
            "install what README.md names, or use 'openflow run FILE'"
        )
    return run_window(request.file, request.data_dir)


def _has_screen() -> bool:
    """Whether Qt will find something to show a window on; without it Qt ends the process."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"openflow: {sentence}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())

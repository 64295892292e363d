"""A command to run, what comes of it, and what is kept of it while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from orchestration.workspace.captured_output import CapturedOutput

UPDATE_EVERY_S = 0.1


class CommandNotStarted(Exception):
    """Nothing ran; the message says why."""


class Ending(StrEnum):
    """How a command ended. `LOST`: it brought down what was to watch over it, and was killed."""

    EXITED = "exited"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    LOST = "lost"


class Command(Struct, frozen=True, kw_only=True):
    """What to run.

    Attributes:
        argv: the program, as an absolute path, and its arguments.
        cwd: the folder to run it in, by its real path: a link in its place is refused.
        env: its whole environment.
        timeout_s: seconds until it is stopped.
        keeps_errors: whether what it prints as errors is part of its output.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    timeout_s: float
    keeps_errors: bool = True


class CommandEnd(Struct, frozen=True):
    """How and when a command ended.

    `exit_code` is that of the command; a negative one is the signal that ended it, `None` says
    that it had not ended by itself. `wall_s` is in seconds, until the command itself had ended or
    had to be stopped. `survivors` are processes that the system does not let us end.
    """

    ending: Ending
    exit_code: int | None
    wall_s: float
    survivors: int = 0


class Watch:
    """One command as the thread that follows it sees it; only `stop` is for other threads.

    Attributes:
        output: what the command has printed.
        stopping: set when the command is to be ended.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        """Take what shows the end of a growing output."""
        self.output = CapturedOutput()
        self.stopping = threading.Event()
        self.on_stop: Callable[[], None] | None = None
        self._show = show
        self._shown_at = 0.0
        self._is_behind = False

    def stop(self) -> None:
        """Ask for the end of the command."""
        self.stopping.set()
        if (wake := self.on_stop) is not None:
            wake()

    def add(self, data: bytes) -> None:
        """Take what was printed next."""
        self.output.add(data)
        self._is_behind = True

    def show_if_due(self) -> float | None:
        """Show the output if it grew and was not shown just now.

        Gives the seconds until it has to be asked again, `None` if there is nothing to show.
        """
        if not self._is_behind:
            return None
        left = self._shown_at + UPDATE_EVERY_S - time.monotonic()
        if left > 0:
            return left
        self._show(self.output.recent())
        self._shown_at = time.monotonic()
        self._is_behind = False
        return None

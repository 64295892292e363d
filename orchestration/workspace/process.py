"""Run a command so that nothing of it is left when the call ends, however the call ends.

The event loop never waits for the command: a thread of its own follows it and keeps what it
prints.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from orchestration.workspace.command import (
    Command,
    CommandEnd,
    CommandNotStarted,
    Ending,
    Watch,
)

if sys.platform == "win32":
    from orchestration.workspace.plain_process import follow
else:
    from orchestration.workspace.supervised_process import follow

__all__ = ["Command", "CommandNotStarted", "Ending", "Finished", "run_command"]


class Finished(Struct, frozen=True):
    """A command that has ended, with everything that it had started.

    Attributes:
        end: how it ended.
        text: what it printed, standard output and errors as they came.
        dropped_bytes: how much of the middle of a very long output was not kept.
    """

    end: CommandEnd
    text: str
    dropped_bytes: int


def ignore(tail: str) -> None:
    """Nobody looks at the output while it grows."""


async def run_command(command: Command, on_output: Callable[[str], None] = ignore) -> Finished:
    """Run a command to its end and give what it printed.

    Cancelling it ends the whole tree of processes before the cancellation goes on, which takes two
    seconds at most.

    Args:
        command: what to run.
        on_output: gets the last part of the output while it grows, on the event loop, at most
            every tenth of a second.

    Raises:
        CommandNotStarted: it could not be started.
        OSError: there is no room for its output.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Finished] = loop.create_future()
    watch = Watch(lambda tail: _call(loop, on_output, tail))

    def settle(outcome: Finished | BaseException) -> None:
        if isinstance(outcome, BaseException):
            ended.set_exception(outcome)
        else:
            ended.set_result(outcome)

    def drive() -> None:
        try:
            outcome: Finished | BaseException = _run(command, watch)
        except BaseException as error:  # noqa: BLE001 - whoever awaits the command gets it
            outcome = error
        _call(loop, settle, outcome)

    threading.Thread(target=drive, name="command", daemon=True).start()
    try:
        return await asyncio.shield(ended)
    finally:
        watch.stop()
        while not ended.done():
            # Whoever cancels again waits no less for the processes to be gone.
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([ended])
        ended.exception()  # taken note of, also where a cancellation goes on in its place


def _run(command: Command, watch: Watch) -> Finished:
    with contextlib.closing(watch.output):
        end = follow(command, watch)
        captured = watch.output.text()
    return Finished(end, captured.text, captured.dropped_bytes)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[Any], None], value: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop was closed without waiting for the command
        loop.call_soon_threadsafe(function, value)

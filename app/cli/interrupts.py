"""Ctrl+C: the first ends the run in good order, the second ends the program at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

INTERRUPTED = 130
Result = TypeVar("Result")
# Windows knows no hang-up.
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


_LOOK_UP_S = 0.1


def run_until_interrupted(work: Coroutine[Any, Any, Result]) -> Result | None:
    """Run a coroutine in an event loop of its own.

    Ctrl+C (or a request of the system to end, or a terminal that goes away) cancels it; it may
    still give a result. A signal that the program was started to ignore stays ignored.

    Returns:
        Its result, `None` if it was cancelled and gave none.
    """
    runner = asyncio.Runner()
    loop = runner.get_loop()
    task = loop.create_task(work)

    def look_up() -> None:
        # A signal that comes just before the loop falls asleep does not wake it: Python hears of
        # it when it runs again, which without this could be never.
        loop.call_later(_LOOK_UP_S, look_up)

    def cancel() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    look_up()
    # The handlers outlast the loop: what keeps it from closing can be interrupted too.
    with _interrupts_handled(cancel), runner:
        return runner.run(_result_of(task))


async def _result_of(task: asyncio.Task[Result]) -> Result | None:
    try:
        return await task
    except asyncio.CancelledError:
        return None


@contextmanager
def _interrupts_handled(stop: Callable[[], None]) -> Iterator[None]:
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            # Not through Python's streams: the signal may have come in the middle of a write.
            with contextlib.suppress(OSError):
                os.write(2, b"openflow: ended at once\n")
            # Children end with their parent: their standard input closes.
            os._exit(INTERRUPTED)
        asked = True
        stop()

    before = {
        number: signal.signal(number, handle)
        for number in _ENDING
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

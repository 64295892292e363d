"""Ctrl+C: the first ends the run in good order, the second ends the program at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

from app.cli.console import say

INTERRUPTED = 130
Result = TypeVar("Result")


def run_until_interrupted(work: Coroutine[Any, Any, Result]) -> Result | None:
    """Run a coroutine in an event loop of its own.

    Ctrl+C (or a request of the system to end) cancels it; it may still give a result.

    Returns:
        Its result, `None` if it was cancelled and gave none.
    """
    with asyncio.Runner() as runner:
        return runner.run(_cancellable(work))


async def _cancellable(work: Coroutine[Any, Any, Result]) -> Result | None:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    with _interrupts_handled(loop, task):
        try:
            return await task
        except asyncio.CancelledError:
            return None


@contextmanager
def _interrupts_handled(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> Iterator[None]:
    asked = False

    def interrupt() -> None:
        nonlocal asked
        if asked:
            say("openflow: ended at once")
            # Children end with their parent: their standard input closes.
            os._exit(INTERRUPTED)
        asked = True
        task.cancel()

    def from_signal(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(interrupt)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        try:
            loop.add_signal_handler(number, interrupt)
        except NotImplementedError:  # event loops of Windows
            signal.signal(number, from_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)

"""Tests on the window's own kind of event loop: Qt's, driven through qasync."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import qasync
from PySide6.QtWidgets import QApplication

from tests.support.leak_check import describe

PATIENCE_S = 40.0


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Let the loop go on until the condition holds; fails if it does not within `PATIENCE_S`."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise AssertionError(what or "what was waited for did not happen")
        await _one_turn()


async def turns(count: int) -> None:
    """Let the loop go round so many times."""
    for _ in range(count):
        await _one_turn()


async def _one_turn() -> None:
    await asyncio.sleep(0.002)


class QtLoop:
    """A qasync loop for one test; it must be left without tasks."""

    def __init__(self, application: QApplication) -> None:
        self._loop = qasync.QEventLoop(application)
        self.complaints: list[str] = []
        self._loop.set_exception_handler(self._complain)

    def run(self, scenario: Coroutine[Any, Any, None]) -> None:
        """Run a scenario to its end."""
        self._loop.run_until_complete(asyncio.wait_for(scenario, 110))

    def close(self) -> None:
        """Close the loop; tasks that are still pending are a complaint."""
        left = [describe(task) for task in asyncio.all_tasks(self._loop)]
        self.complaints += [f"left running: {name}" for name in left]
        self._loop.close()
        asyncio.set_event_loop(None)

    def _complain(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.complaints.append(f"{context.get('message')}: {context.get('exception')!r}")

"""Coroutines started from the window: kept alive, their failures told, ended in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Tasks:
    """The tasks of one window. The loop itself keeps no reference to a task that waits."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._running: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start `work`; an exception that leaves it is reported at once."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    @property
    def count(self) -> int:
        """How many are under way."""
        return len(self._running)

    async def drain(self, within_s: float) -> bool:
        """Cancel all but the calling task and wait for them; tells whether all have ended."""
        mine = asyncio.current_task()
        others = [task for task in self._running if task is not mine]
        for task in others:
            task.cancel()
        if not others:
            return True
        _, pending = await asyncio.wait(others, timeout=within_s)
        return not pending

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(error)

"""The work of one run: begun when a permit is there, cancelled together, none left behind."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import Struct

from orchestration.runs.limits import Claim, Permits

logger = logging.getLogger(__name__)

IN_A_ROW = 128
"""After so many pieces of work that it did in a row a task lets others have the event loop."""


class Work(Struct, eq=False):
    """One piece of work: waiting for a permit, under way, or over.

    `cancelled` tells the body that nobody wants its result any more.
    """

    key: str
    job: Any
    body: Body
    permits: Permits | None
    cancelled: bool = False
    began: bool = False
    claim: Claim | None = None
    task: asyncio.Task[None] | None = None


Body = Callable[[Work], Coroutine[Any, Any, Any]]


class TaskGroup:
    """Work by key, at most one piece for each key that has not been cancelled.

    What a body returns goes to `after_each` when its permit is free again, and with it whether
    nothing else is under way. The task then takes the next piece of work that may begin; only for
    pieces that are left when the event loop comes round tasks are made: making one costs more
    than most of what a run does between two model calls.
    """

    __slots__ = ("_after_each", "_by_key", "_loop", "_ready", "_spawning", "_tasks")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, after_each: Callable[[Any, bool], None]
    ) -> None:
        self._loop = loop
        self._after_each = after_each
        self._by_key: dict[str, Work] = {}
        self._ready: deque[Work] = deque()
        self._spawning = False
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, key: str, job: Any, body: Body, permits: Permits | None = None) -> None:
        """Run `body` as soon as there is a permit."""
        work = Work(key, job, body, permits)
        self._by_key[key] = work
        if permits is None or permits.try_take():
            self._begin(work)
        else:
            work.claim = permits.claim(partial(self._begin, work))

    def cancel(self, key: str) -> None:
        """Cancel the work with this key, if there is any; returns at once."""
        work = self._by_key.pop(key, None)
        if work is not None:
            self._cancel(work)

    def cancel_all(self) -> None:
        """Cancel everything; returns at once."""
        works = list(self._by_key.values())
        self._by_key.clear()
        for work in works:
            self._cancel(work)

    async def close(self, within_s: float) -> tuple[str, ...]:
        """Cancel everything and wait for its end; gives the keys of what would not end."""
        self.cancel_all()
        if not self._tasks:
            return ()
        _, stubborn = await asyncio.wait(self._tasks, timeout=within_s)
        names = tuple(sorted(task.get_name() for task in stubborn))
        if names:
            logger.warning("did not end within %.1f s: %s", within_s, ", ".join(names))
        return names

    def _begin(self, work: Work) -> None:
        work.claim = None
        self._ready.append(work)
        if not self._spawning:
            self._spawning = True
            self._loop.call_soon(self._spawn)

    def _spawn(self) -> None:
        self._spawning = False
        while (work := self._take_ready()) is not None:
            work.task = task = self._loop.create_task(self._work(work))
            self._tasks.add(task)

    def _take_ready(self) -> Work | None:
        ready = self._ready
        while ready:
            work = ready.popleft()
            if not work.cancelled:
                return work
        return None

    def _cancel(self, work: Work) -> None:
        work.cancelled = True
        task = work.task
        if work.claim is not None:
            if work.permits is not None:
                work.permits.withdraw(work.claim)
        elif task is None:
            self._release(work)
        else:
            task.set_name(work.key)
            task.cancel()
            if not work.began:
                # A task that is cancelled before its first step never gets to its `finally`.
                task.add_done_callback(self._tasks.discard)
                self._release(work)

    async def _work(self, work: Work) -> None:
        task, done = work.task, 0
        try:
            while True:
                work.began = True
                result = await work.body(work)
                self._release(work)
                self._after_each(result, not self._by_key)
                upcoming = None if work.cancelled else self._take_ready()
                if upcoming is None:
                    return
                work, done = upcoming, done + 1
                work.task = task
                if done % IN_A_ROW == 0:
                    await asyncio.sleep(0)
        finally:
            if task is not None:
                self._tasks.discard(task)
            self._release(work)

    def _release(self, work: Work) -> None:
        if self._by_key.get(work.key) is work:
            del self._by_key[work.key]
        permits = work.permits
        if permits is not None:
            work.permits = None
            permits.give_back()

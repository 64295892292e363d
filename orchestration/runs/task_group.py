"""The work of one run: begun when a permit is there, cancelled together, none left behind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import Struct

from orchestration.runs.limits import Claim, Permits

logger = logging.getLogger(__name__)

IN_A_ROW = 32
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

    What a body returns goes to `after_each` when its permit is free again. The task then takes the
    next piece of work if there is one by now: making a task costs more than most of what a run
    does between two model calls.
    """

    __slots__ = ("_after_each", "_by_key", "_loop", "_next", "_takes_next", "_tasks")

    def __init__(self, loop: asyncio.AbstractEventLoop, after_each: Callable[[Any], None]) -> None:
        self._loop = loop
        self._after_each = after_each
        self._by_key: dict[str, Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._takes_next = False
        self._next: Work | None = None

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
        if self._takes_next and self._next is None:
            self._next = work
        else:
            work.task = task = self._loop.create_task(self._work(work))
            self._tasks.add(task)

    def _cancel(self, work: Work) -> None:
        work.cancelled = True
        task = work.task
        if work.claim is not None:
            if work.permits is not None:
                work.permits.withdraw(work.claim)
        elif work is self._next:
            self._next = None
            self._release(work)
        elif task is not None:
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
                upcoming = self._end(work, await work.body(work))
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

    def _end(self, work: Work, result: Any) -> Work | None:
        """Free the permit, hand over the result, and give what this task may do next."""
        self._takes_next = not work.cancelled
        try:
            self._release(work)
            self._after_each(result)
        finally:
            self._takes_next = False
            upcoming, self._next = self._next, None
        return upcoming

    def _release(self, work: Work) -> None:
        if self._by_key.get(work.key) is work:
            del self._by_key[work.key]
        permits = work.permits
        if permits is not None:
            work.permits = None
            permits.give_back()

"""The tasks of one run: started when a permit is there, cancelled together, none left behind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from orchestration.runs.limits import Claim, Permits

logger = logging.getLogger(__name__)

Body = Callable[["Work"], Coroutine[Any, Any, None]]


class Work:
    """One piece of work: waiting for a permit, running as a task, or over.

    `cancelled` tells the body that nobody wants its result any more.
    """

    __slots__ = ("_body", "_claim", "_permits", "began", "cancelled", "job", "key", "task")

    def __init__(self, key: str, job: Any, body: Body, permits: Permits | None) -> None:
        self.key = key
        self.job = job
        self.cancelled = False
        self.began = False
        self.task: asyncio.Task[None] | None = None
        self._body = body
        self._permits = permits
        self._claim: Claim | None = None


class TaskGroup:
    """Work by key, at most one piece for each key that has not been cancelled."""

    __slots__ = ("_by_key", "_loop", "_tasks")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._by_key: dict[str, Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, key: str, job: Any, body: Body, permits: Permits | None = None) -> None:
        """Run `body` as a task of its own as soon as there is a permit."""
        work = Work(key, job, body, permits)
        self._by_key[key] = work
        if permits is None or permits.try_take():
            self._spawn(work)
        else:
            work._claim = permits.claim(partial(self._spawn, work))

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

    def _spawn(self, work: Work) -> None:
        work._claim = None
        task = work.task = self._loop.create_task(self._run(work))
        self._tasks.add(task)

    def _cancel(self, work: Work) -> None:
        work.cancelled = True
        claim, task = work._claim, work.task
        if claim is not None and work._permits is not None:
            work._permits.withdraw(claim)
        elif task is not None:
            task.set_name(work.key)
            task.cancel()
            if not work.began:
                # A task that is cancelled before its first step never gets to its `finally`.
                task.add_done_callback(self._tasks.discard)
                self._release(work)

    async def _run(self, work: Work) -> None:
        work.began = True
        try:
            await work._body(work)
        finally:
            if work.task is not None:
                self._tasks.discard(work.task)
            self._release(work)

    def _release(self, work: Work) -> None:
        if self._by_key.get(work.key) is work:
            del self._by_key[work.key]
        if work._permits is not None:
            permits, work._permits = work._permits, None
            permits.give_back()

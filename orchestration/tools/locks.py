"""Locks between the calls of one run, by key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from engine.vocabulary.tools import JsonObject, ToolConcurrency
from orchestration.tools.tool import Tool


def lock_keys(tool: Tool, node_id: str, arguments: JsonObject) -> tuple[str, ...]:
    """What a call must have for itself while it runs, sorted so that no two calls can deadlock."""
    name = tool.definition.name
    match tool.definition.concurrency:
        case ToolConcurrency.SHARED:
            return ()
        case ToolConcurrency.NODE_EXCLUSIVE:
            return (f"{node_id}\x1ftool:{name}",)
        case ToolConcurrency.EXCLUSIVE:
            if tool.lock_paths is None:
                return (f"tool:{name}",)
            return tuple(sorted({f"path:{path}" for path in tool.lock_paths(arguments)}))


class RunLocks:
    """One lock a key, made when it is first asked for and dropped when nobody wants it."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: dict[str, int] = {}

    @asynccontextmanager
    async def hold(self, keys: Sequence[str]) -> AsyncIterator[None]:
        """Hold the locks of all keys, taken in the given order."""
        async with AsyncExitStack() as held:
            for key in keys:
                lock = self._locks.setdefault(key, asyncio.Lock())
                self._wanted[key] = self._wanted.get(key, 0) + 1
                held.callback(self._release, key)
                await held.enter_async_context(lock)
            yield

    def _release(self, key: str) -> None:
        self._wanted[key] -= 1
        if not self._wanted[key]:
            del self._wanted[key], self._locks[key]

"""Locks between the calls of one run, by key."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from engine.vocabulary.tools import JsonObject, ToolConcurrency
from orchestration.tools.tool import Tool
from orchestration.workspace.paths import PathRefused, Workspace

Keys = tuple[str, ...]


async def lock_keys(
    tool: Tool, node_id: str, arguments: JsonObject, workspace: Workspace, *, changes: bool
) -> Keys:
    """What a call must have for itself while it runs, sorted so that no two calls can deadlock.

    `node_id` is the node to which the caller belongs: a node and its subagents count as one.
    `changes`: the call may change any file. Two spellings of one path give one key.
    """
    name = tool.definition.name
    match tool.definition.concurrency:
        case ToolConcurrency.SHARED:
            return ()
        case ToolConcurrency.NODE_EXCLUSIVE:
            # Nobody knows which files such a call changes, so no two of them run at once.
            return (f"tool:{name}",) if changes else (f"{node_id}\x1ftool:{name}",)
        case ToolConcurrency.EXCLUSIVE:
            if tool.lock_paths is None:
                return (f"tool:{name}",)
            return await path_keys(tool.lock_paths(arguments), workspace)


async def path_keys(paths: Iterable[str], workspace: Workspace) -> Keys:
    """The keys of paths as they were written, sorted."""
    return await asyncio.to_thread(_path_keys, tuple(paths), workspace)


def _path_keys(paths: Sequence[str], workspace: Workspace) -> Keys:
    return tuple(sorted({f"path:{_real_name(path, workspace)}" for path in paths}))


def _real_name(path: str, workspace: Workspace) -> str:
    try:
        real = str(workspace.resolve(path))
    except PathRefused:  # the call will be refused by its tool
        return path
    # Some file systems take these spellings for one; elsewhere two calls wait without need.
    return unicodedata.normalize("NFC", real).casefold()


class RunLocks:
    """One lock a key, made when it is first asked for and dropped when nobody wants it."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: dict[str, int] = {}

    @asynccontextmanager
    async def hold(self, keys: Sequence[str]) -> AsyncIterator[bool]:
        """Hold the locks of all keys, taken in the given order; tells whether it had to wait."""
        has_waited = False
        async with AsyncExitStack() as held:
            for key in keys:
                lock = self._locks.setdefault(key, asyncio.Lock())
                has_waited |= lock.locked()
                self._wanted[key] = self._wanted.get(key, 0) + 1
                held.callback(self._release, key)
                await held.enter_async_context(lock)
            yield has_waited

    @asynccontextmanager
    async def hold_current(self, find_keys: Callable[[], Awaitable[Keys]]) -> AsyncIterator[None]:
        """Hold the locks of the keys that are right when all of them are held.

        While one waits, what a path leads to may change, and with it its key.
        """
        keys = await find_keys()
        while True:
            async with self.hold(keys) as has_waited:
                current = await find_keys() if has_waited else keys
                if current == keys:
                    yield
                    return
            keys = current

    def _release(self, key: str) -> None:
        self._wanted[key] -= 1
        if not self._wanted[key]:
            del self._wanted[key], self._locks[key]

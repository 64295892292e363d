"""Locks between the calls of one run, by key."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from engine.vocabulary.tools import ToolConcurrency
from orchestration.tools.tool import Tool
from orchestration.workspace.paths import PathRefused, Workspace

Keys = tuple[str, ...]


def fixed_keys(tool: Tool, node_id: str, *, changes: bool) -> Keys | None:
    """What a call must have for itself while it runs; `None`: its paths, see `path_keys`.

    `node_id` is the node to which the caller belongs: a node and its subagents count as one.
    `changes`: the call may change any file.
    """
    name = tool.definition.name
    match tool.definition.concurrency:
        case ToolConcurrency.SHARED:
            return ()
        case ToolConcurrency.NODE_EXCLUSIVE:
            # Nobody knows which files such a call changes, so no two of them run at once.
            return (f"tool:{name}",) if changes else (f"{node_id}\x1ftool:{name}",)
        case ToolConcurrency.EXCLUSIVE:
            return (f"tool:{name}",) if tool.lock_paths is None else None


async def path_keys(paths: Iterable[str], workspace: Workspace) -> Keys:
    """The keys of paths as they were written, sorted so that no two calls can deadlock.

    Two spellings of one path give one key.
    """
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


class Holding:
    """The locks of some keys, as a context manager; tells whether it had to wait for one."""

    __slots__ = ("_held", "_keys", "_locks")

    def __init__(self, locks: RunLocks, keys: Sequence[str]) -> None:
        self._locks, self._keys = locks, keys
        self._held: list[str] = []

    async def __aenter__(self) -> bool:
        """Take them in the given order, or none."""
        has_waited = False
        try:
            for key in self._keys:
                has_waited |= await self._locks.acquire(key)
                self._held.append(key)
        except BaseException:
            self._release()
            raise
        return has_waited

    async def __aexit__(self, *error: object) -> None:
        """Give them back."""
        self._release()

    def _release(self) -> None:
        while self._held:
            self._locks.release(self._held.pop())


class RunLocks:
    """One lock a key, made when it is first asked for and dropped when nobody wants it."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: dict[str, int] = {}

    def hold(self, keys: Sequence[str]) -> Holding:
        """Hold the locks of all keys, taken in the given order; tells whether it had to wait."""
        return Holding(self, keys)

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

    async def acquire(self, key: str) -> bool:
        """Take the lock of one key; tells whether it had to wait."""
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        self._wanted[key] = self._wanted.get(key, 0) + 1
        has_waited = lock.locked()
        try:
            await lock.acquire()
        except BaseException:
            self._forget(key)
            raise
        return has_waited

    def release(self, key: str) -> None:
        """Give the lock of one key back."""
        self._locks[key].release()
        self._forget(key)

    def _forget(self, key: str) -> None:
        self._wanted[key] -= 1
        if not self._wanted[key]:
            del self._wanted[key], self._locks[key]

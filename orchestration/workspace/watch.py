"""Notice that something below some folders has changed, whoever changed it."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from orchestration.workspace.mounts import is_shared

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

logger = logging.getLogger(__name__)

OPEN_WITHIN_S = 2.0
CONFIRM_WITHIN_S = 5.0
_STEP_MS = 1
_NOT_POLLED_MS = 300
STORM = 1000
"""So many changes at once may have filled the system's queue. Nothing tells what found no room in
it, be it a new folder that nobody watches now: so everything is watched anew."""


class FolderWatch:
    """Tells of changes when it is asked, and can say for sure that it missed none.

    The system queues its notices in the order of the changes. So a file is made in a folder of our
    own that is watched too: when the notice of that file comes, every notice of an earlier change
    has come. Nothing runs between two questions. Belongs to the thread of one event loop.
    """

    def __init__(
        self,
        folders: Iterable[Path],
        own_folder: Path,
        on_change: Callable[[], None],
        *,
        open_within_s: float = OPEN_WITHIN_S,
        confirm_within_s: float = CONFIRM_WITHIN_S,
    ) -> None:
        """Take what is watched once somebody asks.

        Args:
            folders: existing folders, with all that is below them.
            own_folder: where the files of our own go, made when needed; what happens in it does
                not count.
            on_change: called on the event loop while a question is answered.
            open_within_s: a question waits so long for the watching to begin.
            confirm_within_s: a system that says nothing for so long is not asked again.
        """
        self._folders = [os.path.realpath(folder) for folder in folders]
        self._own_folder = own_folder
        self._on_change = on_change
        self._open_within_s = open_within_s
        self._confirm_within_s = confirm_within_s
        self._opening: asyncio.Task[None] | None = None
        self._passing = asyncio.Lock()
        self._begun = self._ended = 0
        # What follows is shared with worker threads, which hold the guard.
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._notify: RustNotify | None = None
        self._changed = False
        self._serial = 0

    async def caught_up(self) -> bool:
        """Tell of every change up to this moment; false where that cannot be known."""
        if self._stop.is_set() or not await self._is_open():
            return False
        # A pass that begins from now on answers everybody who asked before it began.
        wanted = self._begun + 1
        async with self._passing:
            if self._ended >= wanted:
                return True
            self._begun += 1
            this = self._begun
            is_sure = await asyncio.to_thread(self._pass)
            if self._changed or not is_sure:
                self._changed = False
                self._on_change()
            if is_sure:
                self._ended = this
            return is_sure

    def close(self) -> None:
        """Watch no more; returns at once, and may be called twice."""
        self._stop.set()
        if self._guard.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._guard.release()

    async def _is_open(self) -> bool:
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(self._open))
        if not self._opening.done():
            await asyncio.wait({self._opening}, timeout=self._open_within_s)
        return self._opening.done() and self._notify is not None

    def _open(self) -> None:
        with self._guard:
            try:
                # The file of our own may lie elsewhere, and its notice would prove nothing.
                if any(is_shared(Path(folder)) for folder in self._folders):
                    raise OSError("others may change it elsewhere")
                self._own_folder.mkdir(parents=True, exist_ok=True)
                self._own_folder = Path(os.path.realpath(self._own_folder))
                self._watch_anew()
            except (ImportError, OSError, RuntimeError) as error:
                logger.info("%s cannot be watched: %s", self._folders, error)
            if self._stop.is_set():
                self._end()

    def _pass(self) -> bool:
        """Take all notices up to now; false where the system does not give them."""
        with self._guard:
            try:
                return not self._stop.is_set() and self._notify is not None and self._saw_marker()
            except (OSError, RuntimeError) as error:
                logger.info("%s cannot be watched any more: %s", self._folders, error)
                self._stop.set()
                return False
            finally:
                if self._stop.is_set():
                    self._end()

    def _saw_marker(self) -> bool:
        assert self._notify is not None
        self._serial += 1
        is_storm = False
        marker = str(self._own_folder / f"{os.getpid()}-{self._serial}")
        own = f"{self._own_folder}{os.sep}"
        os.close(os.open(marker, os.O_WRONLY | os.O_CREAT, 0o600))
        try:
            until = time.monotonic() + self._confirm_within_s
            while (left := until - time.monotonic()) > 0:
                told = self._notify.watch(_STEP_MS, _STEP_MS, max(1, int(left * 1000)), self._stop)
                if isinstance(told, str):
                    continue
                paths = {path for _, path in told}
                self._changed |= any(not path.startswith(own) for path in paths)
                is_storm |= len(paths) >= STORM
                if marker in paths:
                    if is_storm:
                        self._watch_anew()
                    return True
        finally:
            os.unlink(marker)
        # It is not told what happens here, as on some network file systems.
        self._stop.set()
        return False

    def _watch_anew(self) -> None:
        # Imported here because only runs that search need it.
        from watchfiles._rust_notify import RustNotify

        self._end()
        watched = [*self._folders, str(self._own_folder)]
        # The last argument would let every error pass, a watch that is not there included.
        self._notify = RustNotify(watched, False, False, _NOT_POLLED_MS, True, False)

    def _end(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None

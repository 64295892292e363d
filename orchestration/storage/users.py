"""Which programs have a database file open, so that nobody takes it away from under them."""

from __future__ import annotations

import logging
import os
import secrets
import time
from pathlib import Path

from orchestration.storage.errors import StorageBusy
from orchestration.workspace.folder_lock import FolderLock

SWEPT_AFTER_S = 24 * 3600.0

logger = logging.getLogger(__name__)


def _folder_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.users")


class User:
    """One who has a database file open; the system says so no more once its program ends."""

    def __init__(self, path: Path) -> None:
        """Take the database file."""
        self._file = _folder_of(path) / f"{os.getpid()}-{secrets.token_hex(4)}.lock"
        self._lock = FolderLock(self._file)

    def come(self) -> None:
        """Be seen; where no file can be made, nobody can take the database away either."""
        try:
            _sweep(self._file.parent)
            self._lock.try_take()
            self._lock.write(str(os.getpid()).encode())
        except OSError as error:
            logger.debug("the use of a database is not noted: %s", error)

    def leave(self) -> None:
        """Have it open no more."""
        if self._lock.is_held:
            self._lock.release()
            self._file.unlink(missing_ok=True)


def require_unused(path: Path) -> None:
    """See that nobody has a database file open.

    Raises:
        StorageBusy: a program has.
    """
    for file in sorted(_folder_of(path).glob("*.lock")):
        lock = FolderLock(file)
        pid = lock.note().decode(errors="replace")
        if not lock.try_take():
            who = f"process {pid}" if pid else "another program"
            raise StorageBusy(
                f"{who} has the run database {path} open: close that OpenFlow, then restore again"
            )
        lock.release()
        file.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what programs have left that were killed long ago."""
    for file in folder.glob("*.lock"):
        if time.time() - file.stat().st_mtime > SWEPT_AFTER_S:
            lock = FolderLock(file)
            if lock.try_take():
                lock.release()
                file.unlink(missing_ok=True)

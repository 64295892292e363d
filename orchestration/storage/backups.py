"""Copies of the database file: checked before they count, offered when the file is damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path

from orchestration.storage.errors import StorageDamaged, StorageUnavailable
from orchestration.storage.users import require_unused

DUE_AFTER_S = 24 * 3600.0
PAGES_A_STEP = 512
BESIDE = ("-wal", "-shm")


def backup_file(path: Path) -> Path:
    """Where the daily copy of a database is kept."""
    return path.with_name(f"{path.name}.backup")


def backup_is_due(path: Path, now: float) -> bool:
    """Whether the latest copy is older than a day; `now` in seconds since the epoch."""
    copy = backup_file(path)
    return not copy.exists() or now - copy.stat().st_mtime > DUE_AFTER_S


def copy_of(path: Path, target: Path) -> Path:
    """Copy a database that may be in use, check the copy, and only then let it take its place.

    Blocking; writers go on meanwhile.

    Raises:
        StorageDamaged: the copy does not pass the check; an earlier copy stays.
        StorageUnavailable: it cannot be written.
    """
    unchecked = target.with_name(f"{target.name}.new-{os.getpid()}")
    try:
        with (
            closing(sqlite3.connect(path)) as source,
            closing(sqlite3.connect(unchecked)) as copy,
        ):
            source.backup(copy, pages=PAGES_A_STEP, sleep=0.002)
            copy.execute("PRAGMA journal_mode=DELETE")
            found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StorageDamaged(f"the run database {path} is damaged ({found})", latest_good(path))
        _flush(unchecked)
        os.replace(unchecked, target)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_CORRUPT,
            sqlite3.SQLITE_NOTADB,
        ):
            raise StorageDamaged(
                f"the run database {path} is damaged ({error})", latest_good(path)
            ) from error
        raise StorageUnavailable(f"{path} cannot be copied to {target} ({error})") from error
    except OSError as error:
        raise StorageUnavailable(
            f"{path} cannot be copied to {target} ({error.strerror or error})"
        ) from error
    finally:
        unchecked.unlink(missing_ok=True)
    return target


def latest_good(path: Path) -> Path | None:
    """The newest checked copy of a database, if there is one."""
    copies = [backup_file(path), *path.parent.glob(f"{path.name}.before-*")]
    there = [copy for copy in copies if copy.is_file() and ".new-" not in copy.name]
    return max(there, key=lambda copy: copy.stat().st_mtime, default=None)


def damaged(error: StorageDamaged, path: Path | None) -> StorageDamaged:
    """The same error with what can be done about it."""
    if error.backup is not None or path is None:
        return error
    backup = latest_good(path)
    if backup is None:
        return StorageDamaged(
            f"{error}: no copy of it was made so far; move it away, and a new one is begun"
        )
    made = datetime.fromtimestamp(backup.stat().st_mtime).strftime("%Y-%m-%d %H:%M")
    return StorageDamaged(
        f"{error}: the latest good copy is of {made} ({backup}); "
        "'openflow runs restore' or the History tab puts it in place",
        backup,
    )


def restore(path: Path) -> Path:
    """Put the latest good copy in the place of a database.

    Gives where the damaged file is now; nothing is thrown away.

    Raises:
        StorageBusy: a program has the database open.
        StorageUnavailable: there is no copy, or the files cannot be moved.
    """
    require_unused(path)
    backup = latest_good(path)
    if backup is None:
        raise StorageUnavailable(f"there is no copy of {path} that could be restored")
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    fresh = path.with_name(f"{path.name}.restored-{os.getpid()}")
    try:
        shutil.copyfile(backup, fresh)
        _flush(fresh)
        for ending in ("", *BESIDE):
            part = Path(f"{path}{ending}")
            if part.exists():
                os.replace(part, f"{aside}{ending}")
        os.replace(fresh, path)
    except OSError as error:
        raise StorageUnavailable(
            f"{backup} cannot be put in the place of {path} ({error.strerror or error})"
        ) from error
    return aside


def _flush(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())

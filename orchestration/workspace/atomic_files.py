"""Write files so that a crash leaves the old version or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path


def backup_path(path: Path) -> Path:
    """Where the version before the last save is kept."""
    return path.with_name(path.name + ".bak")


def write_atomically(
    path: Path, data: bytes, *, keep_backup: bool = False, mode: int | None = None
) -> None:
    """Replace a file by way of a temporary one in its folder, flushed to the disk.

    A link is followed: what it leads to is replaced. The file keeps its permissions.

    Args:
        path: the file; its folder must exist.
        data: everything that is to be in it.
        keep_backup: keep the version before as `.bak`.
        mode: permissions that the file gets whatever it had before.

    Raises:
        OSError: nothing was changed, except that a backup may have been made.
    """
    path = Path(os.path.realpath(path))
    temporary = _beside(path)
    wanted = mode if mode is not None else _mode_of(path)
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if wanted is None else wanted
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            if wanted is not None:
                os.chmod(temporary, wanted)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if keep_backup and path.exists():
            _keep(path, backup_path(path))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _flush_folder(path.parent)


def set_aside(path: Path, now: datetime | None = None) -> Path:
    """Move a damaged file out of the way, to a name with the time in it; give the new path."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    stem, suffix = path.name.partition(".")[0], "".join(path.suffixes)
    for attempt in range(1, 100):
        again = "" if attempt == 1 else f"-{attempt}"
        target = path.with_name(f"{stem}.damaged-{stamp}{again}{suffix}")
        if not target.exists():
            return path.rename(target)
    raise FileExistsError(f"too many damaged versions of {path}")


def _keep(path: Path, backup: Path) -> None:
    temporary = _beside(backup)
    try:
        os.link(path, temporary)
    except OSError:  # a file system without hard links
        shutil.copy2(path, temporary)
    os.replace(temporary, backup)


def _beside(path: Path) -> Path:
    """A passing name that is not too long, however long the file's own is."""
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.tmp")


def _mode_of(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _flush_folder(folder: Path) -> None:
    """Make the rename durable, where a folder can be flushed."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

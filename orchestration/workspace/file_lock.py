"""Turns in changing one file, between programs that ask for them: two runs in one folder."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PATIENCE_S = 5.0

_PAUSE_S = 0.005
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_IDENTITY = ("st_dev", "st_ino", "st_size", "st_mtime_ns")


@contextlib.contextmanager
def locked(folder: int | None, path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Keep others who ask for this from changing the file that is there. Blocks.

    Where nothing is, or the file system knows no locks, nobody is kept from anything.

    Args:
        folder: the open folder that the file is in; `None` to go by its path.
        path: its path.
        patience_s: how long to wait for others.

    Raises:
        OSError: somebody else held it all the time.
    """
    until = time.monotonic() + patience_s
    while True:
        held = _opened(folder, path)
        if held is None:
            yield
            return
        try:
            _lock(held, until)
            # Whoever held it may have put another file in its place.
            if is_at(folder, path, os.fstat(held)):
                yield
                return
        finally:
            os.close(held)


def is_at(folder: int | None, path: Path, status: os.stat_result) -> bool:
    """Whether the file that is there is the one with this status, and not written to since."""
    try:
        now = _status(folder, path)
    except FileNotFoundError:
        return False
    return all(getattr(now, field) == getattr(status, field) for field in _IDENTITY)


def _opened(folder: int | None, path: Path) -> int | None:
    """The file, opened; `None` where there is none that can be read."""
    with contextlib.suppress(OSError):  # whoever reads it next is told
        if stat.S_ISREG(_status(folder, path).st_mode):
            return os.open(path if folder is None else path.name, _READ, dir_fd=folder)
    return None


def _status(folder: int | None, path: Path) -> os.stat_result:
    return os.stat(path if folder is None else path.name, dir_fd=folder, follow_symlinks=False)


def _lock(descriptor: int, until: float) -> None:
    if sys.platform == "win32":
        return
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise OSError(errno.EBUSY, "another program has locked it") from None
            time.sleep(_PAUSE_S)
        except OSError:  # the file system knows no such locks
            return

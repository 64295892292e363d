"""A lock among programs: a file that the system unlocks by itself when its program ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class FolderLock:
    """One lock, whose file holds a note of who has it; every method may touch the disk."""

    def __init__(self, path: Path) -> None:
        """Take its file, which is made when it is needed."""
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this program has it."""
        return self._descriptor is not None

    def try_take(self) -> bool:
        """Take it unless somebody has it; its note is empty then.

        Raises:
            OSError: the file cannot be made.
        """
        if self._descriptor is not None:
            return True
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(self._path, flags, 0o600)
        if not _lock(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        self.write(b"")
        return True

    def write(self, note: bytes) -> None:
        """Write what others are told; nothing happens if it is not held."""
        descriptor = self._descriptor
        if descriptor is not None:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, note)

    def note(self) -> bytes:
        """What whoever has it, or had it last, tells others; empty where nothing is to be read."""
        try:
            return self._path.read_bytes()
        except OSError:
            return b""

    def release(self) -> None:
        """Give it back; nothing happens if it is not held."""
        if self._descriptor is not None:
            self.write(b"")
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # locked bytes cannot be read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

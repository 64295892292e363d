"""What a file looked like from outside, so that one can tell later whether it is still the same."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from msgspec import Struct

from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.selectors import split_selector
from orchestration.workspace.paths import PathRefused, Workspace

YOUNG_NS = 2_000_000_000
"""The clocks of file systems tick as coarsely as every two seconds: within a tick a file can change
and keep its times."""
MAX_DIGEST_BYTES = 32 * 1024 * 1024


class FileStamp(Struct, frozen=True):
    """One place and what is there.

    `facts` are times of modification and of change in nanoseconds, size, inode and device; empty
    where there is nothing. `digest` is of the content, where the facts alone do not tell.
    """

    path: Path
    facts: tuple[int, ...] = ()
    is_file: bool = False
    digest: str = ""


class Evidence(Struct, frozen=True):
    """Everything that a path in a call can mean, as it was at one time.

    `subject` is the one regular file among it, `None` where there is none or more than one.
    """

    stamps: tuple[FileStamp, ...]
    subject: Path | None = None

    @property
    def has_digests(self) -> bool:
        """Whether the facts alone do not tell."""
        return any(stamp.digest for stamp in self.stamps)

    def still_holds(self, now: Evidence) -> bool:
        """Whether everything is as it was; `now` has digests where this one has."""
        return len(self.stamps) == len(now.stamps) and all(
            was.path == being.path
            and was.facts == being.facts
            and (not was.digest or was.digest == being.digest)
            for was, being in zip(self.stamps, now.stamps, strict=True)
        )


def take_evidence(
    address: str, workspace: Workspace, *, with_digests: bool = False
) -> Evidence | None:
    """Look at what a path with or without a selector can mean; blocks.

    Gives `None` where it leads out of the workspace, cannot be looked at, or is too large and too
    young to tell by. `with_digests` reads files that are not young too.
    """
    trimmed = address.strip()
    names = dict.fromkeys((address, trimmed, split_selector(trimmed)[0]))
    try:
        stamps = tuple([_stamp(workspace.resolve(name), with_digests) for name in names])
    except (OSError, PathRefused):
        return None
    files = {stamp.path for stamp in stamps if stamp.is_file}
    folders = any(stamp.facts and not stamp.is_file for stamp in stamps)
    return Evidence(stamps, files.pop() if len(files) == 1 and not folders else None)


def _stamp(path: Path, with_digest: bool) -> FileStamp:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return FileStamp(path)
    facts = _facts(found)
    if not stat.S_ISREG(found.st_mode):
        return FileStamp(path, facts)
    newest = max(found.st_mtime_ns, found.st_ctime_ns)
    if not with_digest and time.time_ns() - newest > YOUNG_NS:
        return FileStamp(path, facts, is_file=True)
    if found.st_size > MAX_DIGEST_BYTES:
        raise OSError(f"{path} is too large to look at")
    with open(path, "rb") as file:
        data = file.read()
        if _facts(os.fstat(file.fileno())) != facts:
            raise OSError(f"{path} changes while it is looked at")
    return FileStamp(path, facts, is_file=True, digest=digest_of(data))


def _facts(found: os.stat_result) -> tuple[int, ...]:
    return (
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_size,
        found.st_ino,
        found.st_dev,
    )

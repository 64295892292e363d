"""The versions of files now, to be held against those that were noted before a call."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path

from engine.vocabulary.recovery import ABSENT, UNREADABLE
from orchestration.storage.facts import OpenCall
from orchestration.storage.uncertain import noted_versions

_LEFT_OVER = re.compile(r"\.openflow-[0-9a-f]{16}\.tmp")


def versions_now(calls: Iterable[OpenCall]) -> dict[str, str]:
    """The version of each file that the calls were about to touch. Blocking."""
    paths = {path for call in calls for path in noted_versions(call.targets)}
    return {path: version_of(Path(path)) for path in sorted(paths)}


def remove_left_overs(calls: Iterable[OpenCall], before: float) -> None:
    """Remove what killed writes left beside the files that they were about to write. Blocking.

    `before` is when this program became the only one that writes there, in seconds since the epoch.
    """
    folders = {Path(path).parent for call in calls for path in noted_versions(call.targets)}
    for folder in sorted(folders):
        for left in folder.glob(".openflow-*.tmp"):
            with suppress(OSError):  # it stays for the next write
                status = left.lstat()
                is_ours = _LEFT_OVER.fullmatch(left.name) and stat.S_ISREG(status.st_mode)
                if is_ours and status.st_mtime < before:
                    left.unlink()


def version_of(path: Path) -> str:
    """SHA-256 in hexadecimal, `absent`, or `unreadable`."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError:
        return UNREADABLE

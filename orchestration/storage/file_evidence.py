"""The versions of files now, to be held against those that were noted before a call."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path

from engine.vocabulary.recovery import ABSENT, UNREADABLE
from orchestration.storage.facts import OpenCall
from orchestration.storage.uncertain import noted_versions


def versions_now(calls: Iterable[OpenCall]) -> dict[str, str]:
    """The version of each file that the calls were about to touch. Blocking."""
    paths = {path for call in calls for path in noted_versions(call.targets)}
    return {path: version_of(Path(path)) for path in sorted(paths)}


def version_of(path: Path) -> str:
    """SHA-256 in hexadecimal, `absent`, or `unreadable`."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError:
        return UNREADABLE

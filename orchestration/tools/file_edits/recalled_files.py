"""Which versions of files a run had seen, for one that goes on another day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from orchestration.runs.journal import SeenFile
from orchestration.tools.file_edits.edit_log import EditLog
from orchestration.tools.file_edits.file_memory import (
    MAX_BYTES,
    MAX_PATHS,
    FileMemory,
    digest_of,
)


def recalled(seen: Sequence[SeenFile], edits: Path) -> FileMemory:
    """The memory of a run as it was, from what its conversations saw, the latest last.

    The bytes of old versions are looked for in the files themselves and in what was kept of them
    before edits, in the folder `edits`. Blocking.
    """
    memory = FileMemory()
    memory.recall(seen)
    wanted: dict[str, list[str]] = {}
    for each in reversed(seen):
        if each.path in wanted or len(wanted) < MAX_PATHS:
            wanted.setdefault(each.path, []).append(each.digest)
    found = _before_edits(wanted, edits)
    for path in reversed(wanted):
        data = _data(Path(path))
        if data is not None:
            found[path, digest_of(data)] = data
        for digest in dict.fromkeys(reversed(wanted[path])):
            if (path, digest) in found:
                memory.keep(Path(path), found[path, digest], digest)
    return memory


def _before_edits(wanted: Iterable[str], edits: Path) -> dict[tuple[str, str], bytes]:
    paths = set(wanted)
    return {
        (file.path, digest_of(file.before)): file.before
        for batch in EditLog(edits).batches()
        for file in batch.files
        if file.path in paths and file.before is not None
    }


def _data(path: Path) -> bytes | None:
    with suppress(OSError):  # it is gone, or not to be read: nobody knows its bytes then
        if path.is_file() and path.stat().st_size <= MAX_BYTES:
            return path.read_bytes()
    return None

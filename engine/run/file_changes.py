"""What nodes changed and read: how records are merged, told to descendants, and kept portable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine.vocabulary.tools import FileChangeOp, FileChangeRecord, JsonObject, ReadRecord

_PATH_ARGUMENTS = ("path", "cwd", "paths")
_NOT_A_PATH = ("http://", "https://", "artifact:")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def merge_changes(records: Iterable[FileChangeRecord]) -> tuple[FileChangeRecord, ...]:
    """One record for each file, under the path where it is now, sorted by that path.

    Later records replace earlier ones (of equal times the later in `records`), and a rename takes
    the record of its source away, so a chain of renames leaves its last destination only.
    """
    merged: dict[str, FileChangeRecord] = {}
    for record in sorted(records, key=_timestamp):
        if record.op is FileChangeOp.RENAME and record.rename_to:
            merged.pop(record.path, None)
        merged[record.effective_path] = record
    return tuple([merged[path] for path in sorted(merged)])


def change_as_input(record: FileChangeRecord) -> JsonObject:
    """What a node is told about a changed file."""
    told: JsonObject = {"path": record.path, "op": record.op.value}
    if record.rename_to is not None:
        told["renameTo"] = record.rename_to
    if record.diff_summary is not None:
        told["diffSummary"] = record.diff_summary
    return told


def merge_reads(
    known: Mapping[str, ReadRecord], new: Iterable[ReadRecord]
) -> dict[str, ReadRecord]:
    """Add records of reads, by path; a known one gives way only to one with an outline."""
    merged = dict(known)
    for record in new:
        if record.outline is not None or record.path not in merged:
            merged[record.path] = record
    return merged


def read_as_input(record: ReadRecord) -> JsonObject:
    """What a node is told about a file that was read before."""
    if record.outline is None:
        return {"path": record.path}
    return {"path": record.path, "outline": record.outline}


def diff_summary(diff: str, max_lines: int) -> str:
    """The first lines of a diff, with a line of an ellipsis after them where there are more."""
    lines = diff.splitlines()
    if len(lines) <= max_lines:
        return "\n".join(lines)
    return "\n".join([*lines[:max_lines], "…"])


def relativise_arguments(arguments: JsonObject, root: str | None) -> JsonObject:
    """Make absolute paths inside of `root` relative to it; `root` itself becomes `.`.

    Only the texts under `path`, `cwd` and `paths` are looked at. The same object comes back where
    nothing is to be changed, and it is never changed itself.
    """
    if not root:
        return arguments
    changed: JsonObject | None = None
    for key in _PATH_ARGUMENTS:
        value = arguments.get(key)
        if value is None:
            continue
        relative = _relative(value, root)
        if relative != value:
            changed = dict(arguments) if changed is None else changed
            changed[key] = relative
    return arguments if changed is None else changed


def _timestamp(record: FileChangeRecord) -> int:
    return record.timestamp_ms


def _relative(value: Any, root: str) -> Any:
    if isinstance(value, list):
        return [_relative_path(item, root) if isinstance(item, str) else item for item in value]
    return _relative_path(value, root) if isinstance(value, str) else value


def _relative_path(path: str, root: str) -> str:
    comparable = path.strip().replace("\\", "/")
    if not _ABSOLUTE.match(comparable) or comparable.lower().startswith(_NOT_A_PATH):
        return path
    base = root.replace("\\", "/").rstrip("/")
    if comparable.rstrip("/") == base:
        return "."
    inside = comparable.removeprefix(f"{base}/")
    # A path that climbs out again is no path inside, wherever it starts.
    if inside == comparable or ".." in inside.split("/"):
        return path
    return inside.lstrip("/") or "."

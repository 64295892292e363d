"""The part of a `read` path after its last colon that says which lines are wanted."""

from __future__ import annotations

import re

from msgspec import Struct

_RANGE = re.compile(r"(?P<first>[1-9]\d{0,8})(?:-(?P<last>\d{0,9})|\+(?P<count>[1-9]\d{0,8}))?")


class Selection(Struct, frozen=True):
    """Which lines of a text are wanted, and whether bare or numbered.

    `ranges` are (first, last) pairs from 1, both included, sorted and merged; `None` as `last`
    means to the end; no range means the whole text.
    """

    ranges: tuple[tuple[int, int | None], ...] = ()
    raw: bool = False


def split_selector(text: str) -> tuple[str, Selection | None]:
    """Split a path into itself and its selector.

    The selector is `raw`, line ranges (`5`, `5-9`, `5-`, `5+3`, several with commas), or both with
    a colon between them. What does not parse as that belongs to the path, as a Windows drive does.
    """
    path, colon, last = text.rpartition(":")
    if not colon or not path:
        return text, None
    shorter, colon, before = path.rpartition(":")
    if colon and shorter:
        if last == "raw" and (ranges := _ranges(before)):
            return shorter, Selection(ranges, raw=True)
        if before == "raw" and (ranges := _ranges(last)):
            return shorter, Selection(ranges, raw=True)
    if last == "raw":
        return path, Selection(raw=True)
    if ranges := _ranges(last):
        return path, Selection(ranges)
    return text, None


def _ranges(text: str) -> tuple[tuple[int, int | None], ...] | None:
    found: list[tuple[int, int | None]] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        first, last, count = int(match["first"]), match["last"], match["count"]
        if count is not None:
            found.append((first, first + int(count) - 1))
        elif last is None:
            found.append((first, first))
        else:
            found.append((first, max(first, int(last)) if last else None))
    return _merged(sorted(found, key=lambda pair: pair[0]))


def _merged(ranges: list[tuple[int, int | None]]) -> tuple[tuple[int, int | None], ...]:
    merged: list[tuple[int, int | None]] = []
    for first, last in ranges:
        if merged:
            start, end = merged[-1]
            if end is None:
                break
            if first <= end + 1:
                merged[-1] = (start, None if last is None else max(end, last))
                continue
        merged.append((first, last))
    return tuple(merged)

"""Carry operations that number an older version of a file over to the one that is there now."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from orchestration.tools.file_edits.hashline_parse import Op, OpKind
from orchestration.tools.file_edits.line_alignment import Run, equal_runs
from orchestration.tools.file_edits.line_index import LineIndex

# No line has a line feed in it, so these are like no line of a file.
_START, _END = "\nstart", "\nend"


class Moved(Exception):
    """An operation whose place cannot be told in the present version, or was changed there."""

    def __init__(self, op: Op) -> None:
        self.op = op
        super().__init__(op.text)


def rebased(base: Sequence[str], live: Sequence[str], ops: Sequence[Op]) -> tuple[Op, ...]:
    """Give the operations with the line numbers of the present version.

    An operation is carried over only where the lines that it names and those next to them are
    unchanged, stand together, and can be told from all others like them.

    Args:
        base: the lines that the operations number.
        live: the lines that are there now.
        ops: none of them beyond the end of `base`.

    Raises:
        Moved: one of them cannot be carried over.
    """
    old, new = [_START, *base, _END], [_START, *live, _END]
    runs = equal_runs(old, new)
    before, after = LineIndex(old), LineIndex(new)
    return tuple(_rebased(before, after, runs, op) if op.has_place else op for op in ops)


def _rebased(old: LineIndex, new: LineIndex, runs: Sequence[Run], op: Op) -> Op:
    # With the first sentinel in front, a line's number is its index.
    first = op.first - (op.kind is not OpKind.AFTER)
    last = op.last + (op.kind is not OpKind.BEFORE)
    for i, j, length in runs:
        if i <= first and last < i + length:
            shift = j - i
            block = old.lines[first : last + 1]
            before, after = old.places(block), new.places(block)
            if len(before) != len(after) or before.index(first) != after.index(first + shift):
                break
            return replace(op, first=op.first + shift, last=op.last + shift)
    raise Moved(op)

"""Do hash-line operations to lines: all number the lines as they were before any of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from orchestration.tools.file_edits.file_text import LineSplice
from orchestration.tools.file_edits.hashline_parse import Op, OpKind
from orchestration.tools.tool import FailureKind, ToolFailure

_CLOSER = re.compile(r"[\])}]+[;,]?")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
MIN_SAID = 3
MIN_SAID_ALONE = 8
"""Lines with fewer letters and digits say too little to be known as a repetition, among others and
alone: `end` or `return;` may well be meant to stand there twice."""


class Edited(Struct, frozen=True):
    """The splices of a list of operations, in order, and what was repaired in them."""

    splices: tuple[LineSplice, ...]
    warnings: tuple[str, ...] = ()


def splices_of(lines: Sequence[str], ops: Sequence[Op]) -> Edited:
    """Give the changes of lines that operations make, sorted by place.

    Inserts at one place keep their order. Rows of a replacement that only repeat the lines around
    it are left out: a model that rewrites a block often writes its first or last neighbour again.

    Args:
        lines: of the version that the operations number, without their ends.
        ops: in the order of the input.

    Raises:
        ToolFailure: an operation leaves the file, or two of them touch the same lines.
    """
    placed: list[tuple[LineSplice, Op]] = []
    warnings: list[str] = []
    for op in ops:
        _check(op, len(lines))
        rows = op.rows
        if op.kind is OpKind.REPLACE:
            rows, found = _repaired(lines, op)
            warnings += found
        placed.append((LineSplice(*_place(op, len(lines)), rows), op))
    placed.sort(key=lambda one: (one[0].first, one[0].last))
    reached = 0
    before: Op | None = None
    for splice, op in placed:
        if splice.first <= reached and before is not None:
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"'{before.text}' and '{op.text}' (lines {before.line} and {op.line} of the input) "
                "touch the same lines",
                "make one operation of them; all numbers are those of the version you read",
            )
        if splice.last > reached:
            reached, before = splice.last, op
    return Edited(tuple(splice for splice, _ in placed), tuple(warnings))


def _place(op: Op, count: int) -> tuple[int, int]:
    """The lines that the operation takes away, as `LineSplice` names them."""
    match op.kind:
        case OpKind.BEFORE:
            return op.first, op.first - 1
        case OpKind.AFTER:
            return op.first + 1, op.first
        case OpKind.HEAD:
            return 1, 0
        case OpKind.TAIL:
            return count + 1, count
        case _:
            return op.first, op.last


def _check(op: Op, count: int) -> None:
    if op.last > count:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"'{op.text}' (line {op.line} of the input) is beyond the end: the file has {count} "
            f"line{'' if count == 1 else 's'}",
            "use 'insert tail:' to add lines at the end",
        )


def _repaired(lines: Sequence[str], op: Op) -> tuple[tuple[str, ...], list[str]]:
    old = lines[op.first - 1 : op.last]
    above, below = lines[: op.first - 1], lines[op.last :]
    rows = list(op.rows)
    warnings = []
    head = _repetition(rows, above[::-1], old, is_head=True)
    if head:
        warnings.append(_told(op, head, "above"))
        rows = rows[head:]
    tail = _repetition(rows[::-1], below, old[::-1], is_head=False)
    if tail:
        warnings.append(_told(op, tail, "below"))
        rows = rows[: len(rows) - tail]
    return tuple(rows), warnings


def _repetition(
    rows: Sequence[str], around: Sequence[str], old: Sequence[str], *, is_head: bool
) -> int:
    """How many rows at an edge repeat the lines beside the replaced ones.

    All three start at the edge: `rows` and `old` go inwards from it and `around` outwards.
    """
    for count in range(min(len(rows) - 1, len(around)), 0, -1):
        edge = list(rows[:count])
        if edge != list(around[:count])[::-1] or list(old[:count]) == edge:
            continue
        telling = [line for line in edge if _said(line) >= MIN_SAID]
        if count > 1 or any(_said(line) >= MIN_SAID_ALONE for line in telling):
            # The lines replaced hold none of them, so they were written again by mistake.
            if telling and not any(line in old for line in telling):
                return count
        elif not is_head and count == 1 and _is_closer_too_many(edge[0], rows, old):
            return count
    return 0


def _is_closer_too_many(line: str, rows: Sequence[str], old: Sequence[str]) -> bool:
    closer = line.strip()
    if not _CLOSER.fullmatch(closer):
        return False
    balance = _balance([closer])
    return balance != 0 and _balance(rows) - _balance(old) == balance


def _balance(lines: Sequence[str]) -> int:
    return sum(
        (character in _OPENING) - (character in _CLOSING) for line in lines for character in line
    )


def _said(line: str) -> int:
    return sum(character.isalnum() for character in line)


def _told(op: Op, count: int, where: str) -> str:
    rows = "the row" if count == 1 else f"{count} rows"
    edge = "first" if where == "above" else "last"
    return (
        f"{rows} at the {edge} edge of '{op.text}' only repeated what stands {where} and "
        f"{'was' if count == 1 else 'were'} left out; use an insert to have it twice"
    )

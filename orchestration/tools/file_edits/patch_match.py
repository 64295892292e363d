"""Find where the hunks of a patch belong in a file: exactly, else loosely, always one place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from orchestration.tools.file_edits.patch_likeness import LEVELS, MAX_PLACES, FileLines
from orchestration.tools.file_edits.patch_parse import Hunk
from orchestration.tools.tool import FailureKind, ToolFailure

MAX_NAMED_LINES = 5


class Placed(Struct, frozen=True):
    """A hunk and the index, from 0, of the first of its old lines in the file.

    `ignores` says in which regard lines differ that were taken for the same; empty if in none.
    """

    hunk: Hunk
    start: int
    ignores: str = ""


class _Candidates(Struct, frozen=True):
    hunk: Hunk
    starts: tuple[int, ...]
    ignores: str

    def region(self, start: int, *, whole: bool) -> tuple[int, int]:
        """The lines that the hunk covers there, or only those from its first to its last change."""
        if whole:
            return start, start + len(self.hunk.old)
        before, after = _context_around(self.hunk)
        return start + before, start + len(self.hunk.old) - after


def place_hunks(lines: Sequence[str], hunks: Sequence[Hunk], label: str) -> tuple[Placed, ...]:
    """Give each hunk its one place, sorted by place; no two change the same lines.

    Args:
        lines: the file's lines without their ends.
        hunks: in the order of the patch, which need not be that of the file.
        label: names the file in errors.

    Raises:
        ToolFailure: a hunk belongs nowhere, or more than one way to place them all is left.
    """
    file = FileLines(lines)
    found = [_candidates(file, hunk, label) for hunk in hunks]
    for whole in (True, False):
        chosen, ways = _in_order(found, whole=whole)
        if ways == 1:
            return _placed(found, chosen)
        if ways > 1:
            raise _ambiguous(found, label)
    if all(len(candidates.starts) == 1 for candidates in found):
        starts = [candidates.starts[0] for candidates in found]
        regions = sorted(
            candidates.region(start, whole=False)
            for candidates, start in zip(found, starts, strict=True)
        )
        if all(one[1] <= other[0] for one, other in pairwise(regions)):
            return _placed(found, starts)
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"two hunks of the patch change the same lines of '{label}'",
            "make one hunk of them",
        )
    raise _ambiguous(found, label)


def _candidates(file: FileLines, hunk: Hunk, label: str) -> _Candidates:
    anchors = _anchor_lines(file, hunk, label)
    if not hunk.old:
        if hunk.at_end or anchors is None:
            return _Candidates(hunk, (len(file.lines),), "")
        return _Candidates(hunk, tuple(line + 1 for line in anchors), "")
    for level in LEVELS:
        if starts := _allowed(file.places(hunk, level), hunk, anchors, len(file.lines)):
            return _few(_Candidates(hunk, starts, level.ignores), label)
    if starts := _allowed(file.alike_places(hunk), hunk, anchors, len(file.lines)):
        return _few(_Candidates(hunk, starts, "small differences"), label)
    raise _not_found(file, hunk, label)


def _few(candidates: _Candidates, label: str) -> _Candidates:
    """Refuse what fits almost anywhere: other hunks would hardly make one place of it."""
    if len(candidates.starts) > MAX_PLACES:
        raise _ambiguous([candidates], label)
    return candidates


def _anchor_lines(file: FileLines, hunk: Hunk, label: str) -> list[int] | None:
    """The lines that the hunk's last anchor may be; `None` where it has no anchor."""
    reached: list[int] | None = None
    for anchor in hunk.anchors:
        like = file.lines_like(anchor, 0 if reached is None else reached[0] + 1)
        if reached is not None:
            nearest = {next((i for i in like if i > line), None) for line in reached}
            like = sorted(line for line in nearest if line is not None)
        reached = like
        if not reached:
            raise ToolFailure(
                FailureKind.FAILED,
                f"'{label}' has no line '{anchor}', which the hunk in line {hunk.line} of the "
                "patch names after '@@'",
                f"read '{label}' and copy the line",
            )
    return reached


def _allowed(
    starts: list[int], hunk: Hunk, anchors: list[int] | None, count: int
) -> tuple[int, ...]:
    if hunk.at_end:
        starts = [start for start in starts if start + len(hunk.old) == count]
    if anchors is None:
        return tuple(starts)
    after = {next((start for start in starts if start >= line), None) for line in anchors}
    return tuple(sorted(start for start in after if start is not None))


def _in_order(found: Sequence[_Candidates], *, whole: bool) -> tuple[list[int], int]:
    """One way to place all hunks in their order, and how many there are: 0, 1 or 2 for more."""
    # From the last hunk backwards: for each candidate, the ways in which the rest can follow it.
    ways: list[list[int]] = []
    for index in range(len(found) - 1, -1, -1):
        candidates = found[index]
        if index == len(found) - 1:
            ways.append([1] * len(candidates.starts))
            continue
        after, following = found[index + 1], ways[-1]
        begins = [after.region(start, whole=whole)[0] for start in after.starts]
        here: list[int] = []
        k, left = len(begins), 0
        for start in reversed(candidates.starts):
            end = candidates.region(start, whole=whole)[1]
            while k > 0 and begins[k - 1] >= end:
                k -= 1
                left = min(2, left + following[k])
            here.append(left)
        ways.append(here[::-1])
    ways.reverse()
    chosen: list[int] = []
    end = 0
    for candidates, counts in zip(found, ways, strict=True):
        for start, count in zip(candidates.starts, counts, strict=True):
            region = candidates.region(start, whole=whole)
            if count and (not chosen or region[0] >= end):
                chosen.append(start)
                end = region[1]
                break
    return chosen, min(2, sum(ways[0])) if ways else 1


def _placed(found: Sequence[_Candidates], starts: Sequence[int]) -> tuple[Placed, ...]:
    placed = [
        Placed(candidates.hunk, start, candidates.ignores)
        for candidates, start in zip(found, starts, strict=True)
    ]
    return tuple(sorted(placed, key=lambda one: one.start + _context_around(one.hunk)[0]))


def _context_around(hunk: Hunk) -> tuple[int, int]:
    """How many lines of context come before the hunk's first change and after its last."""
    marks = [line.mark for line in hunk.lines]
    before = next(i for i, mark in enumerate(marks) if mark != " ")
    after = next(i for i, mark in enumerate(reversed(marks)) if mark != " ")
    return before, after


def _ambiguous(found: Sequence[_Candidates], label: str) -> ToolFailure:
    candidates = next(one for one in found if len(one.starts) > 1)
    named = [str(start + 1) for start in candidates.starts[:MAX_NAMED_LINES]]
    if len(candidates.starts) > MAX_NAMED_LINES:
        named.append("…")
    return ToolFailure(
        FailureKind.FAILED,
        f"the hunk in line {candidates.hunk.line} of the patch fits '{label}' in "
        f"{len(candidates.starts)} places (lines {', '.join(named)})",
        "add unchanged lines around it, or '@@' and a line that comes before it",
    )


def _not_found(file: FileLines, hunk: Hunk, label: str) -> ToolFailure:
    where = " at the end of" if hunk.at_end else " in"
    detail = f"the hunk in line {hunk.line} of the patch was not found{where} '{label}'"
    new = [line.text for line in hunk.lines if line.mark != "-"]
    count = len(file.lines)
    if new and any(list(file.lines[i : i + len(new)]) == new for i in range(count)):
        return ToolFailure(
            FailureKind.FAILED,
            f"{detail}; what it should become is there already",
            f"read '{label}' to see what is left to do",
        )
    if (closest := file.closest(hunk)) is not None:
        start, shared = closest
        detail += f"; {shared} of its {len(hunk.old)} old lines are at line {max(start, 0) + 1}"
        for offset, wanted in enumerate(hunk.old):
            index = start + offset
            line = file.lines[index] if 0 <= index < count else None
            if line != wanted:
                shown = "the file ends" if line is None else f"the file has {line[:200]!r}"
                detail += f", but where it says {wanted[:200]!r} {shown}"
                if line is not None:
                    detail += f" (line {index + 1})"
                break
    return ToolFailure(FailureKind.FAILED, detail, f"read '{label}' and copy its lines exactly")

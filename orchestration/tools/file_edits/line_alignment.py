"""Which lines of two versions of a text are the same ones."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_SMALL = 40_000
"""Up to this product of line counts a block is compared line by line with every other line."""

_PORTION = 10_000

Run = tuple[int, int, int]
"""First line in the old text, first line in the new text, number of lines; from 0."""


def equal_runs(old: Sequence[str], new: Sequence[str]) -> list[Run]:
    """The longest runs of lines that stand in both, in order, none empty, none touching another.

    Lines that occur once in each are the anchors, so the time grows with the length of the texts
    and not with its square. Where a long block has no such line, it is compared position by
    position.
    """
    joined: list[Run] = []
    for i, j, length in _runs(old, new):
        if joined:
            a, b, before = joined[-1]
            if a + before == i and b + before == j:
                joined[-1] = (a, b, before + length)
                continue
        joined.append((i, j, length))
    return joined


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[Run]:
    pending = [(0, len(old), 0, len(new))]
    while pending:
        a, a_end, b, b_end = pending.pop()
        if a_end < 0:  # a run that was found earlier and had to wait for what stands before it
            yield (a, b, b_end)
            continue
        start = 0
        while a + start < a_end and b + start < b_end and old[a + start] == new[b + start]:
            start += 1
        if start:
            yield (a, b, start)
        a, b = a + start, b + start
        end = 0
        while a_end - end > a and b_end - end > b and old[a_end - end - 1] == new[b_end - end - 1]:
            end += 1
        a_end, b_end = a_end - end, b_end - end
        if end:
            pending.append((a_end, -1, b_end, end))
        if a == a_end or b == b_end:
            continue
        anchors = _anchors(old, a, a_end, new, b, b_end)
        if not anchors:
            for i, j, length in _without_anchors(old[a:a_end], new[b:b_end]):
                yield (a + i, b + j, length)
            continue
        blocks = []
        for i, j in anchors:
            blocks.append((a, i, b, j))
            blocks.append((i, -1, j, 1))
            a, b = i + 1, j + 1
        blocks.append((a, a_end, b, b_end))
        pending.extend(reversed(blocks))


def _anchors(
    old: Sequence[str], a: int, a_end: int, new: Sequence[str], b: int, b_end: int
) -> list[tuple[int, int]]:
    """Pairs of lines that are unique on both sides, as many as stand in the same order."""
    in_old, in_new = _counts(old, a, a_end), _counts(new, b, b_end)
    places = {line: j for j, line in enumerate(new[b:b_end], b) if in_new[line] == 1}
    pairs = [
        (i, places[line])
        for i, line in enumerate(old[a:a_end], a)
        if in_old[line] == 1 and line in places
    ]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(j)
            ends.append(index)
        else:
            tails[at], ends[at] = j, index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _counts(lines: Sequence[str], start: int, end: int) -> Counter[str]:
    """How often each line stands there; in portions, so that no other thread has to wait long."""
    counts: Counter[str] = Counter()
    for at in range(start, end, _PORTION):
        counts.update(lines[at : min(at + _PORTION, end)])
    return counts


def _without_anchors(old: Sequence[str], new: Sequence[str]) -> Iterator[Run]:
    if len(old) * len(new) <= _SMALL:
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            if block.size:
                yield (block.a, block.b, block.size)
        return
    for index in range(min(len(old), len(new))):
        if old[index] == new[index]:
            yield (index, index, 1)

"""How alike two lines are, and where a text stands that is most like another."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import nlargest

from msgspec import Struct

from orchestration.tools.file_edits.tolerant_tokens import collapsed

MAX_LENGTH = 1000
MAX_LINES = 400
_MAX_SEARCHED = 20_000
_CANDIDATES = 24
_COMPARISONS = 800
_WORD = re.compile(r"\w+")


class Likely(Struct, frozen=True):
    """Lines of a file that are like a text: the first, from 0, and how much, from 0 to 1."""

    start: int
    likeness: float


def distance(one: str, other: str) -> int:
    """How many characters have to be added, removed or replaced to make one text the other."""
    start, stop = 0, min(len(one), len(other))
    while start < stop and one[start] == other[start]:
        start += 1
    end = 0
    while end < stop - start and one[-1 - end] == other[-1 - end]:
        end += 1
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    if not one or not other:
        return len(one) + len(other)
    return deque(_distances(one, other), maxlen=1)[0]


def _distances(one: str, other: str, *, anywhere: bool = False) -> Iterator[int]:
    """The distance of a text to each beginning of another, or to the best end of each.

    All rows of the usual table's column are the bits of one number.
    """
    places: dict[str, int] = {}
    for index, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << index
    every, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    rises, falls, found = every, 0, len(one)
    for character in other:
        here = places.get(character, 0)
        diagonal = (((here & rises) + rises) ^ rises) | here | falls
        up = falls | ~(diagonal | rises) & every
        down = rises & diagonal
        found += 1 if up & last else -1 if down & last else 0
        yield found
        up = (up << 1 | (0 if anywhere else 1)) & every
        down = down << 1 & every
        rises, falls = down | ~(diagonal | up) & every, up & diagonal


def most_alike(lines: Sequence[str], wanted: Sequence[str]) -> list[Likely]:
    """The places in a file that are most like some lines, best first, at most a few dozen.

    Blanks, quotes and dashes count for nothing. Looks at every line once and closely at a few
    only, and compares the first few hundred lines of a longer text.

    Args:
        lines: those of the file.
        wanted: those that are looked for; a first or last line may be part of one.
    """
    forms = [collapsed(line)[:MAX_LENGTH] for line in wanted[: min(MAX_LINES, len(lines))]]
    if not forms:
        return []
    known: dict[int, str] = {}
    found = []
    for start in _candidates(lines, forms):
        shares = [(form, _form(known, lines, start + i)) for i, form in enumerate(forms)]
        apart = sum(distance(one, other) for one, other in shares)
        size = sum(max(len(one), len(other)) for one, other in shares)
        found.append(Likely(start, 1 - apart / size if size else 0.0))
    return sorted(found, key=lambda place: (-place.likeness, place.start))


def _form(known: dict[int, str], lines: Sequence[str], index: int) -> str:
    if index not in known:
        known[index] = collapsed(lines[index][: 4 * MAX_LENGTH])[:MAX_LENGTH]
    return known[index]


def _candidates(lines: Sequence[str], forms: Sequence[str]) -> Iterable[int]:
    """Where lines stand that share most words with the two longest of those looked for."""
    probes = nlargest(2, range(len(forms)), key=lambda index: len(forms[index]))
    words = [(probe, frozenset(_WORD.findall(forms[probe]))) for probe in probes]
    scores = _scores(lines, words, len(lines) - len(forms), _WORD.findall)
    if not scores:
        letters = [(probe, frozenset(forms[probe])) for probe in probes]
        scores = _scores(lines, letters, len(lines) - len(forms), list)
    count = max(2, min(_CANDIDATES, _COMPARISONS // len(forms)))
    best = nlargest(count, scores.items(), key=lambda item: item[1])
    return [start for start, _ in best] or [0]


def _scores(
    lines: Sequence[str],
    wanted: Sequence[tuple[int, frozenset[str]]],
    last_start: int,
    parts_of: Callable[[str], list[str]],
) -> dict[int, float]:
    """How many of the wanted parts stand where, and how much of what stands there they are."""
    known: dict[str, list[float]] = {}
    scores: dict[int, float] = {}
    for index, line in enumerate(lines):
        if line not in known:
            found = set(parts_of(line))
            known[line] = [
                len(found & parts) * (1 / (len(parts) or 1) + 2 / (len(found) + len(parts) or 1))
                for _, parts in wanted
            ]
        for (probe, _), score in zip(wanted, known[line], strict=True):
            start = index - probe
            if score and 0 <= start <= last_start:
                scores[start] = scores.get(start, 0.0) + score
    return scores


class Part(Struct, frozen=True):
    """The part of a line that is most like a text: where it ends, and how much."""

    end: int
    likeness: float


def most_alike_part(line: str, wanted: str) -> Part:
    """Where in a line a text stands that is most like the wanted one."""
    line, wanted = line[:_MAX_SEARCHED], wanted[:MAX_LENGTH]
    least, end = len(wanted), 0
    for at, apart in enumerate(_distances(wanted, line, anywhere=True), 1):
        if apart < least:
            least, end = apart, at
    return Part(end, 1 - least / len(wanted) if wanted else 0.0)

"""How alike a line of a patch and a line of a file are, from the same to much the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from orchestration.tools.file_edits.line_index import LineIndex
from orchestration.tools.file_edits.patch_parse import Hunk

REMOVED_LIKENESS = 0.92
MEAN_LIKENESS = 0.92
CONTEXT_LIKENESS = 0.8
MAX_COMPARISONS = 20_000
MAX_PLACES = 1000
MAX_COMPARED_LENGTH = 400

_FOLDED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " ")
    | dict.fromkeys(map(chr, range(0x2000, 0x200B)), " ")
)
_BLANKS = re.compile(r"\s+")
_COMMENT = re.compile(r"(?://+|#+|--|/\*+|\*+|;+|<!--) ?")


class Level(Struct, frozen=True):
    """One way of comparing lines.

    `context` and `removed` bring a line to the form in which it is compared, lines that stay and
    lines that go; `ignores` says what makes no difference, empty for nothing worth telling.
    """

    ignores: str
    context: Callable[[str], str]
    removed: Callable[[str], str]


def folded(text: str) -> str:
    """The text with plain quotes, dashes and blanks; character for character."""
    return text.translate(_FOLDED)


def normal(line: str) -> str:
    """A line without regard to blanks at its ends, their kind and number, quotes and dashes."""
    return _BLANKS.sub(" ", folded(line)).strip()


def _uncommented(line: str) -> str:
    plain = normal(line)
    return plain[match.end() :] if (match := _COMMENT.match(plain)) else plain


LEVELS = (
    Level("", str, str),
    Level("", str.rstrip, str.rstrip),
    Level("indentation", str.strip, str.strip),
    Level("blanks and kinds of quotes and dashes", normal, normal),
    Level("comment marks of the lines around", _uncommented, normal),
)


class FileLines:
    """The lines of one file, with their forms at each level kept."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._forms: dict[Callable[[str], str], LineIndex] = {}

    def places(self, hunk: Hunk, level: Level) -> list[int]:
        """Where the hunk's old lines stand, in the level's terms; indexes from 0."""
        old = [line for line in hunk.lines if line.mark != "+"]
        context = self._form(level.context)
        if level.context is level.removed:
            return context.places([level.context(line.text) for line in old])
        removed = self._form(level.removed)
        runs = [
            (removed, level.removed(line.text))
            if line.mark == "-"
            else (context, level.context(line.text))
            for line in old
        ]
        rarest = min(range(len(runs)), key=lambda offset: len(runs[offset][0].of(runs[offset][1])))
        form, text = runs[rarest]
        last = len(self.lines) - len(runs)
        return [
            start
            for start in (index - rarest for index in form.of(text))
            if 0 <= start <= last
            and all(form.lines[start + i] == text for i, (form, text) in enumerate(runs))
        ]

    def lines_like(self, text: str, start: int) -> list[int]:
        """Indexes from `start` on of the lines that are `text`, else of those that begin so."""
        for level in LEVELS[2:4]:
            where = self._form(level.removed).of(level.removed(text))
            if found := [index for index in where if index >= start]:
                return found
        beginning = normal(text)
        form = self._form(normal).lines
        return [i for i in range(start, len(form)) if form[i].startswith(beginning)]

    def _form(self, function: Callable[[str], str]) -> LineIndex:
        if function not in self._forms:
            self._forms[function] = LineIndex([function(line) for line in self.lines])
        return self._forms[function]

    def alike_places(self, hunk: Hunk) -> list[int]:
        """Where lines stand that are much like the hunk's old lines.

        A line that goes is at least 0.92 like the file's. Either all lines are so in the mean, or
        each line that goes is the same but for blanks and the others are 0.8 alike in the mean.
        Empty where looking would take too long.
        """
        old = [line for line in hunk.lines if line.mark != "+"]
        starts = len(self.lines) - len(old) + 1
        if starts * len(old) > MAX_COMPARISONS:
            return []
        form = self._form(normal).lines
        wanted = [(i, normal(line.text), line.mark == "-") for i, line in enumerate(old)]
        wanted.sort(key=lambda line: not line[2])  # those that rule most places out come first
        return [start for start in range(max(starts, 0)) if _is_alike(wanted, form, start)]

    def closest(self, hunk: Hunk) -> tuple[int, int] | None:
        """The place that shares most lines with the hunk's old ones, and how many; else `None`."""
        form = self._form(normal)
        scores: dict[int, int] = {}
        for offset, line in enumerate(hunk.old):
            text = normal(line)
            for index in form.of(text)[:MAX_PLACES] if text else ():
                scores[index - offset] = scores.get(index - offset, 0) + 1
        if not scores:
            return None
        best = max(scores, key=lambda start: (scores[start], -start))
        return best, scores[best]


def _is_alike(wanted: Sequence[tuple[int, str, bool]], form: Sequence[str], start: int) -> bool:
    """See `alike_places`; `wanted` are lines, each with its offset and whether it goes."""
    missing = missing_context = 0.0
    is_same = True
    # Where even this much differs, the rest can't make up for it.
    bearable = (1 - CONTEXT_LIKENESS) * len(wanted)
    for offset, text, goes in wanted:
        found = form[start + offset]
        value = likeness(text, found)
        if goes and value < REMOVED_LIKENESS:
            return False
        is_same = is_same and (not goes or text == found)
        missing += 1 - value
        missing_context += 0 if goes else 1 - value
        if missing > bearable:
            return False
    count = sum(not goes for _, _, goes in wanted)
    return missing <= (1 - MEAN_LIKENESS) * len(wanted) or (
        is_same and missing_context <= (1 - CONTEXT_LIKENESS) * count
    )


def likeness(wanted: str, found: str) -> float:
    """From 0 to 1; lines too long to compare are alike only if they are the same."""
    if wanted == found:
        return 1.0
    longer = max(len(wanted), len(found))
    if longer > MAX_COMPARED_LENGTH or 2 * min(len(wanted), len(found)) < 0.5 * longer:
        return 0.0
    matcher = SequenceMatcher(None, found, wanted, autojunk=False)
    if matcher.real_quick_ratio() < 0.5 or matcher.quick_ratio() < 0.5:
        return 0.0
    return matcher.ratio()

"""How alike a line of a patch and a line of a file are, from the same to much the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from orchestration.tools.file_edits.patch_parse import Hunk

REMOVED_LIKENESS = 0.92
MEAN_LIKENESS = 0.92
CONTEXT_LIKENESS = 0.8
MAX_COMPARISONS = 20_000
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
        self._forms: dict[Callable[[str], str], list[str]] = {}

    def places(self, hunk: Hunk, level: Level) -> list[int]:
        """Where the hunk's old lines stand, in the level's terms; indexes from 0."""
        wanted = [
            (level.removed if line.mark == "-" else level.context, line.text)
            for line in hunk.lines
            if line.mark != "+"
        ]
        forms = [(self._form(function), function(text)) for function, text in wanted]
        first_form, first = forms[0]
        return [
            start
            for start in _indexes(first_form, first, len(self.lines) - len(forms) + 1)
            if all(form[start + i] == text for i, (form, text) in enumerate(forms))
        ]

    def lines_like(self, text: str, start: int) -> list[int]:
        """Indexes from `start` on of the lines that are `text`, else of those that begin so."""
        for level in LEVELS[2:4]:
            form = self._form(level.removed)
            if found := list(_indexes(form[start:], level.removed(text), len(form))):
                return [index + start for index in found]
        beginning = normal(text)
        form = self._form(normal)
        return [i for i in range(start, len(form)) if form[i].startswith(beginning)]

    def _form(self, function: Callable[[str], str]) -> list[str]:
        if function not in self._forms:
            self._forms[function] = [function(line) for line in self.lines]
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
        removed = [i for i, line in enumerate(old) if line.mark == "-"]
        form = self._form(normal)
        wanted = [normal(line.text) for line in old]
        found = []
        for start in range(max(starts, 0)):
            if any(likeness(wanted[i], form[start + i]) < REMOVED_LIKENESS for i in removed):
                continue
            values = [likeness(text, form[start + i]) for i, text in enumerate(wanted)]
            same = all(wanted[i] == form[start + i] for i in removed)
            context = [value for i, value in enumerate(values) if old[i].mark == " "]
            if sum(values) >= MEAN_LIKENESS * len(values) or (
                same and context and sum(context) >= CONTEXT_LIKENESS * len(context)
            ):
                found.append(start)
        return found

    def closest(self, hunk: Hunk) -> tuple[int, int] | None:
        """The place that shares most lines with the hunk's old ones, and how many; else `None`."""
        wanted = [normal(text) for text in hunk.old]
        form = self._form(normal)
        scores: dict[int, int] = {}
        where: dict[str, list[int]] = {}
        for index, text in enumerate(form):
            where.setdefault(text, []).append(index)
        for offset, text in enumerate(wanted):
            for index in where.get(text, ())[:200] if text else ():
                scores[index - offset] = scores.get(index - offset, 0) + 1
        if not scores:
            return None
        best = max(scores, key=lambda start: (scores[start], -start))
        return best, scores[best]


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


def _indexes(lines: Sequence[str], wanted: str, stop: int) -> Iterator[int]:
    index = -1
    while True:
        try:
            index = lines.index(wanted, index + 1, max(stop, 0))
        except ValueError:
            return
        yield index

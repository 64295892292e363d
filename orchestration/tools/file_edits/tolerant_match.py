"""Find the place that an edit names where it is not there word for word; one place or none.

Kinds and numbers of blanks, quotes and dashes make no difference, and neither does a misspelt word
that stands nowhere in the file. What an edit leaves as it was stays as the file has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from orchestration.tools.file_edits.file_text import Splice
from orchestration.tools.file_edits.likeness import MAX_LENGTH, Likely, distance
from orchestration.tools.file_edits.line_split import lines_of
from orchestration.tools.file_edits.tolerant_tokens import (
    SEPARATOR,
    Token,
    collapsed,
    token_form,
    tokens_of,
)
from orchestration.tools.file_edits.transplant import transplanted

ACCEPTED = 0.95
CLEARLY_BEST = 0.97
LEAD = 0.08
_MAX_PLACES = 2000
_MAX_WEIGHED = 20
_MAX_LINE = 200_000
_MAX_MISSPELT = 2


class Place(Struct, frozen=True):
    """Where a text stands in a file but for blanks and the like; the line counts from 1."""

    start: int
    end: int
    line: int


class SearchedText:
    """A file's text made ready for being searched; nothing is done before it is needed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = lines_of(text)
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self._line_known = -1
        self._tokens_known: tuple[list[Token], str] = ([], "")
        end = "" if text.endswith("\n") or not text else "\n"
        self._form = token_form(text + end)

    def places(self, old: str) -> list[Place]:
        """Where the words and signs of `old` stand, line by line; two thousand places at most.

        Where a few do, but one of them differs in kinds of characters only and not in whether
        there is a blank, that one.
        """
        needle = token_form(old)
        if not needle.strip(SEPARATOR + "\n"):
            return []
        found: list[Place] = []
        at = line = counted = 0
        for _ in range(_MAX_PLACES):
            if (at := self._form.find(needle, at)) < 0:
                break
            line += self._form.count("\n", counted, at)
            counted = at
            if (place := self._place(needle, at, line, old)) is not None:
                found.append(place)
            at += 1
        if 1 < len(found) <= _MAX_WEIGHED:
            wanted = [collapsed(part) for part in old.split("\n")]
            same = [place for place in found if self._collapsed(place) == wanted]
            return same if len(same) == 1 else found
        return found

    def carried_over(self, place: Place, old: str, new: str) -> Splice | None:
        """The change from `old` to `new` made at a place; `None` where it does not fit there."""
        own = self.text[place.start : place.end].split("\n")
        if len(own) < old.count("\n") + 1:  # it names a line end that the file's last line has not
            old, new = old.removesuffix("\n"), new.removesuffix("\n")
        lines = transplanted(own, old.split("\n"), new.split("\n"))
        return None if lines is None else Splice(place.start, place.end, "\n".join(lines))

    def misspelt(self, likely: Sequence[Likely], old: str) -> Place | None:
        """The place that can only be meant though a word is spelt otherwise there.

        Args:
            likely: the places that are most like `old`, best first.
            old: whole lines.
        """
        good = [place for place in likely[:2] if place.likeness >= ACCEPTED]
        if not good or (
            len(good) > 1
            and (good[0].likeness < CLEARLY_BEST or good[0].likeness - good[1].likeness < LEAD)
        ):
            return None
        start, wanted = good[0].start, old.removesuffix("\n").split("\n")
        if start + len(wanted) > len(self.lines):
            return None
        own = self.lines[start : start + len(wanted)]
        if not all(self._is_misspelling(o, w) for o, w in zip(own, wanted, strict=True)):
            return None
        end = self._starts[start + len(wanted)] - (0 if old.endswith("\n") else 1)
        return Place(self._starts[start], min(end, len(self.text)), start + 1)

    def _place(self, needle: str, at: int, line: int, old: str) -> Place | None:
        rows = [row.split(SEPARATOR)[1:-1] for row in needle.split("\n")]
        index = self._form.count(SEPARATOR, self._form.rfind("\n", 0, at) + 1, at)
        last = line + len(rows) - 1
        if max(len(self.lines[n]) for n in (line, min(last, len(self.lines) - 1))) > _MAX_LINE:
            return None
        tokens, tail = self._tokens(line)
        if rows[0]:
            if not _has(tokens, index, rows[0]):
                return None
            start = self._starts[line] + tokens[index].start
            gap = len(tokens[index].gap)
            start -= gap if index == 0 or old[:1].isspace() else 0
        else:
            start = self._starts[line] + len(self.lines[line])
            start -= len(tail) if old[:1] in (" ", "\t") else 0
        if not rows[-1]:
            return Place(start, min(self._starts[last], len(self.text)), line + 1)
        first = index if last == line else 0
        tokens, tail = self._tokens(last)
        if not _has(tokens, first, rows[-1]):
            return None
        stop = first + len(rows[-1])
        end = self._starts[last] + tokens[stop - 1].end
        if old[-1].isspace():
            end += len(tail if stop == len(tokens) else tokens[stop].gap)
        return Place(start, end, line + 1)

    def _tokens(self, line: int) -> tuple[list[Token], str]:
        if self._line_known != line:
            self._line_known, self._tokens_known = line, tokens_of(self.lines[line])
        return self._tokens_known

    def _collapsed(self, place: Place) -> list[str]:
        return [collapsed(line) for line in self.text[place.start : place.end].split("\n")]

    def _is_misspelling(self, own: str, wanted: str) -> bool:
        if max(len(own), len(wanted)) > MAX_LENGTH:  # then they were not compared as a whole
            return False
        theirs, mine = tokens_of(wanted)[0], tokens_of(own)[0]
        if len(theirs) != len(mine):
            return False
        apart = [(t.key, m.key) for t, m in zip(theirs, mine, strict=True) if t.key != m.key]
        return all(
            word.isalpha()
            and own_word.isalpha()
            and distance(word, own_word) <= _MAX_MISSPELT
            and f"{SEPARATOR}{word}{SEPARATOR}" not in self._form
            for word, own_word in apart
        )


def _has(tokens: Sequence[Token], index: int, keys: Sequence[str]) -> bool:
    return [token.key for token in tokens[index : index + len(keys)]] == list(keys)

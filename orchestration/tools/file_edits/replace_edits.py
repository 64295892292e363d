"""Replace texts in a text: each must stand there once, or all of them are meant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

from msgspec import Struct

from orchestration.tools.file_edits.file_text import FileText, Splice, normalise
from orchestration.tools.file_edits.likeness import MAX_LINES, Likely, most_alike, most_alike_part
from orchestration.tools.file_edits.tolerant_match import Place, SearchedText
from orchestration.tools.file_edits.tolerant_tokens import collapsed

_NUMBERED = re.compile(r"\s*\d+[:|]")
_SHOWN_LINES = 5
_SHOWN_LENGTH = 160


class Replacement(Struct, frozen=True):
    """One edit: `new` in the place of `old`, or of every `old` where `every` is set."""

    old: str
    new: str
    every: bool = False


class Replaced(Struct, frozen=True):
    """The text after an edit, how many places it changed, and what to tell about how it fitted."""

    text: FileText
    count: int
    note: str = ""


class NoPlace(Exception):
    """An edit that has no place in the text, or several; `hint` says what to do."""

    def __init__(self, why: str, hint: str) -> None:
        self.hint = hint
        super().__init__(why)


def replaced(file: FileText, edit: Replacement) -> Replaced:
    """Make one edit.

    Raises:
        NoPlace: it cannot be told where; the message says what is there instead.
    """
    text, old, new = file.text, normalise(edit.old), normalise(edit.new)
    first = text.find(old)
    if first >= 0:
        if edit.every:
            splices = _every(text, old, new)
            return Replaced(file.spliced(splices), len(splices))
        if text.find(old, first + 1) >= 0:
            raise _ambiguous(text, old)
        return Replaced(file.spliced([Splice(first, first + len(old), new)]), 1)
    return _tolerantly(file, old, new, edit.every)


def _tolerantly(file: FileText, old: str, new: str, every: bool) -> Replaced:
    searched = SearchedText(file.text)
    places = searched.places(old)
    if len(places) > 1 and not every:
        first = searched.text[places[0].start : places[0].end].split("\n")
        raise NoPlace(
            "old_text does not stand there as it is written, and "
            f"{len(places)} places differ from it only in blanks, quotes or dashes "
            f"({_line_list([place.line for place in places])}); the first does so "
            + _difference(first, old.split("\n"), places[0].line - 1),
            "copy the text of one of them, with more lines around it",
        )
    if places:
        places = _apart(places)
        return _carried_over(file, searched, places, old, new, "blanks, quotes or dashes")
    wanted = old.removesuffix("\n").split("\n")
    likely = most_alike(searched.lines, wanted)
    if len(wanted) <= MAX_LINES and old.endswith("\n") == new.endswith("\n"):
        misspelt = searched.misspelt(likely, old)
        if misspelt is not None:
            return _carried_over(file, searched, [misspelt], old, new, "the spelling of words")
    raise NoPlace(
        f"old_text is not in the file; {_closest(searched.lines, wanted, likely)}",
        "leave out the line numbers that read puts before lines"
        if all(_NUMBERED.match(line) for line in wanted)
        else "copy the text from the file as it is now",
    )


def _carried_over(
    file: FileText, searched: SearchedText, places: Sequence[Place], old: str, new: str, what: str
) -> Replaced:
    splices = [searched.carried_over(place, old, new) for place in places]
    found = [splice for splice in splices if splice is not None]
    if len(found) < len(splices):
        raise NoPlace(
            f"line {places[0].line} is like old_text, but what the edit changes is another there",
            "copy the text from the file as it is now",
        )
    where = _line_list([place.line for place in places])
    note = f"[{where}: matched but for {what}; the file's own were kept]"
    return Replaced(file.spliced(found), len(found), note)


def _every(text: str, old: str, new: str) -> list[Splice]:
    splices = []
    at = text.find(old)
    while at >= 0:
        splices.append(Splice(at, at + len(old), new))
        at = text.find(old, at + len(old))
    return splices


def _apart(places: Sequence[Place]) -> list[Place]:
    chosen: list[Place] = []
    for place in places:
        if not chosen or place.start >= chosen[-1].end:
            chosen.append(place)
    return chosen


def _ambiguous(text: str, old: str) -> NoPlace:
    count = max(2, text.count(old))
    lines: list[int] = []
    at, line, counted = text.find(old), 1, 0
    while at >= 0 and len(lines) < _SHOWN_LINES:
        line += text.count("\n", counted, at)
        counted = at
        lines.append(line)
        at = text.find(old, at + 1)
    return NoPlace(
        f"old_text stands there {count} times ({_line_list(lines, count)})",
        "add lines around it until it is the only one, or set all to change each",
    )


def _line_list(lines: Sequence[int], count: int | None = None) -> str:
    shown = list(dict.fromkeys(lines))[:_SHOWN_LINES]
    more = ", ..." if (count or len(lines)) > len(lines[:_SHOWN_LINES]) else ""
    word = "line" if len(shown) == 1 and not more else "lines"
    return f"{word} {', '.join(map(str, shown))}{more}"


def _closest(lines: Sequence[str], wanted: Sequence[str], likely: Sequence[Likely]) -> str:
    """What is there instead, in words: how much alike, where, and the first lines that differ."""
    if lines == [""]:
        return "the file is empty"
    if len(wanted) > 1:
        best = likely[0]
        where = _difference(lines[best.start :], wanted, best.start)
        return f"the closest text is {best.likeness:.0%} alike, {where}"
    parts = [(most_alike_part(lines[place.start], wanted[0]), place.start) for place in likely]
    part, index = max(parts, key=lambda pair: (pair[0].likeness, -pair[1]))
    line = lines[index]
    if len(line) > _SHOWN_LENGTH:
        line = line[max(0, part.end - len(wanted[0])) :]
    where = _difference([line], wanted, index)
    return f"the closest text is {part.likeness:.0%} alike, {where}"


def _difference(own: Sequence[str], wanted: Sequence[str], start: int) -> str:
    """Where a text first differs from the closest one: in its words, else in its blanks."""
    blanks = ""
    for index, (mine, theirs) in enumerate(zip_longest(own[: len(wanted)], wanted, fillvalue="")):
        if mine == theirs:
            continue
        where, named = f"at line {start + index + 1}", _first(mine, theirs)
        if collapsed(mine) != collapsed(theirs):
            shown = f"the file has `{_shown(mine)}` where old_text has `{_shown(theirs)}`"
            return f"{where}: {shown}{f' ({named})' if named else ''}"
        blanks = blanks or f"{where}, where it differs only in blanks and the like" + (
            f": {named}" if named else ""
        )
    return blanks or f"at line {start + 1}, and more is wanted than stands there"


def _first(mine: str, theirs: str) -> str:
    """The first character that differs, by its name, where it may not be seen; else nothing."""
    shorter = min(len(mine), len(theirs))
    at = next((i for i in range(shorter) if mine[i] != theirs[i]), shorter)
    differing = mine[at : at + 1] + theirs[at : at + 1]
    if all(character.isascii() and not character.isspace() for character in differing):
        return ""
    return f"column {at + 1} has {_name(mine, at)} in the file and {_name(theirs, at)} in old_text"


def _name(line: str, at: int) -> str:
    if at >= len(line):
        return "the end of the line"
    character = line[at]
    name = unicodedata.name(character, "TAB" if character == "\t" else "")
    return f"U+{ord(character):04X} {name}".rstrip()


def _shown(line: str) -> str:
    return line if len(line) <= _SHOWN_LENGTH else f"{line[:_SHOWN_LENGTH]}…"

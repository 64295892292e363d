"""Carry a change over to a text that is a little different and keeps what the change leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import gcd
from typing import NamedTuple

from orchestration.tools.file_edits.line_alignment import Run, equal_runs
from orchestration.tools.file_edits.tolerant_tokens import Token, tokens_of

_INDENT = "\n"
"""Stands for the gap before the first word of a line, which is like no other gap."""


def transplanted(own: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str] | None:
    """Make of the file's own lines what the change makes of the old ones.

    Args:
        own: lines of the file, as many as the old ones and alike one by one.
        old: lines as the change names them.
        new: what it puts in their place; new lines are indented as those around them are.

    Returns:
        The new lines; where the change does not touch a word, a sign or the blanks before it, they
        are the file's own. `None` where it touches what in the file is another word.
    """
    indents = _Indents(own, old)
    result: list[str] = []
    for i, j, before, after in _blocks([o.strip() for o in old], [n.strip() for n in new]):
        for index in range(after):
            if index >= before:
                result.append(indents.fitting(new[j + index]))
                continue
            line = _merged(own[i + index], old[i + index], new[j + index], indents)
            if line is None:
                return None
            result.append(line)
        for index in range(after, before):
            if _keys(own[i + index]) != _keys(old[i + index]):
                return None
    return result


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Parts of both texts that stand for one another: starts and numbers of lines."""
    a = b = 0
    for i, j, length in [*equal_runs(old, new), (len(old), len(new), 0)]:
        if i > a or j > b:
            yield a, b, i - a, j - b
        if length:
            yield i, j, length, length
        a, b = i + length, j + length


class _Piece(NamedTuple):
    """A word or sign of the result; `safe_gap` is there for where `gap` would join two words."""

    gap: str
    safe_gap: str
    text: str


def _merged(own: str, old: str, new: str, indents: _Indents) -> str | None:
    if old == new:
        return own
    base, base_tail = tokens_of(old)
    mine, mine_tail = tokens_of(own)
    theirs, theirs_tail = tokens_of(new)
    if not theirs:
        return theirs_tail if theirs_tail != base_tail or base else mine_tail
    for tokens in (base, mine, theirs):
        tokens[:1] = [token._replace(gap=_INDENT) for token in tokens[:1]]
    pieces: list[_Piece] = []
    for b, m, t in _chunks(base, mine, theirs):
        chosen = _chosen(base[b], mine[m], theirs[t])
        if chosen is None:
            return None
        pieces += chosen
    before, after = indent_of(old), indent_of(new)
    indent = indent_of(own) if before == after else indents.of(after)
    text = _joined(pieces)
    return (
        None
        if text is None
        else (indent + text + (mine_tail if theirs_tail == base_tail else theirs_tail))
    )


def _joined(pieces: Sequence[_Piece]) -> str | None:
    """The line from its first word on."""
    line = pieces[0].text if pieces else ""
    for piece in pieces[1:]:
        gap = piece.gap
        if not gap and _is_word(line[-1:]) and _is_word(piece.text[:1]):
            gap = piece.safe_gap
        if _INDENT in (gap, piece.gap):
            return None
        line += gap + piece.text
    return line


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _chunks(
    base: list[Token], mine: list[Token], theirs: list[Token]
) -> Iterator[tuple[slice, slice, slice]]:
    """Cut three lines at the words that all three share, each such word a chunk of its own."""
    keys = [token.key for token in base]
    in_mine = _pairs(equal_runs(keys, [token.key for token in mine]))
    in_theirs = _pairs(equal_runs(keys, [token.key for token in theirs]))
    b = m = t = 0
    for index in range(len(base)):
        if index in in_mine and index in in_theirs:
            other, third = in_mine[index], in_theirs[index]
            if (b, m, t) != (index, other, third):
                yield slice(b, index), slice(m, other), slice(t, third)
            b, m, t = index + 1, other + 1, third + 1
            yield slice(index, b), slice(other, m), slice(third, t)
    yield slice(b, len(base)), slice(m, len(mine)), slice(t, len(theirs))


def _pairs(runs: Sequence[Run]) -> dict[int, int]:
    return {i + step: j + step for i, j, length in runs for step in range(length)}


def _chosen(base: list[Token], mine: list[Token], theirs: list[Token]) -> list[_Piece] | None:
    """One chunk: the file's own where the change leaves it, else the change's if it may."""
    keys, own_keys = [t.key for t in base], [t.key for t in mine]
    if keys == [t.key for t in theirs]:
        if keys != own_keys:
            return [_Piece(token.gap, token.gap, token.text) for token in mine]
        return [
            _Piece(
                m.gap if t.gap == b.gap else t.gap, t.gap, m.text if t.text == b.text else t.text
            )
            for b, m, t in zip(base, mine, theirs, strict=True)
        ]
    if keys != own_keys:
        return None
    pieces = []
    for index, token in enumerate(theirs):
        kept = index < len(base) and base[index].gap == token.gap
        pieces.append(_Piece(mine[index].gap if kept else token.gap, token.gap, token.text))
    return pieces


def _keys(line: str) -> list[str]:
    return [token.key for token in tokens_of(line)[0]]


def indent_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


class _Indents:
    """How the change's indentation is written in the file."""

    def __init__(self, own: Sequence[str], old: Sequence[str]) -> None:
        pairs = [(indent_of(o), indent_of(f)) for o, f in zip(old, own, strict=True) if o.strip()]
        self._known: dict[str, str] = {}
        for theirs, mine in pairs:
            self._known.setdefault(theirs, mine)
        self._step = _step([theirs for theirs, _ in pairs])
        self._own_step = _step([mine for _, mine in pairs])

    def fitting(self, line: str) -> str:
        """A new line with its indentation written as the file does."""
        indent = indent_of(line)
        return self.of(indent) + line[len(indent) :] if line.strip() else line

    def of(self, indent: str) -> str:
        """The file's way to write an indentation of the change."""
        if indent in self._known:
            return self._known[indent]
        inner = [known for known in self._known if indent.startswith(known)]
        if inner:
            nearest = max(inner, key=len)
            return self._known[nearest] + self._converted(indent[len(nearest) :])
        outer = [known for known in self._known if known.startswith(indent)]
        if outer:
            nearest = min(outer, key=len)
            surplus = self._converted(nearest[len(indent) :])
            mine = self._known[nearest]
            return mine[: max(0, len(mine) - len(surplus))]
        return indent

    def _converted(self, indent: str) -> str:
        """Blanks that are more than a known indentation, in the file's steps."""
        if not self._step or not self._own_step:
            return indent
        depth, rest = divmod(len(indent), len(self._step))
        if indent[: depth * len(self._step)] != self._step * depth:
            return indent
        return self._own_step * depth + " " * rest


def _step(indents: Sequence[str]) -> str:
    """One level of indentation: a tab, or the blanks that all differences are made of."""
    if any("\t" in indent for indent in indents):
        return "\t"
    widths = sorted({len(indent) for indent in indents})
    size = gcd(*[b - a for a, b in pairwise(widths)], 0)
    return " " * (size or (widths[0] if widths else 0))

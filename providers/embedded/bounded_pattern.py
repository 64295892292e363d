r"""Regular expressions of schemas, rewritten so that a grammar can follow them and they end.

llama.cpp turns a `pattern` into grammar rules letter by letter: it knows no `\d`, takes what it
matches for JSON text as it stands (a quote ends the string), and follows `+` for ever. What comes
out of here says the same in its words, or less: each string that fits the result also fits the
pattern.
"""

from __future__ import annotations

from msgspec import Struct

_MAX_REPEATS = (24, 8, 3, 1)
_NO_CODE = 0x110000
# Quotes, backslashes and control characters cannot stand in JSON text as they are. Surrogates
# are no characters.
_FORBIDDEN = ((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x9F), (0xD800, 0xDFFF))
_DIGITS = ((0x30, 0x39),)
_WORD = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_BLANK = ((0x20, 0x20),)
_SPACES = ((0x09, 0x0D), (0x1C, 0x20))
_LINE_ENDS = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))

Ranges = tuple[tuple[int, int], ...]
"""Characters as ranges of code points, both ends included."""


class _Unsupported(Exception):
    """The pattern cannot be rewritten."""


class _Piece(Struct, frozen=True):
    """A class of characters, or a group of alternatives, and how often it stands there."""

    ranges: Ranges = ()
    group: tuple[tuple[_Piece, ...], ...] | None = None
    least: int = 1
    most: int | None = 1


_Alternatives = tuple[tuple[_Piece, ...], ...]


def bounded_pattern(pattern: str, longest: int) -> str | None:
    """The pattern with an end, anchored on both sides; `None` where it cannot be rewritten.

    Args:
        pattern: a regular expression of a JSON Schema, anchored or not.
        longest: how many characters a match should have at most, where the pattern allows it.
    """
    try:
        alternatives = _Parser(pattern).parse()
    except _Unsupported:
        return None
    for repeats in _MAX_REPEATS:
        if _longest(alternatives, repeats) <= longest:
            break
    text = _text(alternatives, repeats)
    return f"^{text}$" if len(alternatives) == 1 else f"^({text})$"


class _Parser:
    """Reads the common part of JavaScript's and Python's regular expressions."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def parse(self) -> _Alternatives:
        found = self._alternatives(top=True)
        if self._at < len(self._text):
            raise _Unsupported
        return found

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _Unsupported
        self._at += 1
        return character

    def _alternatives(self, *, top: bool) -> _Alternatives:
        found = [self._sequence(top=top)]
        while self._peek() == "|":
            self._take()
            found.append(self._sequence(top=top))
        return tuple(found)

    def _sequence(self, *, top: bool) -> tuple[_Piece, ...]:
        pieces: list[_Piece] = []
        if top and self._peek() == "^":
            self._take()
        while (character := self._peek()) and character not in "|)":
            if character == "$" and top and self._text[self._at + 1 : self._at + 2] in ("", "|"):
                self._take()
                break
            pieces.append(self._repeated(self._atom()))
        return tuple(pieces)

    def _atom(self) -> _Piece:
        character = self._take()
        if character == "(":
            if self._peek() == "?":
                self._take()
                if self._take() != ":":
                    raise _Unsupported
            group = self._alternatives(top=False)
            if self._take() != ")":
                raise _Unsupported
            return _Piece(group=group)
        if character == "[":
            return _Piece(ranges=_sendable(self._class()))
        if character == ".":
            return _Piece(ranges=_sendable(_inverse(_LINE_ENDS)))
        if character == "\\":
            return _Piece(ranges=_sendable(self._escape()))
        if character in "^$*+?{}":
            raise _Unsupported
        return _Piece(ranges=_sendable(_single(ord(character))))

    def _class(self) -> Ranges:
        negated = self._peek() == "^"
        if negated:
            self._take()
        ranges: list[tuple[int, int]] = []
        while self._peek() != "]":
            low = self._member()
            if self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", ""):
                self._take()
                high = self._member()
                if not (_is_single(low) and _is_single(high) and low[0][0] <= high[0][0]):
                    raise _Unsupported
                ranges.append((low[0][0], high[0][0]))
            else:
                ranges.extend(low)
        self._take()
        if not ranges:
            raise _Unsupported
        merged = _merged(ranges)
        return _inverse(merged) if negated else merged

    def _member(self) -> Ranges:
        character = self._take()
        if character == "[":
            # A nested class for some, a bracket for others.
            raise _Unsupported
        return self._escape() if character == "\\" else _single(ord(character))

    def _escape(self) -> Ranges:
        character = self._take()
        classes = {"d": _DIGITS, "w": _WORD, "s": _BLANK}
        if character in classes:
            return classes[character]
        if character.lower() in classes:
            whole = _SPACES if character == "S" else classes[character.lower()]
            # Beyond ASCII engines differ in what they take for a digit, a letter or a space.
            return _without(((0x00, 0x7F),), whole)
        if character in ("x", "u"):
            digits = "".join(self._take() for _ in range(2 if character == "x" else 4))
            try:
                return _single(int(digits, 16))
            except ValueError as error:
                raise _Unsupported from error
        if character.isalnum():
            raise _Unsupported
        return _single(ord(character))

    def _repeated(self, piece: _Piece) -> _Piece:
        mark = self._peek()
        if mark and mark in "*+?":
            self._take()
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
        elif mark == "{":
            least, most = self._counts()
        else:
            return piece
        if self._peek() == "?":
            self._take()
        if self._peek() and self._peek() in "*+?{":
            raise _Unsupported
        return _Piece(ranges=piece.ranges, group=piece.group, least=least, most=most)

    def _counts(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        least, comma, most = self._text[self._at + 1 : end].partition(",")
        if end < 0 or not least.isdecimal() or not (most == "" or most.isdecimal()):
            raise _Unsupported
        self._at = end + 1
        if not comma:
            return int(least), int(least)
        if most and int(most) < int(least):
            raise _Unsupported
        return int(least), int(most) if most else None


def _longest(alternatives: _Alternatives, repeats: int) -> int:
    return max(sum(_piece_longest(piece, repeats) for piece in seq) for seq in alternatives)


def _piece_longest(piece: _Piece, repeats: int) -> int:
    length = 1 if piece.group is None else _longest(piece.group, repeats)
    return length * _most(piece, repeats)


def _most(piece: _Piece, repeats: int) -> int:
    """How often at most; a count that the pattern itself gives is kept if it is small."""
    if piece.most is None:
        return max(piece.least, repeats)
    return max(piece.least, min(piece.most, repeats), 1) if piece.most else 0


def _text(alternatives: _Alternatives, repeats: int) -> str:
    return "|".join("".join(_piece_text(piece, repeats) for piece in seq) for seq in alternatives)


def _piece_text(piece: _Piece, repeats: int) -> str:
    most = _most(piece, repeats)
    if most == 0:
        return ""
    if piece.group is None:
        body, optional = _class_text(piece.ranges), False
    else:
        # An empty alternative is no rule of a grammar: the group is optional instead.
        full = tuple(seq for seq in piece.group if _text((seq,), repeats))
        optional = len(full) < len(piece.group)
        if not full:
            return ""
        body = f"({_text(full, repeats)})"
    least = 0 if optional else piece.least
    if (least, most) == (1, 1):
        return body
    return f"{body}{{{least},{most}}}"


def _class_text(ranges: Ranges) -> str:
    """A character class in the letters that regular expressions and grammars share."""
    dash = any(low <= 0x2D <= high for low, high in ranges)
    split = _without(ranges, ((0x2D, 0x2D),)) if dash else ranges
    parts = [
        _letter(low) if low == high else f"{_letter(low)}-{_letter(high)}" for low, high in split
    ]
    return f"[{''.join(parts)}{'-' if dash else ''}]"


def _letter(code: int) -> str:
    character = chr(code)
    if code < 0x80 and not character.isalnum() and character not in " _,;:!@#%&=<>~'/":
        return f"\\x{code:02x}"
    return character


def _single(code: int) -> Ranges:
    return ((code, code),)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _merged(ranges: list[tuple[int, int]]) -> Ranges:
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def _inverse(ranges: Ranges) -> Ranges:
    return _without(((0, _NO_CODE - 1),), ranges)


def _without(ranges: Ranges, holes: Ranges) -> Ranges:
    result: list[tuple[int, int]] = []
    for low, high in ranges:
        start = low
        for first, last in holes:
            if last < start or first > high:
                continue
            if first > start:
                result.append((start, first - 1))
            start = last + 1
        if start <= high:
            result.append((start, high))
    return tuple(result)


def _sendable(ranges: Ranges) -> Ranges:
    """The characters that can stand in JSON text as they are."""
    sendable = _without(ranges, _FORBIDDEN)
    if not sendable:
        raise _Unsupported
    return sendable

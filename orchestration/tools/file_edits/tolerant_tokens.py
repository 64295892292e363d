"""Words and signs of a text, for comparing without regard to kinds of blanks, quotes and dashes."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

SEPARATOR = "\x1f"

_BLANKS = (
    "\t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_PLAIN = str.maketrans(
    dict.fromkeys(_BLANKS, " ")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys(_UNSEEN)
)
_TOKEN = re.compile(r"\n|\w+|[^\w\s]")
_SPACED = re.compile(r"\s*(\w+|[^\w\s])")
_MARKS = 8
_PORTION = 32 * 1024
_RUN = re.compile(r" {2,}")


class Token(NamedTuple):
    """A word or a sign in a line.

    `gap` is what stands between it and the one before, `key` what it is compared by; `start` and
    `end` count characters of the line.
    """

    gap: str
    text: str
    key: str
    start: int
    end: int


def plain(text: str) -> str:
    """The text with plain blanks, quotes and dashes, and without what cannot be seen.

    Line ends stay, so lines keep their numbers.
    """
    text = text.translate(_PLAIN)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def collapsed(line: str) -> str:
    """A line in plain characters, with single blanks and none at its ends."""
    return _RUN.sub(" ", plain(line)).strip(" ")


def token_form(text: str) -> str:
    """All words, signs and line ends, with a separator before each and after the last.

    A text stands in another, but for blanks and the like, if its form does.
    """
    pieces = [SEPARATOR]
    start = 0
    while start < len(text):  # in portions, so that no other thread has to wait long
        end = text.find("\n", start + _PORTION) + 1 or len(text)
        found = _TOKEN.findall(plain(text[start:end]))
        pieces.append("".join([f"{token}{SEPARATOR}" for token in found]))
        start = end
    return "".join(pieces)


def tokens_of(line: str) -> tuple[list[Token], str]:
    """The tokens of one line, and what stands after the last."""
    found: list[Token] = []
    at = 0
    if line.isascii():
        for match in _SPACED.finditer(line):
            start, end = match.span(1)
            found.append(Token(line[at:start], match[1], match[1], start, end))
            at = end
        return found, line[at:]
    start = 0
    while start < len(line):
        if not plain(line[start]).strip(" "):
            start += 1
            continue
        end = start + 1
        is_word = _is_word(line[start])
        while end < len(line) and (
            (is_word and _is_word(line[end]))
            or _joins(line[max(start, end - _MARKS) : end], line[end])
        ):
            end += 1
        text = line[start:end]
        found.append(Token(line[at:start], text, plain(text), start, end))
        at = start = end
    return found, line[at:]


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _joins(before: str, character: str) -> bool:
    """Whether the character cannot be seen, or only changes the one before it."""
    if character in _UNSEEN:
        return True
    return unicodedata.combining(character) != 0 and len(
        unicodedata.normalize("NFC", before + character)
    ) <= len(unicodedata.normalize("NFC", before))

"""The cells of a terminal's screen: one row of them, and how each is drawn.

A style is one whole number, so that a row is two plain lists and comparing styles is cheap. Its
parts are a foreground, a background (see `DEFAULT`, `palette`, `true_color`) and flags.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

DEFAULT = 0
"""The colour that the theme gives; others are `palette(n)` and `true_color(r, g, b)`."""
_TRUE = 1 << 24
_COLOR_BITS = 25
_COLOR_MASK = (1 << _COLOR_BITS) - 1

BOLD, FAINT, ITALIC, UNDERLINE, INVERSE, HIDDEN, STRUCK = (1 << bit for bit in range(7))
PLAIN = 0
"""The style of text that nobody has said anything about."""

MOST_MARKS = 8
"""So many combining marks a cell takes; a program may print any number."""


def palette(index: int) -> int:
    """The colour with this number, 0 to 255."""
    return index + 1


def true_color(red: int, green: int, blue: int) -> int:
    """A colour by its parts, 0 to 255 each."""
    return _TRUE | red << 16 | green << 8 | blue


def is_true_color(color: int) -> bool:
    """Whether a colour is one by its parts; the lower 24 bits are these."""
    return bool(color & _TRUE)


def style_of(foreground: int, background: int, flags: int) -> int:
    """Pack a style."""
    return foreground | background << _COLOR_BITS | flags << (2 * _COLOR_BITS)


def foreground_of(style: int) -> int:
    """The colour of the text."""
    return style & _COLOR_MASK


def background_of(style: int) -> int:
    """The colour behind the text."""
    return style >> _COLOR_BITS & _COLOR_MASK


def flags_of(style: int) -> int:
    """The flags, such as `BOLD`."""
    return style >> (2 * _COLOR_BITS)


@lru_cache(maxsize=8192)
def width_of(character: str) -> int:
    """How many cells a character takes: 2, 1, or 0 for one that is put onto the cell before it."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Row:
    """One line of cells.

    Attributes:
        text: What each cell shows; empty for the second cell of a wide character.
        styles: How each cell is drawn.
        is_wrapped: The text goes on in the next row because there was no room for it here.
    """

    __slots__ = ("is_wrapped", "styles", "text")

    def __init__(self, columns: int, style: int = PLAIN) -> None:
        self.text: list[str] = [" "] * columns
        self.styles: list[int] = [style] * columns
        self.is_wrapped = False

    def fit(self, columns: int) -> None:
        """Cut the row, or fill it with blanks."""
        missing = columns - len(self.text)
        if missing > 0:
            self.text += [" "] * missing
            self.styles += [PLAIN] * missing
        elif missing < 0:
            del self.text[columns:], self.styles[columns:]
            if self.text and width_of(self.text[-1][:1] or " ") == 2:
                self.text[-1] = " "

    def used(self) -> int:
        """How many cells there are up to the last one that can be seen."""
        text, styles = self.text, self.styles
        end = len(text)
        written = "".join(text)
        if len(written) == end and not any(styles):
            return len(written.rstrip(" "))
        while end and text[end - 1] == " " and styles[end - 1] == PLAIN:
            end -= 1
        return end

    def string(self, start: int = 0, end: int | None = None) -> str:
        """What is written in these cells, without the blanks at the end of the row."""
        text = "".join(self.text[start:end])
        return text if self.is_wrapped or end is not None else text.rstrip(" ")

    def split_wide(self, column: int) -> None:
        """Blank the other half of a wide character that is about to be overwritten in part."""
        text = self.text
        if column < len(text) and text[column] == "" and column:
            text[column - 1] = text[column] = " "

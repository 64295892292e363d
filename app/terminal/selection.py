"""The text that is marked in a terminal, by the numbers of its lines."""

from __future__ import annotations

from typing import NamedTuple

from app.terminal.screen import Screen


class Place(NamedTuple):
    """A gap between two cells: the number of a line, and how many cells are left of the gap."""

    line: int
    column: int


class Selection:
    """From where the mouse was pressed to where it is; empty where both are the same."""

    def __init__(self) -> None:
        self.anchor = self.head = Place(0, 0)

    def __bool__(self) -> bool:
        return self.anchor != self.head

    def clear(self) -> None:
        """Mark nothing."""
        self.anchor = self.head = Place(0, 0)

    def span(self) -> tuple[Place, Place]:
        """Where it begins and ends."""
        return min(self.anchor, self.head), max(self.anchor, self.head)

    def columns_of(self, line: int, columns: int) -> tuple[int, int]:
        """Which cells of a line are marked: from the first up to the second."""
        start, end = self.span()
        if not self or not start.line <= line <= end.line:
            return 0, 0
        return (
            start.column if line == start.line else 0,
            end.column if line == end.line else columns,
        )

    def mark_word(self, screen: Screen, place: Place) -> None:
        """Mark what lies between blanks and signs around a place."""
        text = screen.line(place.line).text
        start = end = min(place.column, len(text) - 1)
        while start and _is_of_word(text[start - 1]):
            start -= 1
        while end < len(text) and _is_of_word(text[end]):
            end += 1
        self.anchor, self.head = Place(place.line, start), Place(place.line, max(end, start + 1))

    def mark_line(self, screen: Screen, line: int) -> None:
        """Mark a line with all rows that it takes."""
        first = last = line
        while first > screen.first_line and screen.line(first - 1).is_wrapped:
            first -= 1
        while last < screen.end_line - 1 and screen.line(last).is_wrapped:
            last += 1
        self.anchor, self.head = Place(first, 0), Place(last, screen.columns)

    def text(self, screen: Screen) -> str:
        """What is marked; rows of one line are joined."""
        start, end = self.span()
        parts = []
        for number in range(max(start.line, screen.first_line), min(end.line + 1, screen.end_line)):
            row = screen.line(number)
            first, last = self.columns_of(number, screen.columns)
            parts.append("".join(row.text[first:last]))
            if number != end.line and not row.is_wrapped:
                parts[-1] = parts[-1].rstrip(" ") + "\n"
        return "".join(parts).rstrip(" ") if start.line != end.line else "".join(parts)


def _is_of_word(character: str) -> bool:
    return not character or character.isalnum() or character in "_-./~:@%+=#?&"

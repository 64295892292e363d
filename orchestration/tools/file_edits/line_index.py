"""Where runs of lines stand in a text, without going through all of it each time."""

from __future__ import annotations

from collections.abc import Sequence


class LineIndex:
    """The lines of a text, and for each the places where it stands, counted from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self._where: dict[str, list[int]] = {}
        for index, line in enumerate(self.lines):
            self._where.setdefault(line, []).append(index)

    def of(self, line: str) -> Sequence[int]:
        """Where the line stands."""
        return self._where.get(line, ())

    def places(self, run: Sequence[str]) -> list[int]:
        """Where the lines stand one after the other: the index of the first of them, each time."""
        wanted = list(run)
        rarest = min(range(len(wanted)), key=lambda offset: len(self.of(wanted[offset])))
        last = len(self.lines) - len(wanted)
        return [
            start
            for start in (index - rarest for index in self.of(wanted[rarest]))
            if 0 <= start <= last and self.lines[start : start + len(wanted)] == wanted
        ]

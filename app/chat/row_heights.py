"""How high the rows are and where they begin: exact where a row was seen, estimated elsewhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate


class RowHeights:
    """Heights in pixels by place, and places by row id."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._heights: list[float] = []
        self._tops: list[float] = [0.0]
        self._good = 0
        self._places: dict[int, int] = {}
        self._exact: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, place: int) -> float:
        return self._heights[place]

    @property
    def total(self) -> float:
        """The height of all rows."""
        return self._brought_in_line()[-1]

    def top(self, place: int) -> float:
        """Where the row at a place begins; one place behind the last is the end."""
        return self._brought_in_line()[place]

    def at(self, y: float) -> int:
        """The place of the row at a height; -1 above the first."""
        return bisect_right(self._brought_in_line(), y) - 1

    def place(self, row_id: int) -> int | None:
        """Where a row stands; `None` if it is not shown."""
        return self._places.get(row_id)

    def id_at(self, place: int) -> int:
        """Which row stands at a place."""
        return self._ids[place]

    def is_exact(self, row_id: int) -> bool:
        """Whether the row's height has been measured for this width."""
        return row_id in self._exact

    def append(self, row_id: int, estimate: float) -> None:
        """One more row at the end."""
        self._places[row_id] = len(self._ids)
        self._ids.append(row_id)
        self._heights.append(self._exact.get(row_id, estimate))

    def measured(self, place: int, height: float) -> None:
        """A row is so high."""
        self._exact[self._ids[place]] = height
        if self._heights[place] != height:
            self._heights[place] = height
            self._good = min(self._good, place)

    def forget(self, row_id: int) -> None:
        """The row is to be measured anew; until then the last height is the best estimate."""
        self._exact.pop(row_id, None)

    def forget_all(self) -> None:
        """The width is another one."""
        self._exact.clear()

    def estimate(self, place: int, height: float) -> None:
        """A row that is not measured is about so high."""
        if self._ids[place] not in self._exact and self._heights[place] != height:
            self._heights[place] = height
            self._good = min(self._good, place)

    def rebuild(self, rows: Iterable[tuple[int, float]], start: int = 0) -> None:
        """Other rows stand from a place on, given with estimates; known heights stay known."""
        gone = self._ids[start:]
        del self._ids[start:], self._heights[start:]
        for row_id in gone:
            del self._places[row_id]
        self._good = min(self._good, start)
        for row_id, estimate in rows:
            self.append(row_id, estimate)
        for row_id in gone:
            if row_id not in self._places:
                self._exact.pop(row_id, None)

    def ids_from(self, place: int) -> list[int]:
        """The rows from a place on, in order."""
        return self._ids[place:]

    def _brought_in_line(self) -> list[float]:
        tops, good = self._tops, self._good
        if len(tops) != len(self._heights) + 1 or good < len(self._heights):
            del tops[good + 1 :]
            tops.extend(accumulate(self._heights[good:], initial=tops[good]))
            del tops[good]
            self._good = len(self._heights)
        return tops

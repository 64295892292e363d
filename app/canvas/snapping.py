"""Where things snap to while they are moved: the grid, and the lines of their neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QLineF, QRectF

from app.canvas.geometry import GRID_STEP

_SEEN_ACROSS, _SEEN_DOWN = 900.0, 700.0
"""How far from a card another one may be, in scene units, to be lined up with."""

_Line = tuple[float, int, QRectF]
"""Where it is, the number of its card, and that card."""


class Snapped(NamedTuple):
    """How far to move so as to snap, and the guides that say to what."""

    dx: float
    dy: float
    guides: tuple[QLineF, ...]


class SnapLines:
    """The lines of cards that stay where they are: both sides and the middle, across and down.

    All in scene units.
    """

    def __init__(self, others: Iterable[QRectF]) -> None:
        rects = list(others)
        self._across = sorted(
            ((value, at, rect) for at, rect in enumerate(rects) for value in _across(rect)),
            key=_value,
        )
        self._down = sorted(
            ((value, at, rect) for at, rect in enumerate(rects) for value in _down(rect)),
            key=_value,
        )

    def snap(self, moving: QRectF, reach: float) -> Snapped:
        """Snap a rectangle to lines within `reach`, and to the grid where there is none.

        Only the lines of cards count that a person sees it line up with.
        """
        near = moving.adjusted(-_SEEN_ACROSS, -_SEEN_DOWN, _SEEN_ACROSS, _SEEN_DOWN)
        dx, along_x = _nearest(_across(moving), self._across, near, reach)
        dy, along_y = _nearest(_down(moving), self._down, near, reach)
        return _snapped(moving, dx, along_x, dy, along_y)


def _snapped(
    moving: QRectF, dx: float, along_x: _Line | None, dy: float, along_y: _Line | None
) -> Snapped:
    if along_x is None:
        dx = round(moving.left() / GRID_STEP) * GRID_STEP - moving.left()
    if along_y is None:
        dy = round(moving.top() / GRID_STEP) * GRID_STEP - moving.top()
    placed = moving.translated(dx, dy)
    guides = []
    if along_x is not None:
        value, _, other = along_x
        top, bottom = min(placed.top(), other.top()), max(placed.bottom(), other.bottom())
        guides.append(QLineF(value, top, value, bottom))
    if along_y is not None:
        value, _, other = along_y
        left, right = min(placed.left(), other.left()), max(placed.right(), other.right())
        guides.append(QLineF(left, value, right, value))
    return Snapped(dx, dy, tuple(guides))


def _across(rect: QRectF) -> tuple[float, float, float]:
    return rect.left(), rect.center().x(), rect.right()


def _down(rect: QRectF) -> tuple[float, float, float]:
    return rect.top(), rect.center().y(), rect.bottom()


def _value(line: _Line) -> float:
    return line[0]


def _nearest(
    own: tuple[float, ...], lines: list[_Line], near: QRectF, reach: float
) -> tuple[float, _Line | None]:
    """The shortest way to a line, and that line; of equal ways that to the first card."""
    found = [
        (abs(line[0] - mine), line[1], line[0] - mine, line)
        for mine in own
        for line in lines[
            bisect_left(lines, mine - reach, key=_value) : bisect_right(
                lines, mine + reach, key=_value
            )
        ]
        if near.intersects(line[2])
    ]
    if not found:
        return 0.0, None
    _, _, way, line = min(found, key=lambda entry: entry[:2])
    return way, line

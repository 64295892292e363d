"""Where things snap to while they are moved: the grid, and the lines of their neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QLineF, QRectF

from app.canvas.geometry import GRID_STEP

MAX_NEIGHBOURS = 200


class Snapped(NamedTuple):
    """How far to move so as to snap, and the guides that say to what."""

    dx: float
    dy: float
    guides: tuple[QLineF, ...]


def snap(moving: QRectF, others: Iterable[QRectF], reach: float) -> Snapped:
    """Snap a rectangle to lines of others within `reach`, and to the grid where there is none.

    Lines are the two sides and the middle, across and down. All in scene units.
    """
    near = list(others)
    dx, along_x = _nearest(_across(moving), [(v, r) for r in near for v in _across(r)], reach)
    dy, along_y = _nearest(_down(moving), [(v, r) for r in near for v in _down(r)], reach)
    if along_x is None:
        dx = round(moving.left() / GRID_STEP) * GRID_STEP - moving.left()
    if along_y is None:
        dy = round(moving.top() / GRID_STEP) * GRID_STEP - moving.top()
    placed = moving.translated(dx, dy)
    guides = []
    if along_x is not None:
        value, other = along_x
        top, bottom = min(placed.top(), other.top()), max(placed.bottom(), other.bottom())
        guides.append(QLineF(value, top, value, bottom))
    if along_y is not None:
        value, other = along_y
        left, right = min(placed.left(), other.left()), max(placed.right(), other.right())
        guides.append(QLineF(left, value, right, value))
    return Snapped(dx, dy, tuple(guides))


def _across(rect: QRectF) -> tuple[float, float, float]:
    return rect.left(), rect.center().x(), rect.right()


def _down(rect: QRectF) -> tuple[float, float, float]:
    return rect.top(), rect.center().y(), rect.bottom()


def _nearest(
    own: tuple[float, ...], lines: list[tuple[float, QRectF]], reach: float
) -> tuple[float, tuple[float, QRectF] | None]:
    """The shortest way to a line, and that line; equal ways keep the first found."""
    best: tuple[float, QRectF] | None = None
    way = reach
    found = 0.0
    for value, rect in lines:
        for mine in own:
            distance = value - mine
            if abs(distance) < way or (best is None and abs(distance) <= way):
                way, found, best = abs(distance), distance, (value, rect)
    return found, best

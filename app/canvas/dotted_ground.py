"""The dots of the grid that the canvas lies on."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPolygonF

from app.canvas.geometry import GRID_STEP
from app.kit.pens import solid_pen

_STEP = GRID_STEP * 2
_BLOCK = 8
"""Dots are kept in blocks of so many across and down."""
_LEAST_SCALE = 0.5
"""Seen from further away they would be a blur."""


def paint_dots(painter: QPainter, rect: QRectF, color: QColor, scale: float, ratio: float) -> None:
    """Paint the dots in a part of the scene; `ratio` is that of the screen's pixels."""
    if scale < _LEAST_SCALE:
        return
    pen = solid_pen(color, max(1.2, 1.8 * scale) * ratio)
    pen.setCosmetic(True)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    left, top = rect.left() // _STEP * _STEP, rect.top() // _STEP * _STEP
    room = _STEP * _BLOCK
    across, down = (rect.right() - left) // room + 1, (rect.bottom() - top) // room + 1
    painter.translate(left, top)
    painter.drawPoints(_dots(int(across), int(down)))
    painter.translate(-left, -top)


@lru_cache(maxsize=64)
def _dots(across: int, down: int) -> QPolygonF:
    """The points of so many blocks, from the upper left one.

    Whole blocks, so that parts of all sizes are painted with few of them; the rest is clipped.
    """
    columns, rows = range(across * _BLOCK), range(down * _BLOCK)
    return QPolygonF([QPointF(_STEP * column, _STEP * row) for column in columns for row in rows])

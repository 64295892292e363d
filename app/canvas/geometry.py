"""Sizes and shapes of the canvas, in scene units (one unit is one pixel at 100 %)."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

GROUND = QRectF(-100_000, -100_000, 200_000, 200_000)
"""All that can be looked at."""
CARD_WIDTH = 248.0
CARD_HEIGHT = 92.0
CARD_RADIUS = 12.0
CARD_MARGIN = 10.0
"""Room around a card for its badge and its selection ring."""
COLUMN_GAP = 112.0
ROW_GAP = 44.0
GRID_STEP = 16.0
ARROW_LENGTH = 9.0
ARROW_HALF_WIDTH = 4.5
PORT_RADIUS = 6.5
PORT_REACH = 14.0
"""How far from a port's middle it can be taken hold of."""
DETAIL_BELOW = 0.45
"""Below this scale cards are plain rectangles and edges plain lines."""


def card_rect(x: float, y: float) -> QRectF:
    """The card whose top left corner is at `x`, `y`."""
    return QRectF(x, y, CARD_WIDTH, CARD_HEIGHT)


def out_port(x: float, y: float) -> QPointF:
    """Where edges leave a card."""
    return QPointF(x + CARD_WIDTH, y + CARD_HEIGHT / 2)


def in_port(x: float, y: float) -> QPointF:
    """Where edges enter a card."""
    return QPointF(x, y + CARD_HEIGHT / 2)


def edge_path(start: QPointF, end: QPointF) -> QPainterPath:
    """The cubic between two ports; it ends just inside the arrow's base."""
    tip = QPointF(end.x() - ARROW_LENGTH, end.y())
    distance = tip.x() - start.x()
    reach = max(36.0, abs(distance) * 0.5)
    if distance < 0:
        reach = min(220.0, max(90.0, reach))
    path = QPainterPath(start)
    path.cubicTo(
        QPointF(start.x() + reach, start.y()),
        QPointF(tip.x() - reach, tip.y()),
        tip,
    )
    return path


def arrow(end: QPointF) -> QPainterPath:
    """The arrow head whose point is at `end`."""
    base = end.x() - ARROW_LENGTH
    path = QPainterPath(end)
    path.lineTo(base, end.y() - ARROW_HALF_WIDTH)
    path.lineTo(base, end.y() + ARROW_HALF_WIDTH)
    path.closeSubpath()
    return path

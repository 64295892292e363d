"""One edge as it lies on the canvas."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from app.canvas.geometry import arrow, edge_path
from app.canvas.graph_sketch import Wire


class EdgeShape(NamedTuple):
    """The line of an edge, its arrow, and what both are painted on."""

    wire: Wire
    path: QPainterPath
    arrow: QPainterPath
    bounds: QRectF


def edge_shape(wire: Wire, start: QPointF, end: QPointF) -> EdgeShape:
    """An edge as it lies from one port to another."""
    path = edge_path(start, end)
    return EdgeShape(wire, path, arrow(end), path.controlPointRect().adjusted(-8, -8, 16, 8))

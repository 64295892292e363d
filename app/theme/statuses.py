"""How a status is told: a word, a mark with its own shape, and a colour, never by colour alone."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF


class StatusStyle(NamedTuple):
    """The look of one status; `color` names a field of the tokens, `mark` a shape."""

    label: str
    color: str
    mark: str


STATUSES: dict[str, StatusStyle] = {
    "idle": StatusStyle("Idle", "idle", "ring"),
    "queued": StatusStyle("Queued", "idle", "dots"),
    "started": StatusStyle("Thinking", "running", "disc"),
    "running_tool": StatusStyle("Running Tool", "running", "disc"),
    "awaiting_input": StatusStyle("Waiting for Input", "waiting", "question"),
    "awaiting_tool_approval": StatusStyle("Awaiting Approval", "waiting", "exclamation"),
    "completed": StatusStyle("Done", "done", "check"),
    "failed": StatusStyle("Failed", "failed", "cross"),
    "interrupted": StatusStyle("Interrupted", "failed", "bars"),
    "stopped": StatusStyle("Stopped", "idle", "square"),
}

WORKING = frozenset({"started", "running_tool"})
WAITING = frozenset({"awaiting_input", "awaiting_tool_approval"})
RETRYABLE = frozenset({"failed", "interrupted"})


def status_style(status: str) -> StatusStyle:
    """The look of `status`; one that this version does not know is shown by its own name."""
    return STATUSES.get(status) or StatusStyle(
        status.replace("_", " ").capitalize(), "idle", "ring"
    )


def paint_mark(painter: QPainter, center: QPointF, size: float, mark: str, color: QColor) -> None:
    """Paint the shape called `mark`, `size` across, around `center`."""
    radius = size / 2
    rect = QRectF(center.x() - radius, center.y() - radius, size, size)
    line = max(1.0, size * 0.16)
    pen = QPen(color, line, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if mark == "ring":
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inset = line / 2 + size * 0.06
        painter.drawEllipse(rect.adjusted(inset, inset, -inset, -inset))
        return
    if mark == "dots":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        dot = size * 0.13
        for step in (-1, 0, 1):
            painter.drawEllipse(QPointF(center.x() + step * size * 0.34, center.y()), dot, dot)
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if mark == "square":
        inset = size * 0.12
        painter.drawRoundedRect(
            rect.adjusted(inset, inset, -inset, -inset), size * 0.16, size * 0.16
        )
        return
    if mark == "disc":
        halo = QColor(color)
        halo.setAlphaF(0.28)
        painter.setBrush(halo)
        painter.drawEllipse(rect)
        painter.setBrush(color)
        painter.drawEllipse(center, radius * 0.52, radius * 0.52)
        return
    painter.drawEllipse(rect)
    _paint_sign(painter, center, size, mark, color)


def _paint_sign(painter: QPainter, center: QPointF, size: float, mark: str, on: QColor) -> None:
    """Paint the sign inside a filled disc in whatever is readable on the disc's colour."""
    ink = QColor("#ffffff") if on.lightnessF() < 0.58 else QColor("#18181b")
    pen = QPen(ink, max(1.0, size * 0.13), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    x, y, u = center.x(), center.y(), size / 16

    def points(*pairs: tuple[float, float]) -> QPolygonF:
        return QPolygonF([QPointF(x + px * u, y + py * u) for px, py in pairs])

    if mark == "check":
        painter.drawPolyline(points((-3.4, 0.3), (-1.1, 2.6), (3.5, -2.4)))
    elif mark == "cross":
        painter.drawPolyline(points((-2.5, -2.5), (2.5, 2.5)))
        painter.drawPolyline(points((2.5, -2.5), (-2.5, 2.5)))
    elif mark == "bars":
        painter.drawPolyline(points((-1.8, -2.8), (-1.8, 2.8)))
        painter.drawPolyline(points((1.8, -2.8), (1.8, 2.8)))
    elif mark == "exclamation":
        painter.drawPolyline(points((0, -3.8), (0, 0.7)))
        painter.drawPoint(QPointF(x, y + 3.6 * u))
    else:
        painter.drawPolyline(
            points((-2.1, -1.9), (-1.3, -3.5), (0.5, -3.9), (2.0, -2.9), (2.0, -1.3), (0.1, 0.2))
        )
        painter.drawPolyline(points((0.1, 0.2), (0, 1.1)))
        painter.drawPoint(QPointF(x, y + 3.8 * u))

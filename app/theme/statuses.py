"""How a status is told: a word, a mark with its own shape, and a colour, never by colour alone."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from app.kit.pens import solid_pen


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
    path = QPainterPath()
    if mark == "ring":
        line = max(1.0, size * 0.16)
        inner = radius - line / 2 - size * 0.06
        path.addEllipse(center, inner, inner)
        painter.strokePath(path, solid_pen(color, line))
    elif mark == "dots":
        for step in (-1, 0, 1):
            dot = QPointF(center.x() + step * size * 0.34, center.y())
            path.addEllipse(dot, size * 0.13, size * 0.13)
        painter.fillPath(path, color)
    elif mark == "square":
        side = size * 0.76
        box = QRectF(center.x() - side / 2, center.y() - side / 2, side, side)
        path.addRoundedRect(box, size * 0.16, size * 0.16)
        painter.fillPath(path, color)
    elif mark == "disc":
        halo = QColor(color)
        halo.setAlphaF(0.28)
        path.addEllipse(center, radius, radius)
        painter.fillPath(path, halo)
        core = QPainterPath()
        core.addEllipse(center, radius * 0.52, radius * 0.52)
        painter.fillPath(core, color)
    else:
        path.addEllipse(center, radius, radius)
        painter.fillPath(path, color)
        _paint_sign(painter, center, size, mark, color)


_SIGNS: dict[str, tuple[tuple[tuple[float, float], ...], ...]] = {
    "check": (((-3.4, 0.3), (-1.1, 2.6), (3.5, -2.4)),),
    "cross": (((-2.5, -2.5), (2.5, 2.5)), ((2.5, -2.5), (-2.5, 2.5))),
    "bars": (((-1.8, -2.8), (-1.8, 2.8)), ((1.8, -2.8), (1.8, 2.8))),
    "exclamation": (((0, -3.8), (0, 0.7)), ((0, 3.6), (0, 3.65))),
    "question": (
        ((-2.1, -1.9), (-1.3, -3.5), (0.5, -3.9), (2.0, -2.9), (2.0, -1.3), (0.1, 0.2), (0, 1.1)),
        ((0, 3.8), (0, 3.85)),
    ),
}
"""Lines of each sign, on a disc of 16 across with its middle at 0, 0."""


def _paint_sign(painter: QPainter, center: QPointF, size: float, mark: str, on: QColor) -> None:
    """Paint the sign inside a filled disc in whatever is readable on the disc's colour."""
    ink = QColor("#ffffff") if on.lightnessF() < 0.58 else QColor("#18181b")
    pen = solid_pen(ink, max(1.0, size * 0.13))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    unit = size / 16
    path = QPainterPath()
    for line in _SIGNS[mark]:
        for index, (x, y) in enumerate(line):
            point = QPointF(center.x() + x * unit, center.y() + y * unit)
            if index:
                path.lineTo(point)
            else:
                path.moveTo(point)
    painter.strokePath(path, pen)

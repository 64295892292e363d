"""Pens of one colour."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPen


def solid_pen(color: QColor, width: float = 1.0) -> QPen:
    """A solid pen of a colour and a width."""
    pen = QPen()
    pen.setColor(color)
    pen.setWidthF(width)
    return pen

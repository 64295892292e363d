"""What gestures and keys need of the view that they work on."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRect
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QWidget


class CanvasPort(Protocol):
    """A view of the canvas."""

    @property
    def scale_now(self) -> float:
        """The scale; 1.0 is 100 %."""

    def viewport(self) -> QWidget:
        """The widget that shows it."""

    def point_of(self, here: QPoint) -> QPointF:
        """The point of the scene at a point of the viewport."""

    def area_of(self, rect: QRect) -> QPolygonF:
        """The part of the scene in a part of the viewport."""

    def show_hand(self) -> None:
        """Show the pointer as it is while nothing is under way."""

    def reveal(self, node_id: str) -> None:
        """Bring a node into view if it is not."""

    def glide_to_fit(self) -> None:
        """Show the whole graph."""

"""What lies above everything while a gesture is under way: guides, and an edge that is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem

from app.canvas.geometry import GROUND, arrow, edge_path
from app.kit.guarded_paint import GuardedPaint
from app.theme.theme import Theme


class GestureOverlay(GuardedPaint, QGraphicsItem):
    """Nothing at all, except while something is moved or connected."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._guides: tuple[QLineF, ...] = ()
        self._edge: tuple[QPointF, QPointF] | None = None
        self._is_refused = False
        self._painted: list[QRectF] = []
        self.setZValue(3)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)

    @property
    def guides(self) -> tuple[QLineF, ...]:
        """The guides on show."""
        return self._guides

    @property
    def edge(self) -> tuple[QPointF, QPointF] | None:
        """The two ends of the edge that is drawn, if one is."""
        return self._edge

    def show_guides(self, guides: Sequence[QLineF]) -> None:
        """Show these guides and no others."""
        if tuple(guides) != self._guides:
            self._guides = tuple(guides)
            self._measure()

    def show_edge(self, start: QPointF, end: QPointF, *, is_refused: bool = False) -> None:
        """Show an edge from `start` to `end`; a refused one cannot be let go here."""
        self._edge, self._is_refused = (start, end), is_refused
        self._measure()

    def clear(self) -> None:
        """Show nothing."""
        self._guides, self._edge = (), None
        self._measure()

    def boundingRect(self) -> QRectF:
        """The whole ground, so that of two crossing guides not all between them is painted anew."""
        return GROUND

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint guides as hair lines and the edge like any other."""
        tokens = self._theme.tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._guides:
            pen = QPen(tokens.color("running"), 1.0)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawLines(list(self._guides))
        if self._edge is not None:
            color = tokens.color("failed" if self._is_refused else "accent")
            style = Qt.PenStyle.DashLine if self._is_refused else Qt.PenStyle.SolidLine
            painter.setPen(QPen(color, 2.0, style))
            painter.drawPath(edge_path(*self._edge))
            painter.fillPath(arrow(self._edge[1]), color)

    def _measure(self) -> None:
        painted = [QRectF(guide.p1(), guide.p2()).normalized() for guide in self._guides]
        if self._edge is not None:
            painted.append(edge_path(*self._edge).controlPointRect())
        painted = [rect.adjusted(-24, -24, 24, 24) for rect in painted]
        for rect in (*self._painted, *painted):
            self.update(rect)
        self._painted = painted

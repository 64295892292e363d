"""A note or a frame on the canvas: for people only, no run ever sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QTextDocument
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QStyleOptionGraphicsItem

from app.canvas.geometry import CARD_RADIUS, DETAIL_BELOW
from app.kit.guarded_paint import GuardedPaint
from app.kit.pens import solid_pen
from app.theme.theme import Theme

if TYPE_CHECKING:
    from engine.graph.workflow import Annotation

HANDLE = 18.0
TITLE_HEIGHT = 30.0
LEAST = QSizeF(96.0, 56.0)
COLORS = ("", "running", "done", "waiting", "failed")
"""Tokens that a note can have; the empty one is the plain look."""


_INDENT = 18.0
"""How far lists stand in, in scene units."""


class NoteItem(GuardedPaint, QGraphicsRectItem):
    """A note lies above the cards with its text in it, a frame behind them with a title."""

    def __init__(self, annotation: Annotation, theme: Theme) -> None:
        super().__init__()
        self.annotation = annotation
        self._theme = theme
        self._text: QTextDocument | None = None
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.show_annotation(annotation)

    @property
    def is_frame(self) -> bool:
        """Whether it lies behind the cards."""
        return self.annotation.kind == "frame"

    def show_annotation(self, annotation: Annotation) -> None:
        """Show it as it is now."""
        self.annotation = annotation
        self.setZValue(-2 if self.is_frame else 2)
        self.setPos(annotation.position.x, annotation.position.y)
        self.show_size(QSizeF(annotation.width, annotation.height))
        self.setToolTip("" if self.is_frame else annotation.text)
        self.restyle()

    def show_size(self, size: QSizeF) -> None:
        """Show it in this size, without making it so."""
        self.setRect(QRectF(QPointF(), size))
        self.restyle()

    def restyle(self) -> None:
        """Lay its text out anew and paint again."""
        self._text = None
        self.update()

    def shape_rect(self) -> QRectF:
        """Where it is, in scene coordinates."""
        return self.rect().translated(self.pos())

    def shape(self) -> QPainterPath:
        """What of it can be clicked: of a frame only its title and its handle."""
        path = QPainterPath()
        if self.is_frame:
            rect = self.rect()
            path.addRect(QRectF(rect.topLeft(), QSizeF(rect.width(), TITLE_HEIGHT)))
            path.addRect(self.handle_rect())
        else:
            path.addRect(self.rect())
        return path

    def handle_rect(self) -> QRectF:
        """Where it is taken hold of to change its size, in its own coordinates."""
        corner = self.rect().bottomRight()
        return QRectF(corner - QPointF(HANDLE, HANDLE), corner)

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint ground, border, text and, while selected, the handle."""
        tokens = self._theme.tokens
        rect = self.rect().adjusted(0.5, 0.5, -0.5, -0.5)
        color = self.annotation.color if self.annotation.color in COLORS else ""
        body = QPainterPath()
        body.addRoundedRect(rect, CARD_RADIUS, CARD_RADIUS)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.is_frame:
            painter.fillPath(body, tokens.color("panel"))
        if color:
            painter.fillPath(body, tokens.tint(color, 0.12 if self.is_frame else 0.18))
        elif self.is_frame:
            painter.fillPath(body, tokens.color("hover"))
        edge = "accent" if self.isSelected() else (color or "line_strong")
        painter.strokePath(body, solid_pen(tokens.color(edge), 2.0 if self.isSelected() else 1.0))
        if option.levelOfDetailFromTransform(painter.worldTransform()) < DETAIL_BELOW / 2:
            return
        if self.is_frame:
            self._paint_title(painter, rect)
        else:
            self._paint_text(painter, rect)
        if self.isSelected():
            self._paint_handle(painter)

    def _paint_title(self, painter: QPainter, rect: QRectF) -> None:
        painter.setFont(self._theme.sized_font(14, strong=True))
        painter.setPen(solid_pen(self._theme.tokens.color("text_second")))
        room = QRectF(rect.left() + 14, rect.top(), rect.width() - 28, TITLE_HEIGHT)
        metrics = painter.fontMetrics()
        title = self.annotation.text.split("\n", 1)[0]
        shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_text(self, painter: QPainter, rect: QRectF) -> None:
        inner = rect.adjusted(12, 10, -12, -10)
        if self._text is None:
            self._text = self._laid_out(inner.width())
        painter.save()
        painter.setClipRect(inner)
        painter.translate(inner.topLeft())
        self._text.drawContents(painter)
        painter.restore()

    def _laid_out(self, width: float) -> QTextDocument:
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setIndentWidth(_INDENT)
        document.setDefaultFont(self._theme.sized_font(13))
        document.setMarkdown(
            self.annotation.text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub
        )
        document.setTextWidth(width)
        return document

    def _paint_handle(self, painter: QPainter) -> None:
        painter.setPen(solid_pen(self._theme.tokens.color("accent"), 1.5))
        corner = self.rect().bottomRight() - QPointF(5, 5)
        for step in (4.0, 9.0):
            painter.drawLine(corner - QPointF(step, 0), corner - QPointF(0, step))

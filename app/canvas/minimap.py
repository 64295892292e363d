"""A small map of the whole graph: where one is, and a way to go elsewhere."""

from __future__ import annotations

import logging

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from app.canvas.document import WorkflowDocument
from app.canvas.geometry import card_rect
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView
from app.kit.pens import solid_pen
from app.theme.statuses import status_style
from app.theme.theme import Theme

logger = logging.getLogger(__name__)

_WIDTH, _HEIGHT = 184, 120
_EDGE = 12
_PADDING = 8.0
_REDRAW_MS = 120
_LEAST_CARDS = 6
"""A smaller graph is overlooked without a map."""


class Minimap(QWidget):
    """Lies in the lower right corner of the canvas, while the graph does not fit into it.

    The graph is painted into a picture at most eight times a second; the frame that shows what is
    in view is painted over it each time.
    """

    def __init__(
        self, view: CanvasView, scene: WorkflowScene, document: WorkflowDocument, theme: Theme
    ) -> None:
        super().__init__(view)
        self._view = view
        self._scene = scene
        self._document = document
        self._theme = theme
        self._picture: QPixmap | None = None
        self._content = QRectF()
        self._redraw = QTimer(self)
        self._redraw.setSingleShot(True)
        self._redraw.setInterval(_REDRAW_MS)
        self._redraw.timeout.connect(self._draw_anew)
        self.is_wanted = True
        self.setFixedSize(_WIDTH, _HEIGHT)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Map of the workflow")
        view.installEventFilter(self)
        for change in (document.replaced, document.edited, scene.changed, theme.changed):
            change.connect(self._ask_for_redraw)
        for bar in (view.horizontalScrollBar(), view.verticalScrollBar()):
            bar.valueChanged.connect(self._follow)
        view.zoomed.connect(self._follow)
        self._place()
        self._draw_anew()

    def set_wanted(self, is_wanted: bool) -> None:
        """Show it where it is of use, or not at all."""
        self.is_wanted = is_wanted
        self._follow()

    def redraw_now(self) -> None:
        """Draw the graph anew without waiting for the next time."""
        self._redraw.stop()
        self._draw_anew()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner."""
        if watched is self._view and event.type() == QEvent.Type.Resize:
            self._place()
            self._follow()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go along."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture of the graph and the frame of what is in view."""
        painter = QPainter(self)
        try:
            self._paint(painter)
        except Exception:
            # An exception that leaves a paint event ends the program.
            logger.exception("the map cannot be painted and is left out")
            self.is_wanted = False
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(solid_pen(tokens.color("line_strong")))
        painter.setBrush(tokens.color("panel"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        if self._picture is not None:
            painter.drawPixmap(0, 0, self._picture)
        shown = self._on_map(self._shown()).intersected(QRectF(self.rect()).adjusted(3, 3, -3, -3))
        painter.setBrush(tokens.tint("running", 0.10))
        painter.setPen(solid_pen(tokens.color("running"), 1.5))
        painter.drawRoundedRect(shown, 3, 3)

    def _shown(self) -> QRectF:
        return self._view.mapToScene(self._view.viewport().rect()).boundingRect()

    def _scale(self) -> float:
        room = QRectF(self.rect()).adjusted(_PADDING, _PADDING, -_PADDING, -_PADDING)
        if self._content.isEmpty():
            return 1.0
        across = room.width() / self._content.width()
        return min(across, room.height() / self._content.height())

    def _origin(self) -> QPointF:
        """Where the scene's origin is on the map."""
        center = QPointF(self.width() / 2, self.height() / 2)
        return center - self._content.center() * self._scale()

    def _on_map(self, rect: QRectF) -> QRectF:
        scale, origin = self._scale(), self._origin()
        return QRectF(rect.topLeft() * scale + origin, rect.size() * scale)

    def _go(self, here: QPointF) -> None:
        self._view.look_around((here - self._origin()) / self._scale())

    def _ask_for_redraw(self, *_: object) -> None:
        if not self._redraw.isActive():
            self._redraw.start()

    def _draw_anew(self) -> None:
        self._content = self._scene.content_rect()
        self._picture = None
        if self._has_use():
            ratio = self.devicePixelRatioF()
            picture = QPixmap(self.size() * ratio)
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(picture)
            self._draw(painter)
            painter.end()
            self._picture = picture
        self._follow()

    def _draw(self, painter: QPainter) -> None:
        tokens = self._theme.tokens
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = self._scale()
        painter.translate(self._origin())
        painter.scale(scale, scale)
        line = solid_pen(tokens.color("line_strong"))
        line.setCosmetic(True)
        painter.setPen(line)
        places = self._document.places
        for wire in self._document.graph.wires:
            start, end = card_rect(*places[wire.source]), card_rect(*places[wire.target])
            painter.drawLine(start.center(), end.center())
        painter.setPen(Qt.PenStyle.NoPen)
        for item in self._scene.items_by_node.values():
            painter.setBrush(tokens.color(status_style(item.info.status).color))
            painter.drawRect(item.shape_rect())

    def _has_use(self) -> bool:
        return self.is_wanted and len(self._document.graph.cards) >= _LEAST_CARDS

    def _follow(self, *_: object) -> None:
        room = self._view.width() > 3 * _WIDTH and self._view.height() > 2 * _HEIGHT
        overlooked = self._shown().contains(self._content)
        self.setVisible(self._has_use() and room and not overlooked)
        self.update()

    def _place(self) -> None:
        self.move(self._view.width() - _WIDTH - _EDGE, self._view.height() - _HEIGHT - _EDGE)

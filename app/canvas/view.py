"""Looking at the canvas: zoom at the pointer, pan, fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPalette,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsView, QWidget

from app.canvas.document import WorkflowDocument
from app.canvas.dotted_ground import paint_dots
from app.canvas.keyboard import KeyboardControl
from app.canvas.pointer import PointerControl
from app.canvas.scene import WorkflowScene
from app.theme.theme import Theme

if TYPE_CHECKING:
    from app.canvas.glide import Glide

MIN_SCALE = 0.05
MAX_SCALE = 3.0
_LEAST_FIT = 0.005
FIT_SCALE = 1.0
"""Fitting never magnifies: a small graph is shown at its own size."""

_MARGIN = 28
_FOOT = 60
_REST_MS = 120
"""So long after the last step zooming is over."""
_CORNER = 190
"""Height and width of the lower left corner, in pixels, which the zoom bar takes."""


class CanvasView(QGraphicsView):
    """The view of one scene.

    What the left button means is in `pointer`, what the keys mean in `keyboard`.

    Signals:
        zoomed: The scale is another one (1.0 is 100 %).
    """

    zoomed = Signal(float)

    def __init__(
        self,
        scene: WorkflowScene,
        document: WorkflowDocument,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(scene, parent)
        self._scene = scene
        self._document = document
        self._theme = theme
        self._panning_from: QPoint | None = None
        self._space_is_down = False
        self._fits = True
        self._glide: Glide | None = None
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._sharpen)
        # A viewport of our own: to find out the type of Qt's, every kind of widget is looked at.
        ground = QWidget(self)
        ground.setMouseTracking(True)
        ground.setBackgroundRole(QPalette.ColorRole.Window)
        # Filled, so that Qt need only move what is there when the view is scrolled.
        ground.setAutoFillBackground(True)
        self.setViewport(ground)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.SmartViewportUpdate)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.NoAnchor)
        self.setOptimizationFlag(QGraphicsView.OptimizationFlag.DontSavePainterState)
        # Files are for the window, which is asked next.
        self.setAcceptDrops(False)
        self.setAccessibleName("Workflow canvas")
        self.pointer = PointerControl(self, scene, document, self)
        self.keyboard = KeyboardControl(self, scene, document, self.pointer)
        document.replaced.connect(self._on_replaced)
        theme.changed.connect(self.viewport().update)
        scene.node_chosen.connect(self._describe)
        self._describe("")

    @property
    def scale_now(self) -> float:
        """The scale; 1.0 is 100 %."""
        return self.transform().m11()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom at once; `at`, in viewport coordinates (otherwise the middle), stays still."""
        self._stop_gliding()
        anchor = at or QPointF(self.viewport().rect().center())
        wanted = self._scaled(factor)
        before = self.mapToScene(anchor.toPoint())
        self._set_scale(wanted)
        moved = self.mapFromScene(before) - anchor.toPoint()
        self._scroll_by(moved)
        self._fits = False

    def glide_by(self, factor: float) -> None:
        """Zoom around the middle, in a movement that can be followed."""
        self._glide_to(self._scaled(factor), self._middle())
        self._fits = False

    def glide_to_fit(self) -> None:
        """Show the whole graph, in a movement that can be followed."""
        start = self.scale_now, self._middle()
        self.fit()
        end = self.scale_now, self._middle()
        self._look(*start)
        self._glide_to(*end, start=start)

    def glide_to_chosen(self) -> None:
        """Show what is selected, in a movement that can be followed; without any, everything."""
        nodes = [item.card.id for item in self._scene.chosen_items()]
        notes = [item.annotation.id for item in self._scene.chosen_notes()]
        rect = self._scene.bounds_of(nodes, notes)
        if rect.isEmpty():
            self.glide_to_fit()
            return
        start = self.scale_now, self._middle()
        self._stop_gliding()
        self._fits = False
        if self._fit_above(rect.adjusted(-60, -60, 60, 60), _MARGIN):
            end = self.scale_now, self._middle()
            self._look(*start)
            self._glide_to(*end, start=start)

    def fit(self) -> None:
        """Show the whole graph."""
        self._stop_gliding()
        self._fits = True
        rect = self._scene.content_rect()
        if rect.isEmpty() or not self._fit_above(rect, _MARGIN):
            self._set_scale(1.0)
            self.centerOn(QPointF(0, 0))
            return
        corner = QRect(0, self.viewport().height() - _FOOT, _CORNER, _FOOT)
        if self._scene.has_cards_in(self.mapToScene(corner).boundingRect()):
            self._fit_above(rect, _FOOT)

    def _fit_above(self, rect: QRectF, foot: int) -> bool:
        """Show `rect` with so many pixels free below it; tells whether there is room at all."""
        room = self.viewport().rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -foot)
        if room.width() <= 0 or room.height() <= 0:
            return False
        scale = min(room.width() / rect.width(), room.height() / rect.height(), FIT_SCALE)
        scale = max(_LEAST_FIT, scale)
        self._set_scale(scale)
        self.centerOn(rect.center() + QPointF(0, (foot - _MARGIN) / 2 / scale))
        return True

    def reveal(self, node_id: str) -> None:
        """Bring a node into view if it is not."""
        item = self._scene.items_by_node.get(node_id)
        if item is not None:
            shown = self.mapToScene(self.viewport().rect()).boundingRect()
            if not shown.contains(item.shape_rect()):
                self._fits = False
                self.ensureVisible(item.shape_rect(), 40, 40)

    def look_around(self, middle: QPointF) -> None:
        """Have this point of the scene in the middle, at the scale of now."""
        self._stop_gliding()
        self._fits = False
        self.centerOn(middle)

    def looking_at(self) -> str:
        """What is in view, as text for `look_at`; empty while the whole graph is fitted."""
        if self._fits:
            return ""
        middle = self.mapToScene(self.viewport().rect().center())
        return f"{self.scale_now:.4f} {middle.x():.1f} {middle.y():.1f} {self._document.path}"

    def look_at(self, remembered: str) -> None:
        """Look at what was in view before, if the same document is open; otherwise at all of it."""
        parts = remembered.split(" ", 3)
        if len(parts) == 4 and parts[3] == str(self._document.path):
            try:
                scale, x, y = (float(part) for part in parts[:3])
            except ValueError:
                return
            self._set_scale(min(MAX_SCALE, max(MIN_SCALE, scale)))
            self.centerOn(QPointF(x, y))
            self._fits = False

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        delta = event.angleDelta().y() or event.angleDelta().x()
        if delta:
            self.zoom_by(1.2 ** (delta / 120), event.position())
        event.accept()

    def viewportEvent(self, event: QEvent) -> bool:
        """Pinch to zoom; forget what was below the pointer when it leaves."""
        if isinstance(event, QNativeGestureEvent) and (
            event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self.zoom_by(1 + event.value(), event.position())
            return True
        if event.type() == QEvent.Type.Leave:
            self.pointer.leave()
        return super().viewportEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to pan with the middle button or with space held, else a gesture."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        is_left = event.button() == Qt.MouseButton.LeftButton
        if event.button() == Qt.MouseButton.MiddleButton or (self._space_is_down and is_left):
            self._stop_gliding()
            self._panning_from = event.position().toPoint()
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        elif is_left:
            self.pointer.press(event)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan, or lead the gesture."""
        here = event.position().toPoint()
        if self._panning_from is not None:
            self._scroll_by(self._panning_from - here)
            self._panning_from = here
            self._fits = False
        else:
            self.pointer.move(event)
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End panning, or the gesture."""
        if self._panning_from is not None:
            self._panning_from = None
            self.show_hand()
        elif event.button() == Qt.MouseButton.LeftButton:
            self.pointer.release(event)
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open what is there."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.pointer.double_click(event)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of what is there, or of the selected card if a key asks."""
        here = event.pos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            item = self._scene.items_by_node.get(self._scene.chosen_node())
            middle = self.viewport().rect().center()
            here = self.mapFromScene(item.shape_rect().center()) if item else middle
        self.pointer.ask_for_menu(here)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take hold of the ground with space, or do what the key means."""
        if event.key() == Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self._space_is_down = True
                self.show_hand()
        elif not self.keyboard.press(event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Let go of the ground."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._space_is_down = False
            self.show_hand()
        super().keyReleaseEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab adds a node; Shift+Tab leaves the canvas."""
        return False if forward else super().focusNextPrevChild(forward)

    def point_of(self, here: QPoint) -> QPointF:
        """The point of the scene at a point of the viewport."""
        return self.mapToScene(here)

    def area_of(self, rect: QRect) -> QPolygonF:
        """The part of the scene in a part of the viewport."""
        return self.mapToScene(rect)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the graph fitted if it was."""
        super().resizeEvent(event)
        if self._fits:
            self.fit()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        """Paint the dotted grid where it would not be a blur; the ground is there already."""
        color = self._theme.tokens.solid("grid_dot", "ground")
        paint_dots(painter, QRectF(rect), color, self.scale_now, self.devicePixelRatioF())

    def _scaled(self, factor: float) -> float:
        return min(MAX_SCALE, max(min(MIN_SCALE, self.scale_now), self.scale_now * factor))

    def _middle(self) -> QPointF:
        """The point of the scene in the middle of the view, to a fraction of a pixel."""
        inverse, _ = self.viewportTransform().inverted()
        return inverse.map(QRectF(self.viewport().rect()).center())

    def _look(self, scale: float, middle: QPointF) -> None:
        self._set_scale(scale)
        self.centerOn(middle)

    def _glide_to(
        self, scale: float, middle: QPointF, start: tuple[float, QPointF] | None = None
    ) -> None:
        if self._glide is None:
            # Imported here: nothing moves in the first frame.
            from app.canvas.glide import Glide

            self._glide = Glide(self._look, self)
        begin = start or (self.scale_now, self._middle())
        self._glide.go(begin, (scale, middle), self._theme.motion_ms())

    def _stop_gliding(self) -> None:
        if self._glide is not None:
            self._glide.stop()

    def _set_scale(self, scale: float) -> None:
        self.resetTransform()
        self.scale(scale, scale)
        self._scene.seen_at(scale)
        self._scene.pictures.is_zooming = True
        self._rest.start()
        self.zoomed.emit(scale)

    def _sharpen(self) -> None:
        """Zooming is over: cards whose pictures were stretched are painted anew."""
        pictures = self._scene.pictures
        pictures.is_zooming = False
        if pictures.are_stretched:
            pictures.are_stretched = False
            self.viewport().update()

    def _scroll_by(self, distance: QPoint) -> None:
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        across.setValue(across.value() + distance.x())
        down.setValue(down.value() + distance.y())

    def show_hand(self) -> None:
        """Show the pointer as it is while nothing is under way."""
        if self._space_is_down:
            self.viewport().setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self.viewport().unsetCursor()

    def _on_replaced(self) -> None:
        # The scene, which listens to the same signal, was first: its items are there.
        self.fit()
        self._describe("")

    def _describe(self, node_id: str) -> None:
        count = len(self._document.graph.cards)
        words = f"{count} nodes" if count != 1 else "1 node"
        item = self._scene.items_by_node.get(node_id)
        if item is not None:
            words += f"; selected: {item.spoken()}"
        self.setAccessibleDescription(words)

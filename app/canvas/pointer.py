"""What a hand on the mouse means: it begins gestures, leads them, and ends them."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QRubberBand

from app.canvas.canvas_port import CanvasPort
from app.canvas.connect_gesture import ConnectGesture, End
from app.canvas.document import WorkflowDocument
from app.canvas.gesture import Gesture
from app.canvas.graph_sketch import Wire
from app.canvas.hits import Hit, hit
from app.canvas.move_gesture import MoveGesture
from app.canvas.resize_gesture import ResizeGesture
from app.canvas.scene import WorkflowScene

_ADDING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier


class PointerControl(QObject):
    """The left button on one canvas.

    Signals:
        node_wanted: A new node is wanted at a point of the scene; has the node and the end of the
            edge that it is to be connected with, both empty for none.
        node_opened: A card was double-clicked (its id).
        note_opened: A note or frame was double-clicked (its id).
        refused: Why something could not be done, in a sentence.
        menu_wanted: A menu is wanted for a `Hit` at a point of the scene and of the screen.
    """

    node_wanted = Signal(QPointF, str, str)
    node_opened = Signal(str)
    note_opened = Signal(str)
    refused = Signal(str)
    menu_wanted = Signal(object, QPointF, QPoint)

    def __init__(
        self, view: CanvasPort, scene: WorkflowScene, document: WorkflowDocument, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._view = view
        self._scene = scene
        self._document = document
        self._gesture: Gesture | None = None
        self._pressed_at: QPoint | None = None
        self._pressed: Hit = Hit("ground")
        self._was_chosen = False
        self._band: QRubberBand | None = None
        self._before_band: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        self._hovered_card = ""
        document.replaced.connect(self._drop)
        document.edited.connect(self._drop)

    @property
    def is_busy(self) -> bool:
        """Whether a gesture is under way."""
        return self._gesture is not None or self._pressed_at is not None

    def press(self, event: QMouseEvent) -> None:
        """Choose what is there; what it becomes shows when the pointer moves."""
        here = event.position().toPoint()
        found = self._hit(here)
        self._pressed_at, self._pressed = here, found
        adding = bool(event.modifiers() & _ADDING)
        scene = self._scene
        if found.kind == "node":
            item = scene.items_by_node[found.id]
            self._was_chosen = item.isSelected()
            if adding:
                item.setSelected(not item.isSelected())
            elif not item.isSelected():
                scene.choose(nodes=[found.id])
        elif found.kind in ("note", "note_handle"):
            note = scene.notes[found.id]
            if adding:
                note.setSelected(not note.isSelected())
            elif not note.isSelected():
                scene.choose(notes=[found.id])
        elif found.kind == "edge":
            if adding:
                scene.choose_edges(scene.chosen_edges ^ {found.id})
            else:
                scene.choose(edges=[found.id])
        elif found.kind == "ground":
            if not adding:
                scene.choose()
            self._begin_band(here)

    def move(self, event: QMouseEvent) -> None:
        """Lead the gesture, or begin one, or look at what is below the pointer."""
        here = event.position().toPoint()
        if self._band is not None and self._pressed_at is not None:
            self._stretch_band(here)
        elif self._gesture is not None:
            self._gesture.move(self._view.point_of(here), event.modifiers())
        elif self._pressed_at is None:
            self._look_at(here)
        elif self._is_far(here):
            self._gesture = self._begin()
            if self._gesture is not None:
                self._view.viewport().setCursor(self._gesture.cursor)
                self._gesture.move(self._view.point_of(here), event.modifiers())

    def release(self, event: QMouseEvent) -> None:
        """End the gesture; a press without one is a click."""
        here = event.position().toPoint()
        gesture, self._gesture = self._gesture, None
        pressed, self._pressed_at = self._pressed_at, None
        if self._band is not None:
            self._end_band()
        elif gesture is not None:
            self._view.viewport().unsetCursor()
            self._finish(gesture, self._view.point_of(here), event.modifiers())
        elif (
            pressed is not None
            and self._pressed.kind == "node"
            and self._was_chosen
            and not event.modifiers() & _ADDING
        ):
            self._scene.choose(nodes=[self._pressed.id])

    def double_click(self, event: QMouseEvent) -> None:
        """Open what is there; on the ground a new node is wanted."""
        here = event.position().toPoint()
        found = self._hit(here)
        if found.kind == "node":
            self.node_opened.emit(found.id)
        elif found.kind in ("note", "note_handle"):
            self.note_opened.emit(found.id)
        elif found.kind == "ground" and self._document.workflow is not None:
            self.node_wanted.emit(self._view.point_of(here), "", "")

    def ask_for_menu(self, here: QPoint) -> None:
        """Choose what is there, unless it is chosen already, and ask for its menu."""
        found, scene = self._hit(here), self._scene
        if found.kind in ("node", "port") and not scene.items_by_node[found.id].isSelected():
            scene.choose(nodes=[found.id])
        elif found.kind in ("note", "note_handle") and not scene.notes[found.id].isSelected():
            scene.choose(notes=[found.id])
        elif found.kind == "edge" and found.id not in scene.chosen_edges:
            scene.choose(edges=[found.id])
        screen = self._view.viewport().mapToGlobal(here)
        self.menu_wanted.emit(found, self._view.point_of(here), screen)

    def cancel(self) -> bool:
        """Leave the gesture without a trace; tells whether there was one."""
        was_busy = self._gesture is not None or self._band is not None
        gesture, self._gesture = self._gesture, None
        self._pressed_at = None
        self._view.viewport().unsetCursor()
        if gesture is not None:
            gesture.cancel()
        if self._band is not None:
            self._band.hide()
            self._band = None
            nodes, edges = self._before_band
            self._scene.choose(nodes=nodes, edges=edges)
        return was_busy

    def leave(self) -> None:
        """The pointer is gone."""
        self._scene.hover(None)
        self._show_ports("")

    def offer(self, at: QPointF, fixed: str, loose: End) -> None:
        """An edge was let go over the ground: offer a node to end at."""
        self.node_wanted.emit(at, fixed, loose)

    def _drop(self, *_: object) -> None:
        """Leave what is under way: the workflow is another one now than where it began."""
        if self._gesture is not None:
            self.cancel()

    def _begin(self) -> Gesture | None:
        """The gesture that the press has become."""
        if self._document.workflow is None:
            return None
        found, scene, document = self._pressed, self._scene, self._document
        assert self._pressed_at is not None
        start = self._view.point_of(self._pressed_at)
        if found.kind == "port":
            loose: End = "target" if found.end == "source" else "source"
            return ConnectGesture(scene, document, found.id, loose, self.offer)
        if found.kind == "edge_end":
            shape = scene.edges.edge(found.id)
            if shape is None:
                return None
            wire = shape.wire
            fixed = wire.source if found.end == "target" else wire.target
            return ConnectGesture(scene, document, fixed, found.end, self.offer, edge_id=found.id)
        if found.kind == "note_handle":
            return ResizeGesture(scene, document, found.id)
        if found.kind in ("node", "note") and scene.selectedItems():
            return MoveGesture(scene, document, start, self._view.scale_now)
        return None

    def _finish(self, gesture: Gesture, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        from engine.vocabulary.errors import EngineError

        try:
            gesture.finish(at, modifiers)
        except EngineError as error:
            gesture.cancel()
            self.refused.emit(str(error))

    def _hit(self, here: QPoint) -> Hit:
        return hit(self._scene, self._view.point_of(here), self._view.scale_now)

    def _is_far(self, here: QPoint) -> bool:
        assert self._pressed_at is not None
        return (here - self._pressed_at).manhattanLength() >= QApplication.startDragDistance()

    def _look_at(self, here: QPoint) -> None:
        found = self._hit(here)
        point = self._view.point_of(here)
        edge = self._scene.hover(point if found.kind in ("edge", "ground") else None)
        viewport = self._view.viewport()
        viewport.setToolTip(self._edge_words(edge.wire) if edge else "")
        self._show_ports(found.id if found.kind in ("node", "port") else "")
        cursors = {
            "port": Qt.CursorShape.CrossCursor,
            "edge_end": Qt.CursorShape.CrossCursor,
            "note_handle": Qt.CursorShape.SizeFDiagCursor,
        }
        if (cursor := cursors.get(found.kind)) is not None:
            viewport.setCursor(cursor)
        else:
            self._view.show_hand()

    def _edge_words(self, wire: Wire) -> str:
        label = self._document.label
        return f"{label(wire.source)} → {label(wire.target)}"

    def _show_ports(self, node_id: str) -> None:
        items = self._scene.items_by_node
        if node_id != self._hovered_card:
            for key in (self._hovered_card, node_id):
                if key in items:
                    items[key].show_ports(key == node_id and self._document.workflow is not None)
            self._hovered_card = node_id

    def _begin_band(self, here: QPoint) -> None:
        chosen = frozenset(item.card.id for item in self._scene.chosen_items())
        self._before_band = (chosen, self._scene.chosen_edges)
        self._band = QRubberBand(QRubberBand.Shape.Rectangle, self._view.viewport())
        self._band.setGeometry(QRect(here, here))

    def _stretch_band(self, here: QPoint) -> None:
        assert self._band is not None
        assert self._pressed_at is not None
        rect = QRect(self._pressed_at, here).normalized()
        self._band.setGeometry(rect)
        self._band.show()
        area = self._view.area_of(rect).boundingRect()
        scene = self._scene
        nodes, edges = self._before_band
        scene.choose(
            nodes=nodes
            | {k for k, i in scene.items_by_node.items() if area.intersects(i.shape_rect())},
            edges=edges | {shape.wire.id for shape in scene.edges.edges_in(area)},
            notes=[k for k, i in scene.notes.items() if area.contains(i.shape_rect())],
        )

    def _end_band(self) -> None:
        assert self._band is not None
        self._band.hide()
        self._band.deleteLater()
        self._band = None

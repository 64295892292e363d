"""Dragging cards and notes: everything selected moves together and snaps as one."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.canvas.gesture import Gesture
from app.canvas.scene import WorkflowScene
from app.canvas.snapping import SnapLines

SNAP_REACH = 7.0
"""In pixels on screen."""


class MoveGesture(Gesture):
    """Moves the selection. With Alt nothing snaps; with Shift it goes straight across or down."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def __init__(
        self, scene: WorkflowScene, document: WorkflowDocument, start: QPointF, scale: float
    ) -> None:
        self._scene = scene
        self._document = document
        self._start = start
        self._reach = SNAP_REACH / scale
        self._nodes = {item.card.id: item.pos() for item in scene.chosen_items()}
        self._notes = {item.annotation.id: item.pos() for item in scene.chosen_notes()}
        self._bounds = scene.bounds_of(self._nodes, self._notes)
        self._lines = SnapLines(
            item.shape_rect()
            for node_id, item in scene.items_by_node.items()
            if node_id not in self._nodes
        )
        self._shown = QPointF()
        scene.lift(self._nodes)

    def move(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Show everything where it would be."""
        self._show(self._way(at, modifiers))

    def finish(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Leave everything where it is shown, as one step."""
        way = self._way(at, modifiers)
        self._scene.overlay.clear()
        if way.isNull():
            self._show(way)
            self._scene.settle()
            return
        commands.move(
            self._document,
            {key: (pos + way).toTuple() for key, pos in self._nodes.items()},
            {key: (pos + way).toTuple() for key, pos in self._notes.items()},
        )

    def cancel(self) -> None:
        """Put everything where the document has it; something may have been deleted meanwhile."""
        places, notes = self._document.places, self._scene.notes
        self._scene.show_moved(
            {key: QPointF(*places[key]) for key in self._nodes if key in places},
            {
                key: QPointF(notes[key].annotation.position.x, notes[key].annotation.position.y)
                for key in self._notes
                if key in notes
            },
        )
        self._scene.settle()
        self._scene.overlay.clear()

    def _way(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> QPointF:
        way = at - self._start
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            way = QPointF(way.x(), 0) if abs(way.x()) >= abs(way.y()) else QPointF(0, way.y())
        if modifiers & Qt.KeyboardModifier.AltModifier:
            self._scene.overlay.show_guides(())
            return way
        found = self._lines.snap(self._bounds.translated(way), self._reach)
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            self._scene.overlay.show_guides(())
            return way + (QPointF(found.dx, 0) if way.x() else QPointF(0, found.dy))
        self._scene.overlay.show_guides(found.guides)
        return way + QPointF(found.dx, found.dy)

    def _show(self, way: QPointF) -> None:
        if way == self._shown:
            return
        self._shown = way
        self._scene.show_moved(
            {key: pos + way for key, pos in self._nodes.items()},
            {key: pos + way for key, pos in self._notes.items()},
        )

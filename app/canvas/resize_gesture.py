"""Changing the size of a note or a frame by its corner."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSizeF, Qt

from app.canvas.commands import snapped
from app.canvas.document import WorkflowDocument
from app.canvas.gesture import Gesture
from app.canvas.note_item import LEAST
from app.canvas.scene import WorkflowScene


class ResizeGesture(Gesture):
    """Leads the lower right corner; with Alt it does not keep to the grid."""

    cursor = Qt.CursorShape.SizeFDiagCursor

    def __init__(self, scene: WorkflowScene, document: WorkflowDocument, note_id: str) -> None:
        self._item = scene.notes[note_id]
        self._document = document

    def move(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Show the size that it would have."""
        self._item.show_size(self._size(at, modifiers))

    def finish(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Give it that size, as one step."""
        from engine.graph import edits

        size = self._size(at, modifiers)
        note = self._item.annotation
        self._document.edit(
            f"Resize {note.kind}",
            lambda workflow: edits.change_annotation(
                workflow, note.id, width=size.width(), height=size.height()
            ),
        )

    def cancel(self) -> None:
        """Show the size that it has."""
        note = self._item.annotation
        self._item.show_size(QSizeF(note.width, note.height))

    def _size(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> QSizeF:
        corner = at
        if not modifiers & Qt.KeyboardModifier.AltModifier:
            corner = QPointF(snapped(at.x()), snapped(at.y()))
        wanted = corner - self._item.pos()
        return QSizeF(max(LEAST.width(), wanted.x()), max(LEAST.height(), wanted.y()))

"""Writing right on the canvas: the label of a card, the text of a note."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.canvas.geometry import CARD_WIDTH
from app.canvas.node_look import PADDING
from app.canvas.scene import WorkflowScene
from app.canvas.view import CanvasView

_LEAST_WIDTH = 140


class InlineEditor(QObject):
    """One field over the canvas at a time. Enter or a click elsewhere keeps, Escape does not."""

    def __init__(self, view: CanvasView, scene: WorkflowScene, document: WorkflowDocument) -> None:
        super().__init__(view)
        self._view = view
        self._scene = scene
        self._document = document
        self._field: QLineEdit | QPlainTextEdit | None = None
        self._id = ""
        view.zoomed.connect(self.keep)
        document.replaced.connect(self.drop)

    @property
    def field(self) -> QLineEdit | QPlainTextEdit | None:
        """The field, while something is written."""
        return self._field

    def rename(self, node_id: str) -> None:
        """Write the label of a card."""
        item = self._scene.items_by_node.get(node_id)
        if item is None or self._document.workflow is None:
            return
        self.keep()
        field = QLineEdit(item.card.label, self._view.viewport())
        field.setAccessibleName(f"Name of {item.card.label}")
        rect = item.shape_rect().adjusted(PADDING - 9, PADDING + 17, -PADDING, 0)
        rect.setHeight(30)
        self._open(field, node_id, rect)
        field.selectAll()

    def write_note(self, note_id: str) -> None:
        """Write the text of a note or the title of a frame."""
        item = self._scene.notes.get(note_id)
        if item is None:
            return
        self.keep()
        if item.is_frame:
            title = QLineEdit(item.annotation.text, self._view.viewport())
            title.setAccessibleName("Title of the frame")
            rect = QRectF(item.shape_rect().topLeft(), item.rect().size())
            rect.setHeight(30)
            self._open(title, note_id, rect)
            title.selectAll()
            return
        text = QPlainTextEdit(item.annotation.text, self._view.viewport())
        text.setProperty("kind", "note")
        text.setAccessibleName("Text of the note")
        self._open(text, note_id, item.shape_rect().adjusted(4, 4, -4, -4))

    def keep(self) -> None:
        """End writing and keep what was written, as one step."""
        field = self._take_down()
        if field is None:
            return
        text = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
        if self._id in self._scene.items_by_node:
            commands.rename(self._document, self._id, text)
        elif self._id in self._scene.notes:
            from engine.graph import edits

            note_id = self._id
            self._document.edit(
                "Write note",
                lambda workflow: edits.change_annotation(workflow, note_id, text=text),
            )

    def drop(self) -> None:
        """End writing and forget what was written."""
        self._take_down()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and a click elsewhere keep what was written, Escape drops it."""
        if watched is not self._field:
            return super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.drop()
                return True
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            ends = isinstance(self._field, QLineEdit) or bool(
                event.modifiers() & Qt.KeyboardModifier.ControlModifier
            )
            if is_enter and ends:
                self.keep()
                return True
        elif event.type() == QEvent.Type.FocusOut:
            self.keep()
        return super().eventFilter(watched, event)

    def _open(self, field: QLineEdit | QPlainTextEdit, edited_id: str, rect: QRectF) -> None:
        shown = self._view.mapFromScene(rect).boundingRect()
        least = max(_LEAST_WIDTH, round(CARD_WIDTH * self._view.scale_now * 0.5))
        field.setGeometry(shown.x(), shown.y(), max(least, shown.width()), max(28, shown.height()))
        field.installEventFilter(self)
        self._field, self._id = field, edited_id
        field.show()
        field.setFocus()

    def _take_down(self) -> QLineEdit | QPlainTextEdit | None:
        field, self._field = self._field, None
        if field is not None:
            field.removeEventFilter(self)
            had_focus = field.hasFocus()
            field.hide()
            field.deleteLater()
            if had_focus:
                self._view.setFocus()
        return field

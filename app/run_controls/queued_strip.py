"""Messages that a node at work has not got yet: they can be edited or taken back until then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.kit.elided_label import ElidedLabel
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

_FIELD_LINES = 2


class Queued(NamedTuple):
    """One message that waits; `label` is the node's."""

    message_id: str
    label: str
    text: str


class QueuedStrip(QFrame):
    """Stands above the composer; it is gone while nothing waits.

    Signals:
        edited: Message id and its new text.
        removed: Message id.
    """

    edited = Signal(str, str)
    removed = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: dict[str, QueuedRow] = {}
        self.setAccessibleName("Messages on their way")
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(4)
        self.hide()

    @property
    def rows(self) -> list[QueuedRow]:
        """The messages, oldest first."""
        return list(self._rows.values())

    def show_queued(self, messages: Sequence[Queued]) -> None:
        """Take over what waits now; one that is being edited keeps what is written."""
        waiting = {message.message_id: message for message in messages}
        for message_id in [key for key in self._rows if key not in waiting]:
            row = self._rows.pop(message_id)
            self._box.removeWidget(row)
            row.hide()
            row.deleteLater()
        for message in messages:
            row_there = self._rows.get(message.message_id)
            if row_there is not None:
                row_there.show_message(message)
                continue
            row = self._rows[message.message_id] = QueuedRow(self._theme, message, self)
            row.edited.connect(partial(self.edited.emit, message.message_id))
            row.removed.connect(partial(self.removed.emit, message.message_id))
            self._box.addWidget(row)
        self.setVisible(bool(self._rows))


class QueuedRow(QFrame):
    """One message with its buttons.

    Signals:
        edited: The new text.
        removed: It is to be taken back.
    """

    edited = Signal(str)
    removed = Signal()

    def __init__(self, theme: Theme, message: Queued, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "composer")
        self.message = message
        mark = StatusMark(theme, "dots", "idle", 13, self)
        self.label = ElidedLabel(parent=self)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.field = _MessageField(self)
        self.field.entered.connect(self._save)
        self.edit = self._button("Edit", self._begin)
        self.remove = self._button("Remove", self.removed.emit)
        self.save = self._button("Save", self._save)
        self.cancel = self._button("Cancel", self._end)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 6, 5)
        row.setSpacing(6)
        row.addWidget(mark)
        row.addWidget(self.label, 1)
        row.addWidget(self.field, 1)
        for button in (self.edit, self.remove, self.save, self.cancel):
            row.addWidget(button)
        self.show_message(message)
        self._show_editing(False)

    @property
    def is_edited(self) -> bool:
        """Whether the person is writing in it."""
        return not self.field.isHidden()

    def show_message(self, message: Queued) -> None:
        """Show what the message says now."""
        self.message = message
        first, *rest = message.text.splitlines() or [""]
        more = " …" if rest else ""
        self.label.setText(f"Queued for {message.label}: {first}{more}")
        self.label.full_tip = f"{message.text}\n\nDelivered before the next model call"
        self.label.updateGeometry()
        self.setAccessibleName(f"Queued for {message.label}: {message.text}")
        for button, verb in ((self.edit, "Edit"), (self.remove, "Remove")):
            button.setAccessibleName(f"{verb} the message to {message.label}")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves the message as it was."""
        if event.key() == Qt.Key.Key_Escape and self.is_edited:
            self._end()
        else:
            super().keyPressEvent(event)

    def _button(self, text: str, handler: Callable[[], None]) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("kind", "chip")
        button.setAutoDefault(False)
        button.clicked.connect(handler)
        return button

    def _begin(self) -> None:
        self.field.setPlainText(self.message.text)
        self._show_editing(True)
        self.field.setFocus()
        self.field.selectAll()

    def _save(self) -> None:
        text = self.field.toPlainText().strip()
        if not self.is_edited:
            return
        self._end()
        if text and text != self.message.text:
            self.edited.emit(text)

    def _end(self) -> None:
        had_focus = self.isAncestorOf(QApplication.focusWidget() or self.window())
        self._show_editing(False)
        if had_focus:
            self.edit.setFocus()

    def _show_editing(self, is_editing: bool) -> None:
        editing: tuple[QWidget, ...] = (self.field, self.save, self.cancel)
        reading: tuple[QWidget, ...] = (self.label, self.edit, self.remove)
        for widget in editing:
            widget.setVisible(is_editing)
        for widget in reading:
            widget.setVisible(not is_editing)


class _MessageField(QPlainTextEdit):
    """Enter saves, Shift+Enter breaks the line."""

    entered = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "field")
        self.setAccessibleName("Queued message")
        self.setTabChangesFocus(True)
        self.setFixedHeight(self.fontMetrics().lineSpacing() * _FIELD_LINES + 14)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

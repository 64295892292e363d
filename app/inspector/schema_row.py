"""One row of the schema table: name, kind, whether it is required, and what it means."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.inspector.controls import ChoiceBox, FlagBox, LineField, mark_wrong
from app.inspector.field import small_label
from app.inspector.schema_rows import KINDS, OTHER, FieldRow
from app.theme.theme import Theme

INDENT = 14
_KIND_WIDTH = 146
_OTHER_WORDS = "As JSON"


class SchemaRow(QFrame):
    """The controls of one field.

    Signals:
        named: The row and the name that was written.
        described: The row and the description that was written.
        kind_chosen: The row and the kind.
        required_set: The row and whether the field is required.
        remove_wanted: The row.
        move_wanted: The row and by how many places.
        left: The focus has gone elsewhere.
    """

    named = Signal(object, str)
    described = Signal(object, str)
    kind_chosen = Signal(object, str)
    required_set = Signal(object, bool)
    remove_wanted = Signal(object)
    move_wanted = Signal(object, int)
    left = Signal()

    def __init__(self, theme: Theme, row: FieldRow, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.row = row
        self._wrong_words = ""
        self._problem = ""
        self.setProperty("kind", "schema-row")
        self.name = LineField(self)
        self.kind = ChoiceBox(theme, self)
        self.kind.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.kind.setFixedWidth(_KIND_WIDTH)
        self.remove = QToolButton(self)
        self.remove.setAutoRaise(True)
        self.description = LineField(self)
        self.description.setPlaceholderText("What it means")
        self.required = FlagBox(theme, "Required", self)
        self._more = small_label(self)
        self._wrong = QLabel(self)
        self._wrong.setProperty("kind", "wrong")
        self._wrong.setWordWrap(True)
        self._wrong.hide()
        self._lay_out()
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()
        self._fill()

    @property
    def wrong(self) -> str:
        """What is wrong with the name that was written, or keeps the schema from being used."""
        return self._wrong_words or self._problem

    def controls(self) -> tuple[QWidget, ...]:
        """Everything that takes the focus, in the order of the keys."""
        return (self.name, self.kind, self.remove, self.description, self.required)

    def show_row(self, row: FieldRow) -> None:
        """Show how the field is now; what is being written stays as it is."""
        before, self.row = self.row, row
        if row.name != before.name:
            self.say_wrong("")
        if row != before:
            self._fill()

    def say_wrong(self, words: str) -> None:
        """Say what is wrong with the name that was written."""
        self._wrong_words = words
        self._show_wrong()

    def show_problem(self, words: str) -> None:
        """Say what keeps the schema from being used."""
        if words != self._problem:
            self._problem = words
            self._show_wrong()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the field with Alt and an arrow; notice when a control is left."""
        if event.type() == QEvent.Type.FocusOut:
            self.left.emit()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
            by = steps.get(Qt.Key(event.key()))
            if by is not None and event.modifiers() == Qt.KeyboardModifier.AltModifier:
                self.move_wanted.emit(self, by)
                return True
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        for line in (first, second):
            line.setSpacing(6)
        first.addWidget(self.name, 1)
        first.addWidget(self.kind)
        first.addWidget(self.remove)
        second.addWidget(self.description, 1)
        second.addWidget(self.required)
        box = QVBoxLayout(self)
        box.setContentsMargins(8 + self.row.depth * INDENT, 6, 4, 6)
        box.setSpacing(5)
        box.addLayout(first)
        box.addLayout(second)
        box.addWidget(self._more)
        box.addWidget(self._wrong)

    def _connect(self) -> None:
        self.name.textEdited.connect(self._on_name)
        self.description.textEdited.connect(self._on_description)
        self.kind.activated.connect(self._on_kind)
        self.required.clicked.connect(self._on_required)
        self.remove.clicked.connect(self._on_remove)
        for control in self.controls():
            control.installEventFilter(self)

    def _fill(self) -> None:
        row = self.row
        for line, text in ((self.name, row.name), (self.description, row.description)):
            is_being_written = line is self.name and (
                line.text().strip() == text or bool(self._wrong_words)
            )
            if line.text() != text and not is_being_written:
                line.setText(text)
                line.setCursorPosition(0)
        is_other = row.kind == OTHER
        entries = [_OTHER_WORDS] if is_other else list(KINDS.values())
        self.kind.show_entries(entries, 0 if is_other else list(KINDS).index(row.kind))
        self.kind.setEnabled(not is_other)
        self.description.setEnabled(not is_other)
        self.required.setChecked(row.is_required)
        self._more.setText(f"Also: {row.more}" if row.more and not is_other else "")
        self._more.setVisible(bool(self._more.text()))
        of = f" of {row.name}"
        self.name.setAccessibleName(f"Name of the field {row.name}")
        self.kind.setAccessibleName(f"Kind{of}")
        self.description.setAccessibleName(f"Description{of}")
        self.required.setAccessibleName(f"Required: {row.name}")
        self.remove.setAccessibleName(f"Remove {row.name}")
        self.remove.setToolTip(f"Remove {row.name}")

    def _show_wrong(self) -> None:
        self._wrong.setText(self.wrong)
        self._wrong.setVisible(bool(self.wrong))
        self.name.setAccessibleDescription(self.wrong)
        mark_wrong(self.name, bool(self.wrong))

    def _dress(self) -> None:
        self.remove.setIcon(self._theme.icons.icon("close", size=12))

    def _on_name(self, text: str) -> None:
        self.named.emit(self, text)

    def _on_description(self, text: str) -> None:
        self.described.emit(self, text)

    def _on_kind(self, index: int) -> None:
        self.kind_chosen.emit(self, list(KINDS)[index])

    def _on_required(self) -> None:
        self.required_set.emit(self, self.required.isChecked())

    def _on_remove(self) -> None:
        self.remove_wanted.emit(self)

"""A bar to look for words in the conversation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.theme.theme import Theme

_PAUSE_MS = 120


class FindBar(QFrame):
    """A field, how many there are, and the way from one to the next.

    Signals:
        looked: Other words are looked for; empty for none.
        stepped: By how many matches to go on: 1 or -1.
        closed: The bar was closed.
    """

    looked = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "popover")
        self.setAccessibleName("Find in the conversation")
        self.field = QLineEdit(self)
        self.field.setPlaceholderText("Find in the conversation")
        self.field.setAccessibleName("Find in the conversation")
        self.field.setMinimumWidth(220)
        self.field.installEventFilter(self)
        self.count = QLabel(self)
        self.count.setProperty("kind", "small")
        self.count.setMinimumWidth(72)
        self._buttons = {
            "chevron-up": self._button("Previous match (Shift+Enter)", -1),
            "chevron-down": self._button("Next match (Enter)", 1),
            "close": self._button("Close (Escape)", 0),
        }
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(6)
        row.addWidget(self.field)
        row.addWidget(self.count)
        for button in self._buttons.values():
            row.addWidget(button)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self._look)
        self.field.textChanged.connect(self._pause.start)
        theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def ask(self) -> None:
        """Open with the words of last time, to be typed over."""
        self.show()
        self.raise_()
        self.field.setFocus()
        self.field.selectAll()
        self._look()

    def show_count(self, number: int, count: int) -> None:
        """Say which of how many matches is shown."""
        if not self.field.text():
            words = ""
        else:
            words = f"{number} of {count}" if count else "Nothing found"
        self.count.setText(words)
        for name in ("chevron-up", "chevron-down"):
            self._buttons[name].setEnabled(count > 0)

    def dismiss(self) -> None:
        """Close the bar; what was marked is marked no longer."""
        self._pause.stop()
        self.hide()
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter goes on, Escape closes."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self._step(-1 if is_back else 1)
                return True
        return super().eventFilter(watched, event)

    def _step(self, by: int) -> None:
        if self._pause.isActive():
            self._look()
        else:
            self.stepped.emit(by)

    def _look(self) -> None:
        self._pause.stop()
        self.looked.emit(self.field.text())

    def _button(self, tip: str, by: int) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        if by:
            button.clicked.connect(lambda: self._step(by))
        else:
            button.clicked.connect(self.dismiss)
        return button

    def _dress(self) -> None:
        for name, button in self._buttons.items():
            button.setIcon(self._theme.icons.icon(name))

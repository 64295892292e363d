"""What waits for the person in every open run: one list, one key away, never in the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from app.theme.theme import Theme

_WIDTH = 340


class WaitingEntry(NamedTuple):
    """One thing that waits; `kind` is `question`, `budget`, `approval`, `uncertain` or `retry`.

    `matter` is the id of the question, the approval or the call that it is about.
    """

    run_id: str
    node_id: str
    kind: str
    path: str
    text: str = ""
    matter: str = ""


WORDS = {
    "question": "asks a question",
    "budget": "has reached its limit",
    "approval": "needs approval",
    "uncertain": "may have run or not",
    "retry": "failed and can be retried",
}


class WaitingList(QFrame):
    """A list over the window; it takes the focus only when the person has asked for it.

    Signals:
        chosen: The `WaitingEntry` to go to.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._entries: list[WaitingEntry] = []
        self._rows: list[QPushButton] = []
        self._back_to: QWidget | None = None
        self._gone_to: WaitingEntry | None = None
        self.setProperty("kind", "popover")
        self.setAccessibleName("What waits for you")
        self._title = QLabel("Waiting for you", self)
        self._title.setProperty("kind", "section")
        self._title.setContentsMargins(8, 2, 8, 4)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(6, 8, 6, 8)
        self._box.setSpacing(2)
        self._box.addWidget(self._title)
        window.installEventFilter(self)
        self.hide()

    @property
    def entries(self) -> list[WaitingEntry]:
        """What waits now."""
        return self._entries

    def show_entries(self, entries: Sequence[WaitingEntry]) -> None:
        """Take over what waits now; an open list follows, without touching the focus elsewhere."""
        if list(entries) == self._entries:
            return
        self._announce(entries)
        self._entries = list(entries)
        focused = next((index for index, row in enumerate(self._rows) if row.hasFocus()), -1)
        for row in self._rows:
            self._box.removeWidget(row)
            row.deleteLater()
        self._rows = [self._row(entry) for entry in self._entries]
        for row in self._rows:
            self._box.addWidget(row)
        if not self._entries:
            self.close_list()
        elif self.isVisible():
            self._place()
            if focused >= 0:
                self._rows[min(focused, len(self._rows) - 1)].setFocus()

    def next_after(self, current: WaitingEntry | None) -> WaitingEntry | None:
        """The entry after this one, the first after the last; `None` where nothing waits."""
        if not self._entries:
            return None
        at = self._entries.index(current) + 1 if current in self._entries else 0
        return self._entries[at % len(self._entries)]

    def go_to_next(self) -> None:
        """Go to what waits, one thing after the other."""
        self._gone_to = self.next_after(self._gone_to)
        if self._gone_to is not None:
            self.close_list()
            self.chosen.emit(self._gone_to)

    def toggle(self) -> None:
        """Open the list and go into it, or close it and go back."""
        if self.isVisible():
            self.close_list()
        elif self._entries:
            self._back_to = QApplication.focusWidget()
            self._place()
            self.show()
            self.raise_()
            self._rows[0].setFocus()

    def close_list(self) -> None:
        """Close it; the focus goes back to where it was."""
        if not self.isVisible():
            return
        inside = self.isAncestorOf(QApplication.focusWidget() or self._window)
        self.hide()
        if inside and self._back_to is not None:
            self._back_to.setFocus()
        self._back_to = None

    def row_texts(self) -> list[str]:
        """What the rows say."""
        return [row.text() for row in self._rows]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk through the rows, choose one, or close the list."""
        keys = Qt.Key
        step = {keys.Key_Down: 1, keys.Key_Up: -1}.get(keys(event.key()))
        if event.key() == keys.Key_Escape:
            self.close_list()
        elif step is not None and self._rows:
            at = next((i for i, row in enumerate(self._rows) if row.hasFocus()), 0)
            self._rows[(at + step) % len(self._rows)].setFocus()
        elif event.key() in (keys.Key_Return, keys.Key_Enter):
            for row in self._rows:
                if row.hasFocus():
                    row.click()
                    return
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the window's corner."""
        if watched is self._window and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _announce(self, entries: Sequence[WaitingEntry]) -> None:
        """Let a screen reader say what has begun to wait."""
        new = [entry for entry in entries if entry not in self._entries]
        if new and QAccessible.isActive():
            words = ", ".join(f"{entry.path} {WORDS.get(entry.kind, 'waits')}" for entry in new)
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _row(self, entry: WaitingEntry) -> QPushButton:
        words = WORDS.get(entry.kind, "waits")
        row = QPushButton(f"{entry.path} {words}", self)
        row.setProperty("kind", "row")
        row.setToolTip(entry.text or row.text())
        row.setAccessibleDescription(entry.text)
        row.clicked.connect(self._on_clicked)
        return row

    def _on_clicked(self) -> None:
        row = self.sender()
        for index, other in enumerate(self._rows):
            if other is row:
                entry = self._entries[index]
                self._back_to = None
                self._gone_to = entry
                self.hide()
                self.chosen.emit(entry)
                return

    def _place(self) -> None:
        height = self._box.totalSizeHint().height()
        width = min(max(_WIDTH, self._box.totalSizeHint().width()), self._window.width() - 32)
        self.setGeometry(self._window.width() - width - 16, 54, width, height)

"""The list at the left: the workflows that were open before, and the example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from app.kit.elided_label import ElidedLabel
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme


class WorkflowEntry(NamedTuple):
    """One workflow; `status` is that of its run, empty where it has none."""

    path: Path
    name: str
    status: str = ""


_RUN_MARKS = {
    "running": ("disc", "running", "running"),
    "paused": ("question", "waiting", "waiting for you"),
    "completed": ("check", "done", "done"),
    "failed": ("cross", "failed", "failed"),
    "stopped": ("square", "idle", "stopped"),
}


class Sidebar(QFrame):
    """The list.

    Signals:
        chosen: Path of the workflow to show.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions = actions
        self._entries: list[WorkflowEntry] = []
        self._rows: dict[Path, QPushButton] = {}
        self._current: Path | None = None
        self.setProperty("kind", "panel")
        self._logo = QLabel(self)
        name = QLabel("OpenFlow", self)
        name.setProperty("kind", "title")
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(self._logo)
        head.addWidget(name, 1)
        section = QLabel("WORKFLOWS", self)
        section.setProperty("kind", "section")
        section.setContentsMargins(8, 0, 0, 0)
        self._list: QVBoxLayout | None = None
        self._open = self._row("Open Workflow…")
        self._open.setToolTip(actions.tip("open"))
        self._open.clicked.connect(actions["open"].trigger)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(8, 14, 8, 8)
        self._box.setSpacing(6)
        self._box.addLayout(head)
        self._box.addSpacing(12)
        self._box.addWidget(section)
        self._box.addStretch(0)
        self._box.addWidget(self._open)
        theme.changed.connect(self._dress)
        self._dress()

    def show_entries(self, entries: Sequence[WorkflowEntry], current: Path | None) -> None:
        """Show these workflows; `current` is the open one."""
        if list(entries) == self._entries and current == self._current:
            return
        self._entries = list(entries)
        self._current = current
        focused = next((path for path, row in self._rows.items() if row.hasFocus()), None)
        rows = self._row_layout()
        for row in self._rows.values():
            rows.removeWidget(row)
            row.deleteLater()
        self._rows = {}
        for index, entry in enumerate(self._entries):
            row = self._entry_row(entry)
            rows.insertWidget(index, row)
            self._rows[entry.path] = row
        if focused in self._rows:
            self._rows[focused].setFocus()

    def entries(self) -> tuple[WorkflowEntry, ...]:
        """What is listed, from top to bottom."""
        return tuple(self._entries)

    def names(self) -> list[str]:
        """What is listed, from top to bottom."""
        return [entry.name for entry in self._entries]

    def _row_layout(self) -> QVBoxLayout:
        """The scrolled list; made when there is something to list: after the first frame."""
        if self._list is None:
            inside = QWidget(self)
            self._list = QVBoxLayout(inside)
            self._list.setContentsMargins(0, 0, 0, 0)
            self._list.setSpacing(2)
            self._list.addStretch(1)
            area = QScrollArea(self)
            area.setFrameShape(QFrame.Shape.NoFrame)
            area.setWidgetResizable(True)
            area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            area.setWidget(inside)
            self._box.insertWidget(3, area, 1)
        return self._list

    def _entry_row(self, entry: WorkflowEntry) -> QPushButton:
        row = self._row("")
        row.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row.setCheckable(True)
        row.setChecked(entry.path == self._current)
        row.setProperty("path", str(entry.path))
        row.clicked.connect(self._on_clicked)
        icon = QLabel(row)
        icon.setPixmap(self._theme.icons.pixmap("workflow"))
        inside = QHBoxLayout(row)
        inside.setContentsMargins(8, 0, 8, 0)
        inside.setSpacing(6)
        inside.addWidget(icon)
        inside.addWidget(ElidedLabel(entry.name, row), 1)
        words = entry.name
        mark = _RUN_MARKS.get(entry.status)
        if mark is not None:
            shape, color, meaning = mark
            words = f"{entry.name}, {meaning}"
            inside.addWidget(StatusMark(self._theme, shape, color, 11, row))
        row.setAccessibleName(words)
        row.setToolTip(f"{words}\n{entry.path}")
        return row

    def _row(self, text: str) -> QPushButton:
        row = QPushButton(text, self)
        row.setProperty("kind", "row")
        return row

    def _on_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, QPushButton):
            row.setChecked(Path(str(row.property("path"))) == self._current)
            self.chosen.emit(Path(str(row.property("path"))))

    def _dress(self) -> None:
        self._logo.setPixmap(self._theme.icons.pixmap("openflow", "text", 18))
        self._open.setIcon(self._theme.icons.icon("open"))
        entries, self._entries = self._entries, []
        if entries:
            self.show_entries(entries, self._current)

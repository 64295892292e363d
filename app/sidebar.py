"""The panel at the left: everything a person keeps, a field to filter it, and what can be added."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from app.library.rows import Branch, Row, WorkflowEntry, flat, tree
from app.library.tree_view import LibraryTree
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.library.entries import Catalogue

__all__ = ["Sidebar", "WorkflowEntry"]

_ADDING = ("new", "new_chat", "import", "add_project", "new_agent")


class Sidebar(QFrame):
    """The panel; the list in it is `library`.

    Signals:
        chosen: Path of the workflow to show.
        filtered: What the list is filtered for now.
    """

    chosen = Signal(object)
    filtered = Signal(str)

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions = actions
        self._entries: tuple[WorkflowEntry, ...] = ()
        self._current: Path | None = None
        self._catalogue: Catalogue | None = None
        self._found: tuple[str, Collection[Path]] = ("", ())
        self._menu: QMenu | None = None
        self.setProperty("kind", "panel")
        self._logo = QLabel(self)
        name = QLabel("OpenFlow", self)
        name.setProperty("kind", "title")
        self.add_button = QToolButton(self)
        self.add_button.setAccessibleName("Add to the library")
        self.add_button.setToolTip("New, import, add a project")
        self.add_button.clicked.connect(self._offer_adding)
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 0, 0)
        head.setSpacing(8)
        head.addWidget(self._logo)
        head.addWidget(name, 1)
        head.addWidget(self.add_button)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText("Filter")
        self.filter.setAccessibleName("Filter the library")
        self.filter.textChanged.connect(self._on_filter)
        self.filter.installEventFilter(self)
        self.library = LibraryTree(theme, self)
        self.library.opened.connect(self._on_opened)
        self._open = QPushButton("Open Workflow…", self)
        self._open.setProperty("kind", "row")
        self._open.setToolTip(actions.tip("open"))
        self._open.clicked.connect(actions["open"].trigger)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 10, 8, 8)
        box.setSpacing(6)
        box.addLayout(head)
        box.addWidget(self.filter)
        box.addWidget(self.library, 1)
        box.addWidget(self._open)
        theme.changed.connect(self._dress)
        self._dress()

    def show_entries(self, entries: Sequence[WorkflowEntry], current: Path | None) -> None:
        """Show what the window knows of: files that were open, what runs; `current` is open now."""
        if tuple(entries) != self._entries or current != self._current:
            self._entries, self._current = tuple(entries), current
            self._fill()

    def show_catalogue(self, catalogue: Catalogue) -> None:
        """Show what is kept."""
        self._catalogue = catalogue
        self._fill()

    def show_found(self, words: str, found: Collection[Path]) -> None:
        """Show files that have these words inside, as long as the list is filtered for them."""
        self._found = (words, found)
        self._fill()

    def entries(self) -> tuple[WorkflowEntry, ...]:
        """Every workflow, filtered out or not, from top to bottom."""
        rows = (
            row for row in flat(tree(self._catalogue, self._entries, self._current)) if row.is_file
        )
        return tuple(WorkflowEntry(row.path, row.name, row.status) for row in rows if row.path)

    def names(self) -> list[str]:
        """The names of every workflow, filtered out or not, from top to bottom."""
        return [entry.name for entry in self.entries()]

    def rows(self) -> tuple[Row, ...]:
        """What is listed now, from top to bottom."""
        return tuple(flat(self._tree()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down leads from the field into the list, Escape empties it, Enter opens the first."""
        is_press = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if watched is self.filter and isinstance(event, QKeyEvent) and is_press:
            return self._press(event)
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        match event.key():
            case Qt.Key.Key_Down:
                self._go_to_first()
                self.library.setFocus()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                row = self._go_to_first()
                if row is not None and self.filter.text().strip():
                    self.library.opened.emit(row)
            case Qt.Key.Key_Escape if self.filter.text():
                self.filter.clear()
            case _:
                return False
        return True

    def _go_to_first(self) -> Row | None:
        """Put the keys on the first row that is more than a heading."""
        for row in self.rows():
            if row.kind not in ("section", "hint", "project"):
                self.library.go_to(row.key)
                return row
        return None

    def _on_filter(self, words: str) -> None:
        self._fill()
        self.filtered.emit(words)

    def _on_opened(self, row: Row) -> None:
        if row.is_file and row.path is not None:
            self.chosen.emit(row.path)

    def _fill(self) -> None:
        self.library.show_tree(self._tree(), self._current)

    def _tree(self) -> tuple[Branch, ...]:
        words = self.filter.text()
        found = self._found[1] if words == self._found[0] else ()
        return tree(self._catalogue, self._entries, self._current, words, found)

    def _offer_adding(self) -> None:
        if self._menu is None:
            self._menu = QMenu(self)
            for action_id in _ADDING:
                self._menu.addAction(self._actions[action_id])
        self._menu.popup(self.add_button.mapToGlobal(QPoint(0, self.add_button.height() + 4)))

    def _dress(self) -> None:
        self._logo.setPixmap(self._theme.icons.pixmap("openflow", "text", 18))
        self._open.setIcon(self._theme.icons.icon("open"))
        self.add_button.setIcon(self._theme.icons.icon("plus"))

"""Find and replace over everything that is written in the open workflow, in a panel over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QToolButton,
    QVBoxLayout,
)

from app.kit.formats import plural
from app.main_window import MainWindow

if TYPE_CHECKING:
    from engine.graph.text_search import Match, Query

_WIDTH = 380
_MARGIN = 14
_ROWS_SHOWN = 6
_WAIT_MS = 80


class FindPanel(QFrame):
    """The panel of one window. It looks at names, prompts, handoff templates and notes."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window.canvas)
        self._theme = window.theme
        self._canvas = window.canvas
        self._scene = window.scene
        self._document = window.document
        self._matches: tuple[Match, ...] = ()
        self.setProperty("kind", "popover")
        self.setAccessibleName("Find and replace")
        self.field = self._line("Find in names, prompts and notes")
        self.replacement = self._line("Replace with")
        self.match_case = self._switch("Aa", "Match case")
        self.is_pattern = self._switch(".*", "Regular expression")
        self.told = QLabel(self)
        self.told.setProperty("kind", "small")
        self.told.setWordWrap(True)
        self.replace_one = QPushButton("Replace", self)
        self.replace_one.clicked.connect(self._on_replace_one)
        self.replace_all = QPushButton("Replace All", self)
        self.replace_all.clicked.connect(self._on_replace_all)
        self._close = QToolButton(self)
        self._close.setAccessibleName("Close find and replace")
        self._close.clicked.connect(self.dismiss)
        self.list = QListWidget(self)
        self.list.setProperty("kind", "matches")
        self.list.setAccessibleName("Matches")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.currentRowChanged.connect(self._go_to)
        self.list.itemActivated.connect(self._open)
        self._build()
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_WAIT_MS)
        self._due.timeout.connect(self.look)
        self.field.textChanged.connect(self._look_soon)
        for switch in (self.match_case, self.is_pattern):
            switch.toggled.connect(self._look_soon)
        self._document.edited.connect(self._on_edited)
        self._document.replaced.connect(self._on_edited)
        self._canvas.installEventFilter(self)
        window.theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    @property
    def matches(self) -> tuple[Match, ...]:
        """What is found now."""
        return self._matches

    def ask(self) -> None:
        """Open it, or go back to it."""
        self.show()
        self.raise_()
        self.look()
        self.field.setFocus()
        self.field.selectAll()

    def dismiss(self) -> None:
        """Close it; the keys go back to the canvas."""
        self._due.stop()
        self.hide()
        self._canvas.setFocus()

    def look(self) -> None:
        """Look again, and say what was found or why nothing could be."""
        from engine.graph.text_search import MAX_MATCHES, PatternError, search, texts

        self._due.stop()
        workflow = self._document.workflow
        row = self.list.currentRow()
        self._matches = ()
        words = ""
        try:
            if workflow is not None and self.field.text():
                self._matches = search(tuple(texts(workflow)), self._query())
                more = " or more" if len(self._matches) == MAX_MATCHES else ""
                words = f"{plural(len(self._matches), 'match')}{more}"
                words = words.replace("matchs", "matches") if self._matches else "Nothing found"
        except PatternError as error:
            words = _sentence(error)
        self.told.setText(words)
        self.told.setVisible(bool(words))
        self._fill(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and the arrows in the field lead through what was found."""
        if event.type() == QEvent.Type.Resize and watched is self._canvas:
            self._place()
        is_press = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if watched is self.field and is_press and isinstance(event, QKeyEvent):
            back = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
            step = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_Return: -1 if back else 1,
                Qt.Key.Key_Enter: -1 if back else 1,
            }.get(Qt.Key(event.key()))
            if step is not None:
                self._step(step)
                return True
        return super().eventFilter(watched, event)

    def _line(self, words: str) -> QLineEdit:
        field = QLineEdit(self)
        field.setPlaceholderText(words)
        field.setAccessibleName(words)
        field.installEventFilter(self)
        return field

    def _switch(self, text: str, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setText(text)
        button.setCheckable(True)
        button.setToolTip(words)
        button.setAccessibleName(words)
        return button

    def _build(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(6)
        grid.addWidget(self.field, 0, 0)
        switches = QHBoxLayout()
        switches.setSpacing(2)
        for widget in (self.match_case, self.is_pattern, self._close):
            switches.addWidget(widget)
        grid.addLayout(switches, 0, 1)
        grid.addWidget(self.replacement, 1, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self.told, 1)
        buttons.addWidget(self.replace_one)
        buttons.addWidget(self.replace_all)
        box = QVBoxLayout(self)
        box.setContentsMargins(10, 10, 10, 10)
        box.setSpacing(8)
        box.addLayout(grid)
        box.addLayout(buttons)
        box.addWidget(self.list)

    def _query(self) -> Query:
        from engine.graph.text_search import Query

        return Query(self.field.text(), self.match_case.isChecked(), self.is_pattern.isChecked())

    def _look_soon(self, *_: object) -> None:
        self._due.start()

    def _on_edited(self, *_: object) -> None:
        if self.isVisible():
            self._due.start()

    def _fill(self, row: int) -> None:
        self.list.blockSignals(True)
        self.list.clear()
        for match in self._matches:
            before, found, after = match.excerpt()
            owner = self._owner(match)
            line = f" · line {match.line}" if "\n" in match.text else ""
            item = QListWidgetItem(f"{owner} · {match.field}{line}\n{before}{found}{after}")
            item.setToolTip(item.text())
            self.list.addItem(item)
        if self._matches:
            self.list.setCurrentRow(min(max(row, 0), len(self._matches) - 1))
        self.list.blockSignals(False)
        for button in (self.replace_one, self.replace_all):
            button.setEnabled(bool(self._matches))
        self.list.setVisible(bool(self._matches))
        height = self.list.sizeHintForRow(0) if self._matches else 0
        self.list.setMinimumHeight(height + 4)
        self.list.setMaximumHeight(height * min(_ROWS_SHOWN, len(self._matches)) + 4)
        self._place()

    def _owner(self, match: Match) -> str:
        if match.field == "note":
            return "Note"
        return self._document.label(match.owner_id) if match.owner_id else "Workflow"

    def _step(self, by: int) -> None:
        if self._due.isActive():
            self.look()
            by = 0
        if self._matches:
            row = (max(self.list.currentRow(), 0) + by) % len(self._matches)
            self.list.setCurrentRow(row)
            self._go_to(row)

    def _go_to(self, row: int) -> None:
        if not 0 <= row < len(self._matches):
            return
        match = self._matches[row]
        if match.field == "note":
            self._scene.choose(notes=[match.owner_id])
        elif match.owner_id:
            self._scene.choose_node(match.owner_id)
            self._canvas.reveal(match.owner_id)

    def _open(self, _: QListWidgetItem) -> None:
        self._go_to(self.list.currentRow())
        self.dismiss()

    def _on_replace_one(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._matches):
            self._replace((self._matches[row],), "Replace one match")

    def _on_replace_all(self) -> None:
        places = "1 place" if len(self._matches) == 1 else f"{len(self._matches)} places"
        self._replace(self._matches, f"Replace in {places}")

    def _replace(self, matches: tuple[Match, ...], step: str) -> None:
        from engine.graph.text_search import PatternError, replaced

        query, text = self._query(), self.replacement.text()
        self._document.end_typing()
        try:
            self._document.edit(step, lambda workflow: replaced(workflow, matches, query, text))
        except PatternError as error:
            self.told.setText(_sentence(error))
            self.told.show()
            return
        self.look()

    def _place(self) -> None:
        canvas = self._canvas
        width = min(_WIDTH, canvas.width() - 2 * _MARGIN)
        self.setFixedWidth(max(200, width))
        self.adjustSize()
        room = max(120, canvas.height() - 2 * _MARGIN)
        self.setFixedHeight(min(self.sizeHint().height(), room))
        self.move(canvas.width() - self.width() - _MARGIN, _MARGIN)

    def _dress(self) -> None:
        self._close.setIcon(self._theme.icons.icon("close"))


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:]

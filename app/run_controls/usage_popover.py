"""What each node of a run has used up: a small table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QWidget

from app.run_controls.popover import Popover
from app.run_controls.usage import UsageRow

_HEADS = ("", "Time", "In", "Cached", "Out", "Cost")
_MOST_HEIGHT = 320


class UsagePopover(Popover):
    """A line for each node, the run's own last."""

    def __init__(self, window: QWidget) -> None:
        super().__init__("What this run has used up", window)
        title = QLabel("What this run has used up", self)
        title.setProperty("kind", "title")
        self._inside = QWidget(self)
        self._grid = QGridLayout(self._inside)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(5)
        self._area = QScrollArea(self)
        self._area.setWidget(self._inside)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._note = QLabel(self)
        self._note.setProperty("kind", "small")
        self._note.setWordWrap(True)
        for widget in (title, self._area, self._note):
            self.box.addWidget(widget)
        self._shown: list[UsageRow] = []

    def show_rows(self, rows: Sequence[UsageRow], note: str) -> None:
        """Show these lines, and a sentence about them below."""
        self._note.setText(note)
        self._note.setVisible(bool(note))
        if list(rows) == self._shown:
            return
        self._shown = list(rows)
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for column, head in enumerate(_HEADS):
            self._put(0, column, head, "caption" if head else "small")
        for line, row in enumerate(rows, start=1):
            is_total = line == len(rows)
            for column, text in enumerate(row):
                self._put(line, column, text, "caption" if is_total else "")
        self._grid.setColumnStretch(0, 1)
        hint = self._inside.sizeHint()
        self._area.setFixedHeight(min(hint.height(), _MOST_HEIGHT))
        self._area.setMinimumWidth(hint.width() + 12)

    def texts(self) -> list[tuple[str, ...]]:
        """What the lines say."""
        return [tuple(row) for row in self._shown]

    def _put(self, line: int, column: int, text: str, kind: str) -> None:
        label = QLabel(text, self._inside)
        label.setTextFormat(Qt.TextFormat.PlainText)
        if kind:
            label.setProperty("kind", kind)
        if column:
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._grid.addWidget(label, line, column)

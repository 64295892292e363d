"""The trace: what happened when, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.history.trace_model import TraceModel
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.view_values import TraceEntry


class TracePanel(QWidget):
    """Shows one trace.

    Signals:
        node_chosen: Id of the node whose row was chosen.
    """

    node_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TraceModel(theme, self)
        self._view = QTreeView(self)
        self._view.setModel(self.model)
        self._view.setRootIsDecorated(False)
        self._view.setUniformRowHeights(True)
        self._view.setAllColumnsShowFocus(True)
        self._view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setAccessibleName("Trace")
        self._view.clicked.connect(self._on_chosen)
        self._view.activated.connect(self._on_chosen)
        header = self._view.header()
        header.setSectionsMovable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, width in enumerate((84, 104, 190)):
            header.resizeSection(column, width)
        header.setSectionResizeMode(3, QHeaderView.ResizeMode.Stretch)
        self._empty = QLabel("Nothing has happened yet.", self)
        self._empty.setProperty("kind", "second")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._view)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 0, 8, 10)
        box.addWidget(self._stack)

    def follow(self, entries: Sequence[TraceEntry]) -> None:
        """Show what the list holds now; stays at the end if the end is in view."""
        bar = self._view.verticalScrollBar()
        was_at_end = bar.value() >= bar.maximum() - 2
        self.model.follow(entries)
        self._stack.setCurrentIndex(1 if entries else 0)
        if was_at_end and entries:
            self._view.scrollToBottom()

    def _on_chosen(self, index: QModelIndex) -> None:
        node_id = self.model.node_at(index.row())
        if node_id:
            self.node_chosen.emit(node_id)

"""The trace as a list: what happened when, one row each."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.theme.theme import Theme
from app.trace.trace_model import TraceModel


class TraceList(QWidget):
    """Shows one trace.

    Signals:
        node_chosen: Id of the node whose row was chosen.
    """

    node_chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TraceModel(theme, self)
        self._shown = 0
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
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 0, 8, 10)
        box.addWidget(self._view)

    def catch_up(self) -> None:
        """Stay at the end if the end was in view."""
        bar = self._view.verticalScrollBar()
        if self._shown != self.model.rowCount():
            if bar.value() >= bar.maximum() - 2 or not self._shown:
                self._view.scrollToBottom()
            self._shown = self.model.rowCount()

    def _on_chosen(self, index: QModelIndex) -> None:
        node_id = self.model.node_at(index.row())
        if node_id:
            self.node_chosen.emit(node_id)

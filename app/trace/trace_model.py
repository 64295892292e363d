"""The rows of a run's trace, added in batches."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    Qt,
)
from PySide6.QtGui import QGuiApplication, QPainter, QPixmap

from app.theme.statuses import paint_mark
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.view_values import TraceEntry

COLUMNS = ("Time", "Status", "Node", "What happened")
_LOOKS = {
    "queued": ("Queued", "dots", "idle"),
    "running": ("Running", "disc", "running"),
    "paused": ("Waiting", "question", "waiting"),
    "failed": ("Failed", "cross", "failed"),
    "stopped": ("Stopped", "square", "idle"),
    "completed": ("Done", "check", "done"),
}
_NO_PARENT = QModelIndex()


class TraceModel(QAbstractTableModel):
    """Follows a list that only grows."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: Sequence[TraceEntry] = ()
        self._count = 0
        self._marks: dict[str, QPixmap] = {}
        theme.changed.connect(self._restyle)

    def follow(self, entries: Sequence[TraceEntry]) -> None:
        """Show what the list holds now; another list than before is shown from its start."""
        if entries is not self._entries:
            self.beginResetModel()
            self._entries = entries
            self._count = len(entries)
            self.endResetModel()
        elif len(entries) > self._count:
            self.beginInsertRows(_NO_PARENT, self._count, len(entries) - 1)
            self._count = len(entries)
            self.endInsertRows()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """How many rows there are."""
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """The columns' titles."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        return None

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """What a cell shows."""
        entry = self._entries[index.row()]
        words, _, _ = _LOOKS.get(str(entry.status), (str(entry.status), "ring", "idle"))
        if role == Qt.ItemDataRole.DisplayRole:
            time = clock.strftime("%H:%M:%S", clock.localtime(entry.time))
            return (time, words, entry.node_label, entry.message)[index.column()]
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 1:
            return self._mark(str(entry.status))
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 3:
            return entry.message
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == 0:
            return self._theme.tokens.color("text_second")
        return None

    def node_at(self, row: int) -> str:
        """The id of the row's node; empty for rows of the run as a whole."""
        return self._entries[row].node_id

    def _mark(self, status: str) -> QPixmap:
        pixmap = self._marks.get(status)
        if pixmap is None:
            _, mark, color = _LOOKS.get(status, ("", "ring", "idle"))
            ratio = QGuiApplication.primaryScreen().devicePixelRatio()
            pixmap = QPixmap(round(14 * ratio), round(14 * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_mark(painter, QPointF(7, 7), 12, mark, self._theme.tokens.color(color))
            painter.end()
            self._marks[status] = pixmap
        return pixmap

    def _restyle(self) -> None:
        self._marks = {}
        if self._count:
            last = self.index(self._count - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

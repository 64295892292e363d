"""The rows of the list of stored runs, fetched page by page as the person scrolls."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    Qt,
    Signal,
)
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap

from app.history.run_words import (
    RunLook,
    moment_text,
    run_look,
    time_taken,
    tokens_text,
    whole_moment,
)
from app.theme.statuses import paint_mark
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.stored import StoredRun

COLUMNS = ("Run", "Status", "Workflow", "Changed", "Took", "Tokens")
NAME, STATUS, WORKFLOW, CHANGED, TOOK, TOKENS = range(len(COLUMNS))
PAGE = 200
_NO_PARENT = QModelIndex()
_RIGHT = (TOOK, TOKENS)


class RunTableModel(QAbstractTableModel):
    """Holds what was fetched so far.

    Signals:
        wanted: The rows from this number on are to be fetched; the answer is `add_page`.
        named: Id and new name of a run whose name was edited.
    """

    wanted = Signal(int)
    named = Signal(str, str)

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: list[StoredRun] = []
        self._has_more = False
        self._is_fetching = False
        self._marks: dict[tuple[str, str], QIcon] = {}
        theme.changed.connect(self._restyle)

    def show_runs(self, runs: Sequence[StoredRun], *, has_more: bool) -> None:
        """Begin anew with these; `has_more`: further ones can be fetched."""
        self.beginResetModel()
        self._runs = list(runs)
        self._has_more = has_more
        self._is_fetching = False
        self.endResetModel()

    def add_page(self, runs: Sequence[StoredRun], *, has_more: bool) -> None:
        """Add the page that was wanted."""
        self._is_fetching = False
        self._has_more = has_more
        if runs:
            first = len(self._runs)
            self.beginInsertRows(_NO_PARENT, first, first + len(runs) - 1)
            self._runs += runs
            self.endInsertRows()

    def fetching_failed(self) -> None:
        """The page that was wanted could not be had; it is wanted again when next in view."""
        self._is_fetching = False

    def run_at(self, row: int) -> StoredRun | None:
        """The run in a row."""
        return self._runs[row] if 0 <= row < len(self._runs) else None

    def row_of(self, run_id: str) -> int:
        """The row of a run; -1 if it is not among those that were fetched."""
        return next((row for row, run in enumerate(self._runs) if run.run_id == run_id), -1)

    def want_more(self) -> None:
        """Ask for the next page, if there is one; it comes later.

        Qt's own `fetchMore` is not used: a tree view calls it each time it is laid out.
        """
        if self._has_more and not self._is_fetching:
            self._is_fetching = True
            self.wanted.emit(len(self._runs))

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = _NO_PARENT) -> int:
        """How many rows were fetched."""
        return 0 if parent.isValid() else len(self._runs)

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
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _RIGHT:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Names can be edited in place."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == NAME else flags

    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: Any,
        role: int = Qt.ItemDataRole.EditRole,
    ) -> bool:
        """Ask for another name; it is shown once it is stored."""
        run, name = self._runs[index.row()], str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not name or name == run.name:
            return False
        self.named.emit(run.run_id, name)
        return True

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """What a cell shows."""
        run, column = self._runs[index.row()], index.column()
        roles = Qt.ItemDataRole
        if role == roles.DisplayRole:
            return self._text(run, column)
        if role == roles.EditRole and column == NAME:
            return run.name
        if role == roles.DecorationRole and column == NAME:
            return self._mark(run_look(run))
        if role == roles.TextAlignmentRole and column in _RIGHT:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == roles.ForegroundRole and column > STATUS:
            return self._theme.tokens.color("text_second")
        if role == roles.ToolTipRole:
            return self._tip(run, column)
        if role == roles.AccessibleTextRole and column == NAME:
            return f"{run.name}, {run_look(run).words}"
        return None

    def _text(self, run: StoredRun, column: int) -> str:
        if column == NAME:
            return run.name
        if column == STATUS:
            return run_look(run).words
        if column == WORKFLOW:
            return run.workflow_name
        if column == CHANGED:
            return moment_text(run.updated, time.time())
        return time_taken(run) if column == TOOK else tokens_text(run.tokens_in, run.tokens_out)

    def _tip(self, run: StoredRun, column: int) -> str:
        if column == CHANGED:
            return f"Started {whole_moment(run.started)}, changed {whole_moment(run.updated)}"
        if column == STATUS and run.driven_by:
            return f"Driven by {run.driven_by}"
        if column == STATUS and run.was_cut_off:
            return "The program ended in the middle of it; it can be resumed"
        if column == NAME:
            fork = f"\nForked from run {run.parent_id}" if run.parent_id else ""
            return f"{run.name}\n{run.run_id}{fork}"
        return self._text(run, column)

    def _mark(self, look: RunLook) -> QIcon:
        key = (look.mark, look.color)
        icon = self._marks.get(key)
        if icon is None:
            ratio = QGuiApplication.primaryScreen().devicePixelRatio()
            pixmap = QPixmap(round(14 * ratio), round(14 * ratio))
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            color = self._theme.tokens.color(look.color)
            paint_mark(painter, QPointF(7, 7), 12, look.mark, color)
            painter.end()
            icon = QIcon(pixmap)
            icon.addPixmap(pixmap, QIcon.Mode.Selected)  # else it is tinted in chosen rows
            self._marks[key] = icon
        return icon

    def _restyle(self) -> None:
        self._marks = {}
        if self._runs:
            last = self.index(len(self._runs) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

"""The list of stored runs with its search, its filters and its buttons."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app.history.run_menu import offers
from app.history.run_table_model import NAME, WORKFLOW, RunTableModel
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.stored import StoredRun

STATUSES = (
    ("", "Any status"),
    ("running", "Running or cut off"),
    ("paused", "Waiting"),
    ("completed", "Done"),
    ("failed", "Failed"),
    ("stopped", "Stopped"),
)
_BUTTONS = ("replay", "resume", "fork", "compare")
_IN_MENU = ("rename", "export", "report", "delete", "", "import", "prune")
_WIDTHS = ((1, 92), (2, 150), (3, 124), (4, 92), (5, 72))
_NARROW = 640
_TYPING_MS = 180


class Wanted(NamedTuple):
    """What the list is to show; an empty status means any."""

    text: str = ""
    status: str = ""
    only_this_workflow: bool = True


class RunTable(QTreeView):
    """The rows.

    Signals:
        asked: Id of what a key asks for.
    """

    asked = Signal(str)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return replays, Delete deletes; everything else is the view's."""
        if self.state() != QAbstractItemView.State.EditingState:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.asked.emit("replay")
                return
            if event.key() == Qt.Key.Key_Delete:
                self.asked.emit("delete")
                return
        super().keyPressEvent(event)


class RunList(QWidget):
    """Shows stored runs; what is asked of them is told.

    Signals:
        wanted_changed: Other runs are to be shown; see `wanted`.
        asked: Id of something that is asked of the chosen runs; see `run_menu`.
    """

    wanted_changed = Signal()
    asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model = RunTableModel(theme, self)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search runs")
        self.search.setAccessibleName("Search runs")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(130)
        self.search.setMaximumWidth(260)
        self._status = ""
        self._is_all = False
        self.status = QPushButton(STATUSES[0][1], self)
        self.status.setProperty("kind", "chip")
        self.status.setAccessibleName("Status of the runs shown")
        self.scope = QPushButton("This workflow", self)
        self.scope.setProperty("kind", "chip")
        self.scope.setCheckable(True)
        self.scope.setChecked(True)
        self.scope.setToolTip("Only runs of the workflow that is open")
        self.buttons = {offer_id: self._button(offer_id) for offer_id in _BUTTONS}
        self.more = QToolButton(self)
        self.more.setToolTip("More to do with runs")
        self.more.setAccessibleName("More to do with runs")
        self._menu = QMenu(self)
        self._actions: dict[str, QAction] = {}
        self.table = RunTable(self)
        self._empty = QLabel(self)
        self._stack = QStackedWidget(self)
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(_TYPING_MS)
        self._typing.timeout.connect(self.wanted_changed)
        self._build_table()
        self._build_menus()
        self._lay_out()
        self._connect()
        self._dress()
        self._show_offers()
        self.show_empty_text("Loading…")

    @property
    def wanted(self) -> Wanted:
        """What the person wants to see."""
        return Wanted(self.search.text().strip(), self._status, self.scope.isChecked())

    def chosen(self) -> list[StoredRun]:
        """The chosen runs, from top to bottom."""
        rows = sorted({index.row() for index in self.table.selectionModel().selectedRows()})
        return [run for row in rows if (run := self.model.run_at(row)) is not None]

    def choose(self, run_ids: list[str]) -> None:
        """Choose these runs, as far as they are in the list."""
        selection = self.table.selectionModel()
        selection.clearSelection()
        flags = QItemSelectionModel.SelectionFlag
        for run_id in run_ids:
            row = self.model.row_of(run_id)
            if row >= 0:
                index = self.model.index(row, NAME)
                selection.setCurrentIndex(index, flags.Select | flags.Rows)
        self._show_offers()

    def show_empty_text(self, text: str) -> None:
        """What stands where there is no run; the rows, if there are any, stay."""
        self._empty.setText(text)
        self._stack.setCurrentIndex(1 if self.model.rowCount() else 0)

    def show_all(self, status: str = "") -> None:
        """Show runs of every workflow, of one status or of any, whatever their names."""
        self.search.clear()
        self.scope.setChecked(False)
        self._set_status(status, dict(STATUSES)[status])

    def rename_chosen(self) -> None:
        """Edit the name of the chosen run in its row."""
        rows = self.table.selectionModel().selectedRows(NAME)
        if rows:
            self.table.setCurrentIndex(rows[0])
            self.table.edit(rows[0])

    def stop(self) -> None:
        """Let nothing happen any more."""
        self._typing.stop()

    def _button(self, offer_id: str) -> QPushButton:
        button = QPushButton(self)
        button.setAutoDefault(False)
        button.clicked.connect(partial(self._ask, offer_id))
        return button

    def _build_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAllColumnsShowFocus(True)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.setAccessibleName("Stored runs")
        header = table.header()
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(48)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in _WIDTHS:
            header.resizeSection(column, width)

    def _build_menus(self) -> None:
        for offer_id in _IN_MENU:
            if not offer_id:
                self._menu.addSeparator()
                continue
            action = self._menu.addAction(offer_id)
            action.triggered.connect(partial(self._ask, offer_id))
            self._actions[offer_id] = action
        self._statuses = QMenu(self)
        group = QActionGroup(self)
        for status, words in STATUSES:
            action = self._statuses.addAction(words)
            action.setCheckable(True)
            action.setChecked(not status)
            group.addAction(action)
            action.triggered.connect(partial(self._set_status, status, words))

    def _lay_out(self) -> None:
        self._empty.setProperty("kind", "second")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.table)
        bar = QHBoxLayout()
        bar.setContentsMargins(4, 2, 4, 6)
        bar.setSpacing(6)
        bar.addWidget(self.search, 3)
        bar.addWidget(self.status)
        bar.addWidget(self.scope)
        bar.addStretch(1)
        for button in self.buttons.values():
            bar.addWidget(button)
        bar.addWidget(self.more)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 0, 8, 10)
        box.setSpacing(0)
        box.addLayout(bar)
        box.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda: self._typing.start())
        self.search.returnPressed.connect(self.table.setFocus)
        self.scope.toggled.connect(lambda _: self.wanted_changed.emit())
        self.status.clicked.connect(self._open_statuses)
        self.more.clicked.connect(self._open_menu)
        self.table.asked.connect(self._ask_if_possible)
        self.table.doubleClicked.connect(lambda _: self._ask_if_possible("replay"))
        self.table.customContextMenuRequested.connect(self._open_context_menu)
        bar = self.table.verticalScrollBar()
        bar.valueChanged.connect(self._fetch_at_end)
        bar.rangeChanged.connect(self._fetch_at_end)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_offers())
        self.model.modelReset.connect(self._show_offers)
        self._theme.changed.connect(self._dress)

    def _fetch_at_end(self) -> None:
        """Have the next page fetched a while before the last row is in view."""
        bar = self.table.verticalScrollBar()
        if self.model.rowCount() and bar.maximum() - bar.value() < 3 * self.table.height():
            self.model.want_more()

    def _show_offers(self) -> None:
        found = offers(self.chosen())
        for offer_id, button in self.buttons.items():
            offer = found[offer_id]
            button.setText(offer.words)
            button.setEnabled(not offer.why_not)
            button.setToolTip(offer.why_not or offer.words)
        for offer_id, action in self._actions.items():
            offer = found[offer_id]
            action.setText(offer.words)
            action.setEnabled(not offer.why_not)

    def _ask(self, offer_id: str) -> None:
        self.asked.emit(offer_id)

    def _ask_if_possible(self, offer_id: str) -> None:
        if not offers(self.chosen())[offer_id].why_not:
            self.asked.emit(offer_id)

    def _set_status(self, status: str, words: str) -> None:
        self._status = status
        self.status.setText(words)
        for each in self._statuses.actions():
            each.setChecked(each.text() == words)
        self.wanted_changed.emit()

    def _open_statuses(self) -> None:
        self._statuses.popup(self.status.mapToGlobal(QPoint(0, self.status.height() + 4)))

    def _open_menu(self) -> None:
        self._show_offers()
        below = self.more.mapToGlobal(QPoint(0, self.more.height() + 4))
        self._menu.popup(below - QPoint(self._menu.sizeHint().width() - self.more.width(), 0))

    def _open_context_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        found = offers(self.chosen())
        for offer_id in (*_BUTTONS, "", *_IN_MENU):
            if not offer_id:
                menu.addSeparator()
                continue
            action = menu.addAction(found[offer_id].words)
            action.setEnabled(not found[offer_id].why_not)
            action.triggered.connect(partial(self._ask, offer_id))
        menu.popup(self.table.viewport().mapToGlobal(at))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the workflow's name out where there is no room for it."""
        super().resizeEvent(event)
        self._show_columns()

    def show_scope(self, *, is_all: bool) -> None:
        """Name the workflow of each run where they are of different ones."""
        self._is_all = is_all
        self._show_columns()

    def _show_columns(self) -> None:
        self.table.setColumnHidden(WORKFLOW, self.width() < _NARROW or not self._is_all)

    def _dress(self) -> None:
        self.more.setIcon(self._theme.icons.icon("more"))
        self.status.setIcon(self._theme.icons.icon("chevron-down"))

"""The library's list as a tree that keys, mouse and drops work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QModelIndex, QPersistentModelIndex, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QPainter,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QAbstractItemDelegate, QAbstractItemView, QMenu, QTreeView, QWidget

from app.library.row_painter import IS_OPEN, ROW, RowPainter
from app.library.rows import Branch, Row
from app.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex


class LibraryTree(QTreeView):
    """Shows rows; what they stand for is decided elsewhere.

    Signals:
        opened: A row that was clicked or taken with Enter.
        named: A row and the name that was typed for it.
        asked: What is wanted of a row (`duplicate`, `delete`, what its menu offers), and the row.
        dropped: Paths that were let go here, and the id of the project they were let go over.
        folded: Keys of the rows that are folded now.
    """

    opened = Signal(object)
    named = Signal(object, str)
    asked = Signal(str, object)
    dropped = Signal(object, str)
    folded = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows = _Rows(self)
        self._painter = RowPainter(theme, self)
        self._folded: set[str] = set()
        self._is_filling = False
        self._due: tuple[tuple[Branch, ...], Path | None] | None = None
        self._menu: QMenu | None = None
        self.offers: Callable[[Row], Sequence[tuple[str, str]]] = lambda row: ()
        self.setModel(self._rows)
        self.setItemDelegate(self._painter)
        self.setAccessibleName("Library")
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        self.setDropIndicatorShown(False)
        self.clicked.connect(self._on_clicked)
        self.expanded.connect(self._on_folded)
        self.collapsed.connect(self._on_folded)
        self._painter.named.connect(self.named)
        theme.changed.connect(self._on_theme)

    @property
    def menu(self) -> QMenu | None:
        """The context menu that was opened last."""
        return self._menu

    def show_tree(self, branches: Iterable[Branch], current: Path | None) -> None:
        """Show these rows; `current` is the open workflow. What is alike stays as it is."""
        if self.state() == QAbstractItemView.State.EditingState:
            self._due = (tuple(branches), current)  # a name is being typed: later
            return
        self._due = None
        before = self.current_row()
        self._is_filling = True
        self._rows.show_tree(self._rows.invisibleRootItem(), list(branches), current)
        for item in self._rows.all_items():
            row: Row = item.data(ROW)
            if item.hasChildren():
                self.setExpanded(item.index(), row.key not in self._folded)
        self._is_filling = False
        if before is not None and self.current_row() != before:
            self.go_to(before.key)

    def fold(self, keys: Iterable[str]) -> None:
        """Fold these rows and no others."""
        self._folded = set(keys)
        self._is_filling = True
        for item in self._rows.all_items():
            if item.hasChildren():
                self.setExpanded(item.index(), item.data(ROW).key not in self._folded)
        self._is_filling = False

    def current_row(self) -> Row | None:
        """Where the keys act."""
        row = self.currentIndex().data(ROW)
        return row if isinstance(row, Row) else None

    def go_to(self, key: str) -> bool:
        """Put the keys on a row; tells whether it is there."""
        index = self.index_of(key)
        if index is not None:
            self.setCurrentIndex(index)
        return index is not None

    def index_of(self, key: str) -> QModelIndex | None:
        """Where a row is."""
        for item in self._rows.all_items():
            if item.data(ROW).key == key:
                return item.index()
        return None

    def rename(self, key: str) -> None:
        """Let the person type another name for a row."""
        index = self.index_of(key)
        if index is not None and index.data(ROW).can_be_renamed:
            self.setCurrentIndex(index)
            self.scrollTo(index)
            self.edit(index)

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """Show what has come meanwhile."""
        super().closeEditor(editor, hint)
        if self._due is not None:
            self.show_tree(*self._due)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, F2 renames, Delete deletes, Ctrl+D duplicates."""
        row, key = self.current_row(), event.key()
        if row is None or self.state() == QAbstractItemView.State.EditingState:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif key == Qt.Key.Key_F2:
            self.rename(row.key)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.asked.emit("delete", row)
        elif key == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.asked.emit("duplicate", row)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the row."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        row = index.data(ROW)
        if not isinstance(row, Row):
            return
        self.setCurrentIndex(index)
        corner = self.visualRect(index).bottomLeft() + QPoint(24, 0)
        self._open_menu(row, self.viewport().mapToGlobal(corner) if by_key else event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hints wrap at another width."""
        super().resizeEvent(event)
        self.scheduleDelayedItemsLayout()

    def drawBranches(self, painter: QPainter, rect: object, index: object) -> None:
        """There are none: rows paint what tells their place."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and folders, and rows of this list."""
        self._welcome(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """The same everywhere."""
        self._welcome(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Tell what was let go, and over which project."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        row = self.indexAt(event.position().toPoint()).data(ROW)
        project_id = row.project_id if isinstance(row, Row) else ""
        if event.source() is self and not project_id:
            return
        if paths:
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self.dropped.emit(paths, project_id)

    def _welcome(self, event: QDragMoveEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def _on_clicked(self, index: QModelIndex) -> None:
        self._open(index)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW)
        if not isinstance(row, Row):
            return
        if row.kind in ("section", "project"):
            self.setExpanded(index, not self.isExpanded(index))
        elif row.kind != "hint":
            self.opened.emit(row)

    def _open_menu(self, row: Row, at: QPoint) -> None:
        offers = self.offers(row)
        if not offers:
            return
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = menu = QMenu(self)
        inside: dict[str, QMenu] = {}
        for verb, text in offers:
            group, _, name = text.rpartition("|")
            if not verb:
                menu.addSeparator()
                continue
            target = menu
            if group:
                target = inside.setdefault(group, menu) if group in inside else menu.addMenu(group)
                inside[group] = target
            action = target.addAction(name)
            action.triggered.connect(partial(self._on_offer, verb, row))
        menu.popup(at)

    def _on_offer(self, verb: str, row: Row, _: bool = False) -> None:
        if verb == "open":
            self.opened.emit(row)
        elif verb == "rename":
            self.rename(row.key)
        else:
            self.asked.emit(verb, row)

    def _on_folded(self, index: QModelIndex) -> None:
        if self._is_filling:
            return
        key = index.data(ROW).key
        if self.isExpanded(index):
            self._folded.discard(key)
        else:
            self._folded.add(key)
        self.folded.emit(sorted(self._folded))

    def _on_theme(self) -> None:
        self.viewport().update()


class _Rows(QStandardItemModel):
    """The rows as Qt's model; dragged out, a row is its file."""

    def show_tree(
        self, parent: QStandardItem, branches: Sequence[Branch], current: Path | None
    ) -> None:
        """Bring what is below an item in line, keeping the items that stand for the same."""
        keys = [parent.child(at).data(ROW).key for at in range(parent.rowCount())]
        wanted = [branch.row.key for branch in branches]
        if keys != wanted:
            kept = {key: parent.takeRow(0)[0] for key in keys}
            for branch in branches:
                parent.appendRow(kept.get(branch.row.key) or QStandardItem())
        for at, branch in enumerate(branches):
            item, row = parent.child(at), branch.row
            is_open = row.is_file and row.path == current and current is not None
            if item.data(ROW) != row:
                item.setData(row, ROW)
                item.setText(row.name)
                item.setAccessibleText(row.spoken)
                item.setFlags(_flags(row))
            if item.data(IS_OPEN) != is_open:
                item.setData(is_open, IS_OPEN)
            self.show_tree(item, branch.children, current)

    def all_items(self) -> list[QStandardItem]:
        """Every item from top to bottom."""
        found: list[QStandardItem] = []
        waiting = [self.invisibleRootItem()]
        while waiting:
            item = waiting.pop()
            found.append(item)
            waiting += [item.child(at) for at in reversed(range(item.rowCount()))]
        return found[1:]

    def mimeTypes(self) -> list[str]:
        """Files."""
        return ["text/uri-list"]

    def mimeData(self, indexes: Sequence[Index]) -> QMimeData:
        """The files of the rows."""
        data = QMimeData()
        rows = [index.data(ROW) for index in indexes]
        data.setUrls([QUrl.fromLocalFile(str(row.path)) for row in rows if row.path is not None])
        return data


def _flags(row: Row) -> Qt.ItemFlag:
    flags = Qt.ItemFlag.ItemIsEnabled
    if row.kind == "hint":
        return flags
    flags |= Qt.ItemFlag.ItemIsSelectable
    if row.can_be_renamed:
        flags |= Qt.ItemFlag.ItemIsEditable
    if row.is_file:
        flags |= Qt.ItemFlag.ItemIsDragEnabled
    return flags | Qt.ItemFlag.ItemIsDropEnabled

"""The execution folder as a tree; what is in a folder is asked for when it is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.files.folder_listing import Entry, Listing
from app.kit.visible import visible
from app.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()
MARK_WORDS = {"A": "added", "M": "changed", "D": "deleted", "R": "renamed"}
_MARK_COLORS = {"A": "done", "M": "running", "D": "failed", "R": "waiting"}
MARK_ROLE = Qt.ItemDataRole.UserRole + 1
"""The letter and the colour of a mark, or `None`."""


class TreeEntry:
    """One name in the tree; `children` is `None` until its folder was listed."""

    __slots__ = ("children", "entry", "is_asked", "more", "note", "parent", "parts", "row", "stamp")

    def __init__(self, entry: Entry, parent: TreeEntry | None, row: int) -> None:
        self.entry = entry
        self.parent = parent
        self.row = row
        self.parts: tuple[str, ...] = (*parent.parts, entry.name) if parent is not None else ()
        self.children: list[TreeEntry] | None = None
        self.is_asked = False
        self.more = 0
        self.note = ""
        """Words in the place of a name: no file, but something to say."""
        self.stamp: tuple[int, int] = (0, 0)

    def folders(self) -> Iterator[TreeEntry]:
        """This folder and those below it that were listed."""
        yield self
        for child in self.children or ():
            if child.children is not None:
                yield from child.folders()


class FileTreeModel(QAbstractItemModel):
    """Names below one folder.

    Signals:
        wanted: The parts of the path of a folder that is to be listed.
    """

    wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._marks: Mapping[tuple[str, ...], str] = {}
        self.top = TreeEntry(Entry("", True), None, 0)

    def start_over(self) -> None:
        """Know nothing, and ask for what is at the top."""
        self.beginResetModel()
        self.top = TreeEntry(Entry("", True), None, 0)
        self.endResetModel()
        self._ask(self.top)

    def take(self, parts: tuple[str, ...], listing: Listing) -> None:
        """A folder was listed. What was open in it stays so if it is still there."""
        folder = self._find(parts)
        if folder is None:
            return
        folder.is_asked, folder.stamp = False, listing.stamp
        known = [child.entry for child in folder.children or () if not child.note]
        if folder.children is not None and known == list(listing.entries):
            return
        parent = self.index_of(folder)
        old = {child.entry.name: child for child in folder.children or ()}
        if folder.children:
            self.beginRemoveRows(parent, 0, len(folder.children) - 1)
            folder.children = []
            self.endRemoveRows()
        made = []
        for row, entry in enumerate(listing.entries):
            child = TreeEntry(entry, folder, row)
            kept = old.get(entry.name)
            if kept is not None and kept.children is not None and entry.is_folder:
                child.children = kept.children
                for inner in child.children:
                    inner.parent = child
            made.append(child)
        words = listing.problem and f"cannot be read: {listing.problem}"
        if listing.more:
            words = f"{listing.more:,} more are not listed"
        if words:
            note = TreeEntry(Entry("", False), folder, len(made))
            note.note = words
            made.append(note)
        if made:
            self.beginInsertRows(parent, 0, len(made) - 1)
            folder.children = made
            self.endInsertRows()
        else:
            folder.children = []

    def mark(self, marks: Mapping[tuple[str, ...], str]) -> None:
        """Show which paths were changed, and how."""
        if marks == self._marks:
            return
        self._marks = marks
        for folder in self.top.folders():
            if folder.children:
                first = self.index_of(folder.children[0])
                self.dataChanged.emit(first, self.index_of(folder.children[-1]))

    def entry(self, index: Index) -> TreeEntry:
        """What an index stands for; an invalid one for the folder itself."""
        found = index.internalPointer() if index.isValid() else None
        return found if isinstance(found, TreeEntry) else self.top

    def index_of(self, entry: TreeEntry) -> QModelIndex:
        """Where a name stands."""
        if entry.parent is None:
            return QModelIndex()
        return self.createIndex(entry.row, 0, entry)

    def find(self, parts: tuple[str, ...]) -> QModelIndex:
        """Where a path stands, if it is listed."""
        found = self._find(parts)
        return QModelIndex() if found is None else self.index_of(found)

    def index(self, row: int, column: int, parent: Index = _NONE) -> QModelIndex:
        """The index of a child."""
        children = self.entry(parent).children
        if column or children is None or not 0 <= row < len(children):
            return QModelIndex()
        return self.createIndex(row, 0, children[row])

    def parent(self, index: Index = _NONE) -> QModelIndex:  # type: ignore[override]
        """The index of the folder that a name is in."""
        owner = self.entry(index).parent if index.isValid() else None
        return QModelIndex() if owner is None else self.index_of(owner)

    def rowCount(self, parent: Index = _NONE) -> int:
        """How many names a folder has, as far as they were listed."""
        return len(self.entry(parent).children or ())

    def columnCount(self, parent: Index = _NONE) -> int:
        """One column."""
        return 1

    def hasChildren(self, parent: Index = _NONE) -> bool:
        """Whether it is a folder; an empty one shows so once it was opened."""
        entry = self.entry(parent)
        return entry.entry.is_folder and entry.children != []

    def canFetchMore(self, parent: Index) -> bool:
        """Whether the folder was not listed yet."""
        entry = self.entry(parent)
        return entry.entry.is_folder and entry.children is None and not entry.is_asked

    def fetchMore(self, parent: Index) -> None:
        """Ask for what is in the folder."""
        self._ask(self.entry(parent))

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names can be chosen, notes cannot."""
        if self.entry(index).note:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a row shows."""
        if not index.isValid():
            return None
        item = self.entry(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return item.note or readable(item.entry.name)
        if role == Qt.ItemDataRole.ForegroundRole and (item.note or item.entry.is_ignored):
            return self._theme.tokens.tint("text_second", 0.75)
        if role == Qt.ItemDataRole.DecorationRole and not item.note:
            kind = "folder" if item.entry.is_folder else "file"
            return self._theme.icons.icon(kind)
        letter = self._marks.get(item.parts)
        if role == MARK_ROLE:
            if letter is None or item.note:
                return None
            return letter, _MARK_COLORS.get(letter, "running")
        if role == Qt.ItemDataRole.AccessibleTextRole and letter:
            return f"{readable(item.entry.name)}, {MARK_WORDS[letter]} by this run"
        if role == Qt.ItemDataRole.ToolTipRole:
            words = [readable("/".join(item.parts))]
            if item.entry.is_ignored:
                words.append("ignored by Git")
            if letter:
                words.append(f"{MARK_WORDS[letter]} by this run")
            return "\n".join(words) if not item.note else item.note
        return None

    def _find(self, parts: tuple[str, ...]) -> TreeEntry | None:
        place = self.top
        for part in parts:
            found = next((each for each in place.children or () if each.entry.name == part), None)
            if found is None:
                return None
            place = found
        return place

    def _ask(self, folder: TreeEntry) -> None:
        folder.is_asked = True
        self.wanted.emit(folder.parts)


def readable(name: str) -> str:
    """A name of a file in one line, whatever is in it."""
    return visible(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def path_of(root: Path, entry: TreeEntry) -> Path:
    """The file that a row stands for."""
    return root.joinpath(*entry.parts)

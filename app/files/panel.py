"""The files tab: the execution folder of the run that is shown, and one file of it to read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.files.file_content import FileContent, read_content, stamp_of
from app.files.file_page import FilePage
from app.files.file_tree import FileTree
from app.files.folder_listing import list_folder, marks_of, stamps
from app.files.highlighting import highlighted
from app.files.tree_model import FileTreeModel, TreeEntry, path_of, readable
from app.kit.elided_label import ElidedLabel
from app.theme.theme import Theme
from engine.vocabulary.tools import FileChangeOp
from orchestration.workspace.paths import Workspace

if TYPE_CHECKING:
    from app.run_session import ShownRun

Do = Callable[[Coroutine[Any, Any, None], str], None]
FolderNow = Callable[[], Coroutine[Any, Any, Path | None]]
_LOOK_MS = 1500
_LETTERS = {
    FileChangeOp.CREATE: "A",
    FileChangeOp.UPDATE: "M",
    FileChangeOp.DELETE: "D",
    FileChangeOp.RENAME: "R",
}


class FilesPanel(QWidget):
    """Reads folders and files in worker threads, and looks for changes while it is in view."""

    def __init__(self, theme: Theme, do: Do, folder_now: FolderNow, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._do = do
        self._folder_now = folder_now
        self._run: ShownRun | None = None
        self._root: Path | None = None
        self._workspace: Workspace | None = None
        self._is_closed = False
        self._is_looking = False
        self._wanted: tuple[str, int] | None = None
        self._generation = 0
        self._changes = 0
        self._to_reveal: tuple[str, ...] = ()
        self.model = FileTreeModel(theme, self)
        self.model.wanted.connect(self._list)
        self.tree = FileTree(self.model, theme, self)
        self.tree.opened.connect(self._open_entry)
        self.page = FilePage(theme, self)
        self.folder = ElidedLabel("", self)
        self.folder.setProperty("kind", "small")
        self._again = QToolButton(self)
        self._again.setToolTip("Read the folder again")
        self._again.setAccessibleName("Read the folder again")
        self._again.clicked.connect(self._start_over)
        self._empty = QLabel("", self)
        self._empty.setProperty("kind", "second")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        left = QWidget(self)
        head = QHBoxLayout()
        head.setContentsMargins(14, 2, 6, 4)
        head.addWidget(self.folder, 1)
        head.addWidget(self._again)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.tree, 1)
        self.tree.setContentsMargins(6, 0, 0, 0)
        left.setMinimumWidth(140)
        self.split = QSplitter(Qt.Orientation.Horizontal, self)
        self.split.setHandleWidth(1)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(left)
        self.split.addWidget(self.page)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([250, 600])
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.split)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._stack)
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.setInterval(_LOOK_MS)
        self._beat.timeout.connect(self._look)
        theme.changed.connect(self._dress)
        self._dress()

    def follow(self, run: ShownRun | None) -> None:
        """Belong to this run from now on, and mark what it has changed."""
        is_other = (run.run_id if run else "") != (self._run.run_id if self._run else "")
        self._run = run
        if is_other and self.isVisible():
            self._go_home()
        elif is_other:
            self._root = None  # it is found anew when somebody looks
        count = len(run.view.changed_files) if run is not None else 0
        if is_other or count != self._changes:
            self._changes = count
            self._mark()
            if self.isVisible():
                self._look()

    def open_at(self, name: str, line: int = 0) -> None:
        """Show a file, absolute or below the folder, at a line from 1; 0 where none is meant."""
        self._wanted = (name, line)
        if self._workspace is not None:
            self._open_wanted()
        elif not self.isVisible():
            self._go_home()

    def close_down(self) -> None:
        """Read nothing any more."""
        self._is_closed = True
        self._beat.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up, and look for changes from now on."""
        super().showEvent(event)
        if self._root is None:
            self._go_home()
        else:
            self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks, so nothing is looked for."""
        super().hideEvent(event)
        self._beat.stop()

    def take_focus(self) -> None:
        """Let the person walk through the files."""
        self.tree.setFocus()

    def _go_home(self) -> None:
        if not self._is_closed:
            self._generation += 1
            self._do(self._find_home(self._generation), "find the folder of the run")

    async def _find_home(self, generation: int) -> None:
        try:
            root = await self._folder_now()
        finally:
            if generation == self._generation:
                self._root = self._workspace = None
        if generation != self._generation or self._is_closed:
            return
        if root is None:
            self._say("There is no folder yet. A run of this workflow gets one of its own.")
            return
        try:
            workspace = await asyncio.to_thread(Workspace, root)
        except OSError:
            self._root = root
            self._say(f"The folder {readable(str(root))} is not there any more.")
            self._look_later()
            return
        if generation != self._generation:
            return
        self._root, self._workspace = workspace.root, workspace
        self.folder.setText(readable(workspace.root.name or str(workspace.root)))
        self.folder.full_tip = readable(str(workspace.root))
        self.page.show_words("Choose a file to read it.")
        self._stack.setCurrentWidget(self.split)
        self.model.start_over()
        self._mark()
        self._open_wanted()
        self._look_later()

    def _say(self, words: str) -> None:
        self._empty.setText(words)
        self._stack.setCurrentWidget(self._empty)

    def _start_over(self) -> None:
        for folder in self.model.top.folders():
            self._list(folder.parts)
        self._look()

    def _list(self, parts: tuple[str, ...]) -> None:
        if self._root is not None and not self._is_closed:
            self._do(self._list_one(self._root, parts), "list a folder")

    async def _list_one(self, root: Path, parts: tuple[str, ...]) -> None:
        listing = await asyncio.to_thread(list_folder, root, parts)
        if root != self._root or self._is_closed:
            return
        opened = [
            folder.parts
            for folder in self.model.top.folders()
            if self.tree.isExpanded(self.model.index_of(folder))
        ]
        self.model.take(parts, listing)
        for each in opened:
            index = self.model.find(each)
            if index.isValid() and not self.tree.isExpanded(index):
                self.tree.expand(index)
        self._reveal_on()

    def _reveal_on(self) -> None:
        """Open one folder more on the way to the file that is to be chosen in the tree."""
        parts = self._to_reveal
        for depth in range(1, len(parts)):
            index = self.model.find(parts[:depth])
            if not index.isValid():
                return  # its folder is being listed, or the file is not in the list
            self.tree.expand(index)
        index = self.model.find(parts) if parts else QModelIndex()
        if index.isValid():
            self._to_reveal = ()
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _open_entry(self, entry: TreeEntry) -> None:
        if self._root is not None:
            self.open_at(str(path_of(self._root, entry)))

    def _open_wanted(self) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is not None and self._workspace is not None:
            self._do(self._read(self._workspace, *wanted), "read a file")

    async def _read(self, workspace: Workspace, name: str, line: int) -> None:
        content = await asyncio.to_thread(read_content, workspace, name)
        if workspace is not self._workspace or self._is_closed:
            return
        self.page.show_content(content, line)
        self._reveal(content)
        if content.kind == "text":
            parts = await asyncio.to_thread(highlighted, content.path.name, content.text)
            if self.page.content is content:
                self.page.show_parts(parts)

    def _reveal(self, content: FileContent) -> None:
        if self._root is not None and content.path.is_relative_to(self._root):
            self._to_reveal = content.path.relative_to(self._root).parts
            self._reveal_on()

    def _mark(self) -> None:
        run = self._run
        records = run.view.changed_files if run is not None else ()
        self.model.mark(
            marks_of((record.effective_path, _LETTERS.get(record.op, "M")) for record in records)
        )

    def _look_later(self) -> None:
        if self.isVisible() and not self._is_closed:
            self._beat.start()

    def _look(self) -> None:
        """Ask whether a listed folder or the file on show has changed."""
        if self._root is not None and not self._is_looking and not self._is_closed:
            self._is_looking = True
            self._do(self._look_around(self._root), "look for changed files")

    async def _look_around(self, root: Path) -> None:
        try:
            if self._workspace is None:
                if await asyncio.to_thread(root.is_dir):
                    self._go_home()
                return
            known = {root.joinpath(*folder.parts): folder for folder in self.model.top.folders()}
            now = await asyncio.to_thread(stamps, list(known))
            if root != self._root or self._is_closed:
                return
            if now.get(root) is None:
                self._go_home()
                return
            for path, folder in known.items():
                if now[path] is not None and folder.stamp != now[path]:
                    self._list(folder.parts)
            await self._look_at_file()
        finally:
            self._is_looking = False
            self._look_later()

    async def _look_at_file(self) -> None:
        content, workspace = self.page.content, self._workspace
        if content is None or workspace is None:
            return
        stamp = await asyncio.to_thread(stamp_of, content.path)
        if stamp != content.stamp and content is self.page.content:
            await self._read(workspace, str(content.path), 0)

    def _dress(self) -> None:
        self._again.setIcon(self._theme.icons.icon("retry"))

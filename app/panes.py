"""Joins the trace, the terminal and the files of one window with its run and the backend."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.dock import CHAT, FILES, TABS, TERMINAL
from app.kit.report_dialog import choose_report
from app.main_window import MainWindow
from app.presenter import Presenter
from app.run_session import ShownRun
from orchestration.backend import Backend
from orchestration.errors import UserError

if TYPE_CHECKING:
    from app.files.panel import FilesPanel
    from app.terminal.panel import TerminalPanel

Do = Callable[[Coroutine[Any, Any, None], str], None]

_TRACE_SIZES, _FILES_SIZES = "trace_sizes", "files_sizes"


def kept_sizes(words: str) -> tuple[int, int] | None:
    """Two sizes in pixels that were kept as words; `None` where the words are none."""
    first, _, second = words.partition(" ")
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        return None
    sizes = int(first[:5]), int(second[:5])
    return sizes if min(sizes) > 0 else None


def size_words(sizes: Sequence[int]) -> str:
    """Sizes to keep, such as `250 600`."""
    return " ".join(map(str, sizes))


class Panes(QObject):
    """Follows the run that is shown; pages that are opened later are made when they are."""

    def __init__(self, window: MainWindow, presenter: Presenter, backend: Backend, do: Do) -> None:
        super().__init__(window)
        self._presenter = presenter
        self._window = window
        self._backend = backend
        self._do = do
        self._run: ShownRun | None = None
        self._folders: dict[str, Path] = {}
        self.terminal: TerminalPanel | None = None
        self.files: FilesPanel | None = None
        dock = window.dock
        dock.make_later(TERMINAL, self._make_terminal)
        dock.make_later(FILES, self._make_files)
        dock.trace.wished_for_chat.connect(self._show_in_chat)
        dock.trace.report_wanted.connect(self._on_report_wanted)
        dock.chat.intents.file_opened.connect(self.open_file)
        dock.tab_shown.connect(self._on_tab_shown)
        trace, state = dock.trace, window.state
        trace.shares = kept_sizes(state.text(_TRACE_SIZES)) or trace.shares
        trace.split.splitterMoved.connect(
            lambda: state.put(_TRACE_SIZES, size_words(trace.split.sizes()))
        )
        window.wished.connect(self._on_wish)
        presenter.refreshed.connect(self._follow)

    def open_file(self, path: str, line: int) -> None:
        """Show a file of the run at a line, from 1; 0 where none is meant."""
        self._window.dock.show_tab(FILES)
        if self.files is not None:
            self.files.open_at(path, line)

    def close(self) -> None:
        """Hang up all shells: they end soon, with all that they started."""
        self._presenter.refreshed.disconnect(self._follow)
        if self.files is not None:
            self.files.close_down()
        if self.terminal is not None:
            self.terminal.close_all()

    async def folder_now(self) -> Path | None:
        """The execution folder of the run in front, else of its project; `None` for no folder."""
        run, path = self._run, self._window.document.path
        if run is not None:
            known = self._folders.get(run.run_id)
            if known is None:
                known = await self._backend.execution_folder(run.run_id)
                self._folders[run.run_id] = known
            return known
        if path is None:
            return None
        try:
            return await asyncio.to_thread(self._backend.library.run_folder, path)
        except UserError:
            return None  # running the workflow says what is wrong with its project

    def _follow(self) -> None:
        self._run = self._presenter.session
        self._window.dock.trace.show_run(self._run)
        if self.files is not None:
            self.files.follow(self._run)

    def _on_wish(self, action_id: str) -> None:
        tabs = {f"tab_{name.lower()}": index for index, name in enumerate(TABS)}
        if action_id in tabs:
            self._window.dock.show_tab(tabs[action_id])
            self._window.dock.take_focus()

    def _make_terminal(self) -> QWidget:
        # Imported here, as below: the window begins without them.
        from app.terminal.panel import TerminalPanel

        window = self._window
        self.terminal = TerminalPanel(window.theme, self._do, self.folder_now, window.dock)
        return self.terminal

    def _make_files(self) -> QWidget:
        from app.files.panel import FilesPanel

        window = self._window
        self.files = FilesPanel(window.theme, self._do, self.folder_now, window.dock)
        self.files.follow(self._run)
        split, state = self.files.split, window.state
        split.setSizes(kept_sizes(state.text(_FILES_SIZES)) or split.sizes())
        split.splitterMoved.connect(lambda: state.put(_FILES_SIZES, size_words(split.sizes())))
        return self.files

    def _on_tab_shown(self, index: int) -> None:
        if index == TERMINAL and self.terminal is not None and self.terminal.views:
            self.terminal.take_focus()

    def _show_in_chat(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)
        self._window.dock.show_tab(CHAT)

    def _on_report_wanted(self) -> None:
        if self._run is not None:
            self._do(self.save_report(self._run.run_id, self._run.workflow.name), "save a report")

    async def save_report(self, run_id: str, name: str) -> None:
        """Ask where to, and write a report of a run there."""
        path = await choose_report(self._window, name)
        if path is not None:
            await self._backend.save_report(run_id, path)
            self._window.toasts.show_done(f"Report saved to {path.name}")

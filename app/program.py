"""Everything behind the windows: one backend for all of them, and a workbench for each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.canvas.document import WorkflowDocument
from app.common import Common
from app.first_window import window_with
from app.kit.endings import within
from app.kit.window_state import WindowState
from app.leaving import edits_may_be_left, quitting_is_agreed, runs_may_be_left
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow
from app.problem_words import sentence
from app.workbench import Workbench
from orchestration.backend import Backend
from orchestration.errors import UserError

logger = logging.getLogger(__name__)

_STOP_S = 5.0
_DRAIN_S = 2.0
_CLOSE_S = 8.0
_STEP = 32
"""How far a new window lies below and beside the one before, in pixels."""


class Program(QObject):
    """What goes on behind all windows. Runs belong to it and not to a window."""

    def __init__(self, window: MainWindow, backend: Backend) -> None:
        super().__init__()
        self._backend = backend
        self.common = Common(backend)
        self.common.setParent(self)
        self._state = window.state
        self._end: Callable[[], None] = lambda: None
        self.workbenches: list[Workbench] = []
        kept = window.state.windows()
        self.common.windows = [window.state.number]
        self._others = [number for number in kept if number != window.state.number]
        self.common.window_wanted.connect(self.open_window)
        self._join(window)

    @property
    def windows(self) -> list[MainWindow]:
        """Every window, the first one first."""
        return [bench.window for bench in self.workbenches]

    def begin(self) -> None:
        """Read what is on screen, and bring back the other windows of the last time."""
        self.workbenches[0].begin()
        for number in self._others:
            state = self._state.of_window(number)
            if self._leave_out_what_is_open(state):
                self._show(window_with(None, state, self.workbenches[0].window))
        self._others = []
        for bench in self.workbenches:
            self.common.tasks.spawn(bench.opening.mark_unsaved(), "look for unsaved edits")

    def on_end(self, wish: Callable[[], None]) -> None:
        """Call `wish` when the person wants to end the program."""
        self._end = wish

    def open_window(self, work: OpenWorkflow | None = None) -> MainWindow:
        """Open another window, with a tab that moves there or with nothing in it."""
        before = self._active().window
        used = set(self.common.windows)
        number = next(n for n in range(len(used) + 1) if n not in used)
        state = self._state.of_window(number)
        state.keep_tabs((), 0)
        window = MainWindow(WorkflowDocument(), state, before.theme)
        window.resize(before.size())
        window.move(before.pos().x() + _STEP, before.pos().y() + _STEP)
        bench = self._show(window)
        if work is not None:
            bench.opening.take_over(work)
        window.activateWindow()
        return window

    async def agrees_to_close(self) -> bool:
        """Ask before edits are lost or runs are ended; without any there is nothing to ask."""
        try:
            return await quitting_is_agreed(self._active().window, self.common)
        except UserError as error:
            self._active().window.toasts.show_error(sentence(error))
            return False

    async def close(self) -> None:
        """Stop the runs, end the tasks, close the backend: in this order, and within bounds."""
        common = self.common
        endings: list[Coroutine[Any, Any, None]] = []
        for bench in self.workbenches:
            bench.close()
            endings += bench.opening.end()
        await asyncio.gather(*endings)
        active = [session for session in common.runs.sessions if session.is_active]
        stops = [self._backend.stop_run(session.run_id) for session in active]
        await within(_STOP_S, asyncio.gather(*stops), "stopping the runs")
        common.runs.close()
        if not await common.tasks.drain(_DRAIN_S):
            logger.warning("some tasks did not end in time")
        await within(_CLOSE_S, self._backend.aclose(), "closing the backend")

    def report(self, error: BaseException) -> None:
        """Tell of a failure that nobody has foreseen."""
        self.common.report(error)

    def _active(self) -> Workbench:
        """The workbench of the window that the person works in."""
        active = QApplication.activeWindow()
        for bench in self.workbenches:
            if bench.window is active:
                return bench
        return self.workbenches[-1]

    def _show(self, window: MainWindow) -> Workbench:
        self.common.windows.append(window.state.number)
        window.furnish()
        bench = self._join(window)
        bench.begin(is_first=False)
        window.show()
        self._state.keep_windows(self.common.windows)
        return bench

    def _join(self, window: MainWindow) -> Workbench:
        tabs, _ = window.state.tabs()
        bench = Workbench(window, self.common)
        front = window.document.path
        for place, (path, looking_at) in enumerate(tabs):
            if path != front and self.common.find(path) is None:
                bench.opening.list_file(path, looking_at, place)
        window.close_requested.connect(partial(self._on_close, bench))
        window.quit_requested.connect(self._on_quit)
        self.workbenches.append(bench)
        return bench

    def _leave_out_what_is_open(self, state: WindowState) -> bool:
        """Take files from a window's tabs that are open elsewhere; tells whether it is of use."""
        tabs, front = state.tabs()
        left = [tab for tab in tabs if self.common.find(tab[0]) is None]
        if len(left) < len(tabs):
            state.keep_tabs(left, left.index(tabs[front]) if tabs[front] in left else 0)
        return bool(left) or not tabs

    def _on_quit(self) -> None:
        self._end()

    def _on_close(self, bench: Workbench) -> None:
        if len(self.workbenches) == 1:
            self._end()
        else:
            self.common.tasks.spawn(self._close_window(bench), "close a window")

    async def _close_window(self, bench: Workbench) -> None:
        window, works = bench.window, bench.opening.all
        try:
            if not await edits_may_be_left(window, works):
                return
            if not await runs_may_be_left(window, self.common, works):
                return
        except UserError as error:
            window.toasts.show_error(sentence(error))
            return
        if bench not in self.workbenches:
            return
        self.workbenches.remove(bench)
        self.common.windows.remove(window.state.number)
        self._state.keep_windows(self.common.windows)
        window.remember()
        window.hide()
        bench.close()
        for ending in list(bench.opening.end()):
            await ending
        window.deleteLater()

"""What a person asks of the window becomes calls of the backend; what they refuse is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from app.chats.chatter import Chatter
from app.command_palette import CommandPalette
from app.common import Common
from app.editing import Editing
from app.history.historian import Historian
from app.inspecting import Inspecting
from app.kit.dialogs import choose_file
from app.library.librarian import Librarian
from app.lookups import Lookups
from app.main_window import MainWindow
from app.open_workflow import DEMO, OpenWorkflow, ReadyState
from app.opening import Opening
from app.panes import Panes
from app.presenter import Presenter, example_workflows
from app.problem_words import in_short, sentence
from app.run_session import ShownRun
from app.saving import Saving
from app.settings.opener import SettingsOpener
from app.steering import Steering
from app.tabs import Tabs
from app.waiting_list import WaitingEntry
from engine.graph.problems import Problem
from engine.vocabulary.errors import EngineError
from orchestration.errors import RunRefused, UserError
from orchestration.runs.requests import RunRequest

logger = logging.getLogger(__name__)


class Workbench(QObject):
    """Joins one window and what all windows have in common. Needs a running event loop."""

    def __init__(self, window: MainWindow, common: Common) -> None:
        super().__init__(window)
        self._window = window
        self._common = common
        self._backend = common.backend
        self._chat = window.dock.chat
        self.tasks = common.tasks
        self._is_closed = False
        self.opening = Opening(window, common, self._do)
        self._presenter = Presenter(window, common, self._front)
        self._told_problems: tuple[OpenWorkflow, tuple[Problem, ...]] | None = None
        self.editing = Editing(window)
        self.inspecting = Inspecting(window, self._backend, self.tasks)
        self.settings = SettingsOpener(window, self._backend, self.tasks, self._take_over_settings)
        self.palette = CommandPalette(
            window,
            window.sidebar.entries,
            self._open_file,
            self.settings.choices,
            self.settings.open,
        )
        self.steering = Steering(window, self._backend, self._presenter, self._do, self._start)
        self.librarian = Librarian(window, common, self.editing, self._do)
        self.historian = Historian(window, common, self._do, self.opening, self._show_run)
        self.lookups = Lookups(window, self._do)
        self.panes = Panes(window, self._presenter, self._backend, self._do)
        self.chatter = Chatter(window, common, self.opening, self._presenter, self._do)
        self.chatter.changed.connect(self.librarian.refresh)
        self.tabs = Tabs(window, common, self.opening, self._do)
        self.steering.may_tell = self._is_first
        self._connect()

    @property
    def window(self) -> MainWindow:
        """The window."""
        return self._window

    @property
    def saving(self) -> Saving:
        """The file of the workflow in front."""
        return self._front().saving

    def begin(self, *, is_first: bool = True) -> None:
        """Read the model of what is on screen already, or show that nothing is open."""
        if is_first:
            for notice in self._backend.notices:
                self._window.toasts.show_error(notice)
            self.historian.begin()
        self.librarian.refresh()
        self._refresh()
        if self._front().is_unread:
            self._do(self.opening.read(self._front()), "open the first workflow")

    def close(self) -> None:
        """Ask for nothing any more."""
        self._is_closed = True
        self.librarian.close()
        self.historian.close()
        self.settings.close()
        self.panes.close()
        self.steering.close()
        self._common.runs.changed.disconnect(self._refresh)
        self._common.runs.followed.disconnect(self._on_followed)
        self._common.unexpected.disconnect(self._tell_unexpected)
        self._common.waiting_wanted.disconnect(self._show_waiting_here)

    def _is_first(self) -> bool:
        return self._common.windows[:1] == [self._window.state.number]

    def _front(self) -> OpenWorkflow:
        return self.opening.front

    def _connect(self) -> None:
        window, chat, common = self._window, self._chat, self._common
        window.wished.connect(self._on_wish)
        self.opening.changed.connect(self._refresh)
        common.runs.changed.connect(self._refresh)
        common.runs.followed.connect(self._on_followed)
        common.unexpected.connect(self._tell_unexpected)
        common.waiting_wanted.connect(self._show_waiting_here)
        self.librarian.closed.connect(common.file_gone)
        self.librarian.opened.connect(self._open_file)
        self.librarian.compared.connect(self.lookups.compare_with)
        window.file_dropped.connect(self._open_file)
        window.sidebar.chosen.connect(self._open_file)
        window.desks.node_chosen.connect(self._on_node_chosen)
        window.dock.trace.node_chosen.connect(self._choose_node)
        window.waiting_list.chosen.connect(self._go_to_waiting)
        chat.filter_chosen.connect(self._choose_node)
        chat.composer.other_chosen.connect(self._choose_node)
        chat.intents.demo_wanted.connect(self._run_on_demo)
        chat.intents.node_shown.connect(self._show_node)
        chat.intents.composer_wanted.connect(self._write_to)

    def _do(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.tasks.spawn(self._told(work), name)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        """Let `work` fail with a sentence for the person."""
        try:
            await work
        except (UserError, EngineError) as error:
            if self._is_closed:
                logger.warning("after its window was closed: %s", error)
                return
            self._window.toasts.show_error(sentence(error))
            self._chat.intents.refused.emit()
        finally:
            self._refresh()

    def _tell_unexpected(self, words: str) -> None:
        if self._window.isActiveWindow() or len(self._common.windows) == 1:
            self._window.toasts.show_error(words)

    def _refresh(self) -> None:
        if self._is_closed:
            return
        front = self._front()
        self._presenter.refresh()
        self.historian.notice(self._common.runs.sessions)
        self.tabs.refresh()
        told = (front, front.problems)
        if told != self._told_problems:
            self._told_problems = told
            self.inspecting.show_problems(front.problems)

    def _on_wish(self, action_id: str) -> None:
        parts = (
            self.chatter,
            self.tabs,
            self.editing,
            self.saving,
            self.librarian,
            self.lookups,
            self.settings,
            self.historian,
            self.steering,
        )
        if any(part.act(action_id) for part in parts):
            return
        if action_id == "open":
            self._do(self._ask_for_file(), "open a workflow")
        elif action_id == "open_example":
            examples = example_workflows()
            if examples:
                self._open_file(examples[0][0])
        elif action_id == "run":
            self._start(self._chat.composer.text)
        elif action_id == "stop":
            self.steering.stop()
        elif action_id == "continue":
            self.steering.continue_run()
        elif action_id == "palette":
            self.palette.ask()
        elif action_id == "new":
            self._do(self._create(), "make a workflow")

    def _take_over_settings(self) -> None:
        """Find out anew what can run, and what there is to choose from."""
        self.inspecting.load_offers()
        for work in self.opening.all:
            self._do(work.check(is_new=False), "check the workflow")

    async def _ask_for_file(self) -> None:
        path = self._window.document.path
        file = await choose_file(self._window, "Open Workflow", path.parent if path else None)
        if file is not None:
            self._open_file(file)

    def _open_file(self, path: Path) -> None:
        self._do(self._open(path.absolute()), "open a workflow")

    async def _open(self, path: Path) -> None:
        await self.opening.open(path)

    async def _create(self) -> None:
        """Make a new file with one node in it, and open it."""
        await self.opening.open(await asyncio.to_thread(self._backend.create_workflow))

    def _show_run(self, work: OpenWorkflow, run: ShownRun | None) -> None:
        """Show a run that is looked at, or with `None` what belongs to the workflow."""
        work.session = run or self._common.runs.of(work.document.path)
        work.show_draft()
        self._refresh()

    def _start(self, text: str) -> None:
        if self.chatter.takes(text):
            return
        if self._window.actions_["run"].isEnabled():
            work = self._front()
            work.is_starting = True
            self._refresh()
            self._do(self._run(work, text), "run")

    async def _run(self, work: OpenWorkflow, text: str) -> None:
        path, workflow = work.document.path, work.document.workflow
        try:
            if path is None or workflow is None:
                return
            # Runs of a project's workflow work in the folder of the project.
            cwd = await asyncio.to_thread(self._backend.library.run_folder, path)
            request = RunRequest(workflow, text, work.overrides, cwd=cwd, source=path)
            try:
                run_id = await self._backend.start_run(request)
            except RunRefused as refusal:
                work.session = None
                work.tell_problems(refusal.problems, offers_demo=False)
                work.ready = ReadyState("blocked", in_short(refusal.problems))
                return
            self._common.runs.follow(run_id, path, workflow)
            if work is self._front() and self._chat.composer.text == text:
                self._chat.composer.clear()
        finally:
            work.is_starting = False

    def _on_followed(self, path: Path) -> None:
        for work in self.opening.all:
            if work.document.path == path:
                work.desk.scene.choose_node("")
                self._show_run(work, None)
                return
        self._refresh()

    def _run_on_demo(self) -> None:
        work = self._front()
        if work.document.workflow is not None:
            work.overrides = DEMO
            self._do(self._check_and_start(work), "run on the demo model")

    async def _check_and_start(self, work: OpenWorkflow) -> None:
        work.session = None
        work.show_draft()
        await work.check()
        self._refresh()
        if work is self._front():
            self._start(self._chat.composer.text)

    def _on_node_chosen(self, node_id: str) -> None:
        session = self._presenter.session
        if session is not None:
            session.model.set_filter(node_id)
        self._refresh()

    def _choose_node(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)

    def _show_node(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)
        self._window.canvas.reveal(node_id)

    def _write_to(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)
        self._window.actions_["composer"].trigger()

    def _go_to_waiting(self, entry: WaitingEntry) -> None:
        self._do(self._go_to(entry), "go to what waits")

    async def _go_to(self, entry: WaitingEntry) -> None:
        path = next(
            (each.path for each in self._common.runs.sessions if each.run_id == entry.run_id), None
        )
        if path is not None:
            work = await self.opening.open(path)
            if work not in self.opening.all:
                # It is in another window, which is in front now.
                self._common.waiting_wanted.emit(entry)
                return
        self.show_waiting(entry)

    def show_waiting(self, entry: WaitingEntry) -> None:
        """Lead the person to what waits in the workflow in front."""
        self._show_run_of(entry.run_id)
        self._show_node(entry.node_id)
        self._window.dock.show_tab(0)
        self._chat.transcript.jump_to_end()
        self.steering.go_into(entry)

    def _show_waiting_here(self, entry: WaitingEntry) -> None:
        run = self._common.runs.of(self._window.document.path)
        if run is not None and run.run_id == entry.run_id:
            self.show_waiting(entry)

    def _show_run_of(self, run_id: str) -> None:
        """Show this run, where an older one is looked at."""
        front = self._front()
        if front.session is None or front.session.run_id != run_id or front.session.is_replay:
            self._show_run(front, None)

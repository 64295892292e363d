"""What a person asks of the window becomes calls of the backend; what they refuse is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.chat.rows import PROBLEMS
from app.command_palette import CommandPalette
from app.editing import Editing
from app.history.historian import Historian
from app.inspecting import Inspecting
from app.kit.dialogs import choose_file, confirm
from app.kit.endings import within
from app.kit.formats import plural
from app.kit.tasks import Tasks
from app.library.librarian import Librarian
from app.lookups import Lookups
from app.main_window import MainWindow
from app.panes import Panes
from app.presenter import (
    CHECKING,
    DEMO_SENTENCE,
    NOTHING_OPEN,
    Presenter,
    ReadyState,
    example_workflows,
)
from app.problem_words import in_short, in_window_words, sentence
from app.run_session import RunSession, ShownRun
from app.saving import Saving, file_digest
from app.steering import Steering
from app.waiting_list import WaitingEntry
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from engine.vocabulary.errors import EngineError
from orchestration.backend import Backend
from orchestration.errors import RunRefused, UserError
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.workflow_swaps import SwapStore

logger = logging.getLogger(__name__)

DEMO = RunOverrides(provider="embedded")
_STOP_S = 5.0
_DRAIN_S = 2.0
_CLOSE_S = 8.0
_CHECK_MS = 250


class Workbench(QObject):
    """Joins one window and the backend. Needs a running event loop."""

    def __init__(self, window: MainWindow, backend: Backend) -> None:
        super().__init__(window)
        self._window = window
        self._backend = backend
        self._document = window.document
        self._chat = window.dock.chat
        self.tasks = Tasks(self.report)
        self._sessions: dict[Path, RunSession] = {}
        self._overrides: dict[Path, RunOverrides] = {}
        self._presenter = Presenter(window)
        self.editing = Editing(window)
        self.saving = Saving(
            window,
            self.tasks,
            SwapStore(backend.data_dir / "swaps"),
            backend.data_dir / "workflows",
        )
        self.inspecting = Inspecting(window, backend, self.tasks)
        self.palette = CommandPalette(window, window.sidebar.entries, self._open_file)
        self.steering = Steering(window, backend, self._presenter, self._do, self._start)
        self.librarian = Librarian(
            window, backend, self.editing, self.saving, self._do, self._is_running
        )
        self.historian = Historian(
            window, backend, self._do, self._open, self._follow, self._show_run
        )
        self.lookups = Lookups(window, self._do)
        self.panes = Panes(window, self._presenter, self._backend, self._do)
        self._checking = QTimer(self)
        self._checking.setSingleShot(True)
        self._checking.setInterval(_CHECK_MS)
        self._checking.timeout.connect(self._check_edited)
        self._connect()

    def begin(self, path: Path | None) -> None:
        """Read the model of what is on screen already, or show that nothing is open."""
        for notice in self._backend.notices:
            self._window.toasts.show_error(notice)
        self.librarian.refresh()
        self.historian.begin()
        if path is None:
            self._presenter.ready = NOTHING_OPEN
            self._refresh()
        else:
            self._refresh()
            self._do(self._open(path, is_first=True), "open the first workflow")

    def report(self, error: BaseException) -> None:
        """Tell of a failure that nobody has foreseen."""
        logger.error("something unexpected happened", exc_info=error)
        self._window.toasts.show_error(f"Something unexpected happened: {error}")

    async def agrees_to_close(self) -> bool:
        """Ask before edits are lost or runs are ended; without any there is nothing to ask."""
        if not await self.saving.may_be_left():
            return False
        active = [session for session in self._sessions.values() if session.is_active]
        if not active:
            return True
        names = ", ".join(dict.fromkeys(session.workflow.name for session in active))
        return await confirm(
            self._window,
            "Stop and quit?",
            f"{plural(len(active), 'run')} under way: {names}. Quitting stops what is running.",
            "Stop and Quit",
        )

    async def close(self) -> None:
        """Stop the runs, end the tasks, close the backend: in this order, and within bounds."""
        self._checking.stop()
        self.librarian.close()
        self.historian.close()
        self.panes.close()
        await self.saving.close()
        active = [session for session in self._sessions.values() if session.is_active]
        stops = [self._backend.stop_run(session.run_id) for session in active]
        await within(_STOP_S, asyncio.gather(*stops), "stopping the runs")
        for session in self._sessions.values():
            session.close()
        if not await self.tasks.drain(_DRAIN_S):
            logger.warning("some tasks did not end in time")
        await within(_CLOSE_S, self._backend.aclose(), "closing the backend")

    def _connect(self) -> None:
        window, chat = self._window, self._chat
        window.wished.connect(self._on_wish)
        window.desks.edited.connect(self._on_edited)
        self.saving.reopened.connect(self._on_reopened)
        self.librarian.opened.connect(self._open_file)
        self.librarian.closed.connect(self._show_nothing)
        self.librarian.compared.connect(self.lookups.compare_with)
        self.saving.state_changed.connect(window.top_bar.show_save_state)
        window.file_dropped.connect(self._open_file)
        window.sidebar.chosen.connect(self._open_file)
        window.desks.node_chosen.connect(self._on_node_chosen)
        window.dock.trace.node_chosen.connect(window.scene.choose_node)
        window.waiting_list.chosen.connect(self._go_to_waiting)
        chat.filter_chosen.connect(window.scene.choose_node)
        chat.composer.other_chosen.connect(window.scene.choose_node)
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
            self._window.toasts.show_error(sentence(error))
            self._chat.intents.refused.emit()
        finally:
            self._refresh()

    def _refresh(self) -> None:
        self._presenter.refresh(self._sessions.values())
        self.historian.notice(self._sessions.values(), self._presenter.session)

    def _on_wish(self, action_id: str) -> None:
        parts = (
            self.editing,
            self.saving,
            self.librarian,
            self.lookups,
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

    async def _ask_for_file(self) -> None:
        folder = self._document.path.parent if self._document.path else None
        file = await choose_file(self._window, "Open Workflow", folder)
        if file is not None:
            self._open_file(file)

    def _open_file(self, path: Path) -> None:
        self._do(self._open(path.absolute()), "open a workflow")

    async def _create(self) -> None:
        """Make a new file with one node in it, and open it."""
        path = await asyncio.to_thread(self._backend.create_workflow)
        await self._open(path)

    async def _open(self, path: Path, *, is_first: bool = False) -> None:
        if not is_first and not await self.saving.may_be_left():
            return
        try:
            base = await asyncio.to_thread(file_digest, path)
            workflow = await asyncio.to_thread(self._backend.load_workflow, path)
        except UserError:
            if not await asyncio.to_thread(path.exists):
                self._window.state.forget(path)
            if is_first:
                # Only its outline was on screen; there is nothing behind it.
                self._show_nothing()
            raise
        self._document.show_workflow(path, workflow)
        self._window.state.remember_open(path, workflow.name)
        self._show_session(self._sessions.get(path))
        await self._check(path, workflow)
        self._refresh()
        await self.saving.opened(path, base)

    def _show_nothing(self) -> None:
        self._document.clear()
        self._presenter.ready = NOTHING_OPEN
        self._show_session(None)

    def _is_running(self, path: Path) -> bool:
        session = self._sessions.get(path)
        return session is not None and session.is_active

    def _on_edited(self) -> None:
        if self._document.workflow is not None:
            self._checking.start()

    def _check_edited(self) -> None:
        path, workflow = self._document.path, self._document.workflow
        if path is not None and workflow is not None:
            self._do(self._check(path, workflow, is_new=False), "check the workflow")

    def _on_reopened(self, path: Path) -> None:
        self._window.state.remember_open(path, self._document.graph.name)
        self._show_session(self._sessions.get(path))
        self._check_edited()

    async def _check(self, path: Path, workflow: Workflow, *, is_new: bool = True) -> None:
        """Find out whether the open workflow can run, and what stands in its way.

        What was found out of an earlier version of it stays on screen until then.
        """
        presenter = self._presenter
        if is_new:
            presenter.ready = CHECKING
            self._refresh()
        overrides = self._overrides.get(path, RunOverrides())
        readiness, problems = await asyncio.to_thread(self._judge, workflow, overrides)
        offers_demo = False
        if problems or not readiness.ready:
            demo, others = await asyncio.to_thread(self._judge, workflow, DEMO)
            offers_demo = demo.ready and not others
        if self._document.workflow is not workflow:
            return
        self._window.scene.show_problems(problems)
        self.inspecting.show_problems(tuple(map(in_window_words, problems)))
        if not problems:
            presenter.draft.clear()
            presenter.draft.flush()
        if problems:
            presenter.ready = ReadyState("blocked", in_short(problems))
            self._show_problems(problems, offers_demo)
        elif not readiness.ready:
            presenter.ready = ReadyState("blocked", sentence(readiness.sentence))
        else:
            words = DEMO_SENTENCE if readiness.is_demo else sentence(readiness.sentence)
            presenter.ready = ReadyState("ready", words)

    def _judge(
        self, workflow: Workflow, overrides: RunOverrides
    ) -> tuple[Any, tuple[Problem, ...]]:
        return (
            self._backend.readiness(workflow, overrides),
            self._backend.problems(workflow, overrides),
        )

    def _show_problems(self, problems: tuple[Problem, ...], offers_demo: bool) -> None:
        draft = self._presenter.draft
        draft.clear()
        row = draft.add(PROBLEMS, "", "", 0.0)
        row.payload = (tuple(map(in_window_words, problems)), offers_demo)
        row.is_open = True
        draft.flush()

    def _show_run(self, run: ShownRun | None) -> None:
        """Show a run that is looked at, or with `None` what belongs to the open workflow."""
        path = self._document.path
        self._show_session(run or (self._sessions.get(path) if path is not None else None))

    def _show_session(self, session: ShownRun | None) -> None:
        self._presenter.session = session
        self._presenter.draft.clear()
        self._presenter.draft.flush()
        self._refresh()

    def _start(self, text: str) -> None:
        if self._window.actions_["run"].isEnabled():
            self._presenter.is_starting = True
            self._refresh()
            self._do(self._run(text), "run")

    async def _run(self, text: str) -> None:
        path, workflow = self._document.path, self._document.workflow
        try:
            if path is None or workflow is None:
                return
            overrides = self._overrides.get(path, RunOverrides())
            # Runs of a project's workflow work in the folder of the project.
            cwd = await asyncio.to_thread(self._backend.library.run_folder, path)
            request = RunRequest(workflow, text, overrides, cwd=cwd, source=path)
            try:
                run_id = await self._backend.start_run(request)
            except RunRefused as refusal:
                self._presenter.session = None
                self._show_problems(refusal.problems, offers_demo=False)
                self._presenter.ready = ReadyState("blocked", in_short(refusal.problems))
                return
            self._follow(run_id, path, workflow)
            if self._chat.composer.text == text:
                self._chat.composer.clear()
        finally:
            self._presenter.is_starting = False

    def _follow(self, run_id: str, path: Path, workflow: Workflow) -> None:
        old = self._sessions.pop(path, None)
        session = RunSession(self._backend, run_id, path, workflow, self)
        session.advanced.connect(self._refresh)
        self._sessions[path] = session
        if self._document.path == path:
            self._window.scene.choose_node("")
            self._show_session(session)
        if old is not None:
            old.close()
            old.deleteLater()

    def _run_on_demo(self) -> None:
        path, workflow = self._document.path, self._document.workflow
        if path is not None and workflow is not None:
            self._overrides[path] = DEMO
            self._do(self._check_and_start(path, workflow), "run on the demo model")

    async def _check_and_start(self, path: Path, workflow: Workflow) -> None:
        self._show_session(None)
        await self._check(path, workflow)
        self._refresh()
        self._start(self._chat.composer.text)

    def _on_node_chosen(self, node_id: str) -> None:
        session = self._presenter.session
        if session is not None:
            session.model.set_filter(node_id)
        self._refresh()

    def _show_node(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)
        self._window.canvas.reveal(node_id)

    def _write_to(self, node_id: str) -> None:
        self._window.scene.choose_node(node_id)
        self._window.actions_["composer"].trigger()

    def _go_to_waiting(self, entry: WaitingEntry) -> None:
        self._do(self._go_to(entry), "go to what waits")

    async def _go_to(self, entry: WaitingEntry) -> None:
        for path, session in list(self._sessions.items()):
            if session.run_id == entry.run_id and path != self._document.path:
                await self._open(path)
        self._show_node(entry.node_id)
        self._window.dock.show_tab(0)
        self._chat.transcript.jump_to_end()
        self.steering.go_into(entry)

"""What a person does with stored runs becomes calls of the backend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.common import Common
from app.history.fork_dialog import ask_for_fork
from app.history.fork_points import fork_nodes
from app.history.replay_session import ReplaySession
from app.history.run_dialogs import ask_for_tidying, choose_export, choose_import
from app.history.run_homes import RunHomes
from app.history.run_table_model import PAGE
from app.history.run_trouble import RunTrouble
from app.kit.dialogs import confirm
from app.kit.formats import plural
from app.kit.report_dialog import choose_report
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow
from app.opening import Opening
from app.run_session import ShownRun
from engine.graph.workflow import Workflow
from orchestration.errors import UserError
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import RunQuery, StoredRun
from orchestration.runs.view_values import RunStatus

Do = Callable[[Coroutine[Any, Any, None], str], None]
_SETTLE_MS = 250
CHAT, TRACE, HISTORY = range(3)


class Historian(QObject):
    """Joins the history of one window and the backend."""

    def __init__(
        self,
        window: MainWindow,
        common: Common,
        do: Do,
        opening: Opening,
        show_run: Callable[[OpenWorkflow, ShownRun | None], None],
    ) -> None:
        """Listen to the window.

        Args:
            window: whose history it is.
            common: has the backend, which keeps the runs.
            do: starts work and says what it refuses.
            opening: opens files and knows what is in front.
            show_run: shows a run that is looked at, or with `None` what was shown before.
        """
        super().__init__(window)
        self._window = window
        self._common = common
        self._backend = common.backend
        self._do = do
        self._opening = opening
        self._show_run = show_run
        self._panel = window.dock.history
        self._list = self._panel.runs
        self._bar = window.dock.replay_bar
        self._generation = 0
        self._known: tuple[tuple[str, str], ...] = ()
        self._is_closed = False
        self._on_bar: ReplaySession | None = None
        self._homes = RunHomes(window, common, opening)
        self.trouble = RunTrouble(window, common.backend, do, self._read)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        self._connect()

    @property
    def replay(self) -> ReplaySession | None:
        """The run that is looked at in the tab in front."""
        session = self._opening.front.session
        return session if isinstance(session, ReplaySession) else None

    def begin(self) -> None:
        """Offer what was cut off the last time."""
        self._do(self._offer_interrupted(), "look for runs that were cut off")

    def act(self, action_id: str) -> bool:
        """Do what an action asks for; tells whether it is one of the history's."""
        if action_id == "history":
            self._window.dock.show_tab(HISTORY)
        elif action_id == "continue" and self.replay is not None:
            self._resume_replayed()
        else:
            return False
        return True

    def refresh(self) -> None:
        """Read the list again, if it is in view."""
        if not self._is_closed and self._window.dock.tab == HISTORY:
            self._do(self._read(), "list the runs")

    def notice(self, sessions: Iterable[ShownRun]) -> None:
        """Follow what goes on: the list shows it soon, the bar belongs to the replay in front."""
        known = tuple((each.run_id, str(each.view.status)) for each in sessions)
        if known != self._known:
            self._known = known
            self._settle.start()
        self.trouble.notice(self._opening.front.session)
        if self.replay is not self._on_bar:
            self._on_bar = self.replay
            self._bar.show_session(self._on_bar)

    def close(self) -> None:
        """Ask for nothing any more."""
        self._is_closed = True
        self._settle.stop()
        self._list.stop()
        self._bar.show_session(None)

    def _connect(self) -> None:
        dock, bar = self._window.dock, self._bar
        dock.tab_shown.connect(lambda _: self.refresh())
        self._list.wanted_changed.connect(self.refresh)
        self._list.asked.connect(self._on_asked)
        self._list.model.wanted.connect(self._on_more_wanted)
        self._list.model.named.connect(self._on_named)
        self._window.desks.replaced.connect(self.refresh)
        bar.left.connect(self._leave_replay)
        bar.resumed.connect(self._resume_replayed)
        bar.forked.connect(self._fork_replayed)
        dock.interrupted_bar.resumed.connect(self._on_resume)
        dock.interrupted_bar.shown.connect(self._show_interrupted)

    def _query(self, limit: int, offset: int = 0) -> RunQuery:
        wanted, workflow = self._list.wanted, self._window.document.workflow
        is_one = wanted.only_this_workflow and workflow is not None
        self._list.show_scope(is_all=not is_one)
        return RunQuery(
            text=wanted.text,
            workflow_id=workflow.id if is_one and workflow is not None else None,
            statuses=frozenset({RunStatus(wanted.status)}) if wanted.status else frozenset(),
            limit=limit + 1,  # one more tells whether there are more
            offset=offset,
        )

    async def _read(self) -> None:
        self._generation += 1
        generation = self._generation
        model, limit = self._list.model, max(PAGE, self._list.model.rowCount())
        try:
            runs = await self._backend.runs(self._query(limit))
        except UserError as error:
            self.trouble.hear(error)
            self._list.show_empty_text("The stored runs cannot be read.")
            raise
        if generation != self._generation or self._is_closed:
            return
        chosen = [run.run_id for run in self._list.chosen()]
        bar = self._list.table.verticalScrollBar()
        place = bar.value()
        model.show_runs(runs[:limit], has_more=len(runs) > limit)
        self._list.choose(chosen)
        bar.setValue(place)
        wanted = self._list.wanted
        nothing = "No run matches." if wanted.text or wanted.status else "No runs yet."
        self._list.show_empty_text(nothing)

    def _on_more_wanted(self, offset: int) -> None:
        self._do(self._read_more(offset), "list more runs")

    async def _read_more(self, offset: int) -> None:
        generation, model = self._generation, self._list.model
        try:
            runs = await self._backend.runs(self._query(PAGE, offset))
        except UserError:
            model.fetching_failed()
            raise
        if generation == self._generation and not self._is_closed:
            model.add_page(runs[:PAGE], has_more=len(runs) > PAGE)

    def _on_named(self, run_id: str, name: str) -> None:
        self._do(self._then_read(self._backend.rename_run(run_id, name)), "rename a run")

    def _on_asked(self, offer_id: str) -> None:
        chosen = self._list.chosen()
        if offer_id == "rename":
            self._list.rename_chosen()
            return
        alone: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "import": self._import,
            "prune": self._tidy_up,
            "delete": partial(self._delete, chosen),
        }
        if offer_id in alone:
            self._do(alone[offer_id](), offer_id)
        elif offer_id == "compare" and len(chosen) == 2:
            self._do(self._compare(*chosen), "compare two runs")
        elif chosen:
            of_one = {
                "replay": self._replay,
                "resume": self._resume,
                "fork": self._fork,
                "export": self._export,
                "report": self._save_report,
            }
            self._do(of_one[offer_id](chosen[0]), f"{offer_id} a run")

    async def _then_read(self, work: Awaitable[Any]) -> None:
        await work
        await self._read()

    async def _delete(self, runs: list[StoredRun]) -> None:
        names = f"“{runs[0].name}”" if len(runs) == 1 else plural(len(runs), "run")
        words = "What they said, their files of their own and their history go with them."
        if len(runs) == 1:
            words = "What it said, its files of its own and its history go with it."
        if not await confirm(self._window, f"Delete {names}?", words, "Delete"):
            return
        try:
            for run in runs:
                await self._backend.delete_run(run.run_id)
                self._window.dock.interrupted_bar.forget(run.run_id)
                if self.replay is not None and self.replay.run_id == run.run_id:
                    self._leave_replay()
        finally:
            await self._read()

    async def _tidy_up(self) -> None:
        wanted = await ask_for_tidying(self._window)
        if wanted is None:
            return
        deleted = await self._backend.prune_runs(
            older_than_s=wanted.older_than_s, most_bytes=wanted.most_bytes
        )
        words = f"{plural(len(deleted), 'run')} deleted" if deleted else "No run was old enough"
        self._window.toasts.show_done(words)
        await self._read()

    async def _export(self, run: StoredRun) -> None:
        path = await choose_export(self._window, run.name)
        if path is not None:
            await self._backend.export_run(run.run_id, path)
            self._window.toasts.show_done(f"Exported to {path.name}")

    async def _save_report(self, run: StoredRun) -> None:
        path = await choose_report(self._window, run.name)
        if path is not None:
            await self._backend.save_report(run.run_id, path)
            self._window.toasts.show_done(f"Report saved to {path.name}")

    async def _import(self) -> None:
        path = await choose_import(self._window)
        if path is None:
            return
        run_id = await self._backend.import_run(path)
        self._list.show_all()
        await self._read()
        self._list.choose([run_id])

    async def _compare(self, a: StoredRun, b: StoredRun) -> None:
        first, second = sorted((a, b), key=lambda run: run.started)
        self._panel.compare(await self._backend.compare_runs(first.run_id, second.run_id))

    def _on_resume(self, run: StoredRun) -> None:
        self._do(self._resume(run), "resume a run")

    async def _resume(self, run: StoredRun) -> None:
        work, path, workflow = await self._homes.at_home(run)
        run_id = await self._backend.resume_run(run.run_id)
        self._went_on(work, run_id, path, workflow)
        self._window.dock.interrupted_bar.forget(run.run_id)

    async def _fork(self, run: StoredRun, seq: int | None = None) -> None:
        view = await self._backend.replay(run.run_id)
        nodes = fork_nodes(view, await self._backend.turns(run.run_id))
        wish = await ask_for_fork(run.name, nodes, seq, self._window.theme, self._window)
        if wish is None:
            return
        work, path, workflow = await self._homes.at_home(run)
        run_id = await self._backend.fork_run(
            run.run_id, node_id=wish.node_id, turn=wish.turn, seq=wish.seq, changes=wish.changes
        )
        self._went_on(work, run_id, path, workflow)

    def _went_on(self, work: OpenWorkflow, run_id: str, path: Path, workflow: Workflow) -> None:
        self._show_run(work, None)
        self._common.runs.follow(run_id, path, workflow)
        self._window.dock.show_tab(CHAT)

    async def _replay(self, run: StoredRun) -> None:
        work, path, workflow = await self._homes.as_it_ran(run)
        view = await self._backend.replay(run.run_id)
        records = await self._backend.stored_events(run.run_id)
        look_at = partial(self._look_at, run.run_id)
        session = ReplaySession(run, path, workflow, view, records, look_at, work)
        session.wish_to_move = partial(self._move, session)
        await session.show_end()
        session.advanced.connect(work.changed)
        self._show_run(work, session)
        self._window.dock.show_tab(CHAT)

    async def _look_at(self, run_id: str, until: int) -> RunView:
        return await self._backend.replay(run_id, until)

    def _move(self, session: ReplaySession) -> None:
        self._do(session.move(), "move through a replay")

    def _leave_replay(self) -> None:
        if self.replay is not None:
            self._show_run(self._opening.front, None)

    def _resume_replayed(self) -> None:
        if self.replay is not None:
            self._do(self._resume(self.replay.run), "resume a run")

    def _fork_replayed(self) -> None:
        replay = self.replay
        if replay is not None:
            replay.play(0)
            seq = replay.record.seq if replay.record is not None else 0
            self._do(self._fork(replay.run, seq), "fork a run")

    async def _offer_interrupted(self) -> None:
        try:
            runs = await self._backend.interrupted_runs()
        except UserError as error:
            self.trouble.hear(error)
            raise
        if not self._is_closed:
            self._window.dock.interrupted_bar.offer(runs)

    def _show_interrupted(self) -> None:
        self._list.show_all("running")
        self._window.dock.show_tab(HISTORY)

"""Runs with everything kept that they need to go on: begun, taken up again, let go."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from uuid import uuid4

from engine.graph.workflow import Workflow
from orchestration.errors import NoContinuableRun
from orchestration.run_facts import (
    began_with,
    opening_of,
    overrides_since,
    recorded_again,
    recovery_of,
    was_edited,
)
from orchestration.run_making import ReadyRun, RunMaker
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.entropy import SEED_BYTES
from orchestration.runs.folder_turns import FolderTurns, Turn
from orchestration.runs.requests import NO_OVERRIDES, RunOverrides, RunRequest
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.settings.data_folder import runs_folder
from orchestration.storage.connections import database_location
from orchestration.storage.database import Database
from orchestration.storage.errors import LeaseLost, StorageError
from orchestration.storage.event_log import EventLog
from orchestration.storage.facts import RecordedRun
from orchestration.storage.file_evidence import remove_left_overs
from orchestration.storage.rebuilding import (
    agents_of,
    view_of,
    workflow_of,
)
from orchestration.storage.run_journal import RunJournal
from orchestration.storage.run_store import RunStore
from orchestration.surroundings import Surroundings
from orchestration.tools.file_edits.recalled_files import recalled

logger = logging.getLogger(__name__)

EDITED_SINCE = (
    "the workflow was edited since this run began; the run goes on with the one that it began with"
)


class KeptRun:
    """A run of this process and where it is kept."""

    __slots__ = (
        "forget_trouble",
        "is_held",
        "is_in_trouble",
        "journal",
        "log",
        "number",
        "run",
        "turn",
    )

    def __init__(
        self, run: RunCoordinator, number: int, journal: RunJournal, log: EventLog
    ) -> None:
        self.run, self.number, self.journal, self.log = run, number, journal, log
        self.is_held = True
        self.is_in_trouble = False
        self.turn: Turn | None = None
        self.forget_trouble: Callable[[], None] = lambda: None


class RunKeeper:
    """The runs of a data folder. Belongs to the thread of one event loop.

    Every method may raise a `StorageError`.
    """

    def __init__(self, surroundings: Surroundings, maker: RunMaker) -> None:
        data_dir = surroundings.data_dir
        self.folder = runs_folder(data_dir)
        self.database = Database(database_location(data_dir, surroundings.env))
        self.database.on_recovered = self._tell_what_is_left
        self.store = RunStore(self.database, self.folder)
        self._maker = maker
        self._kept: dict[str, KeptRun] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._was_backed_up = False
        self.turns = FolderTurns(data_dir / "folders")

    async def begin(self, request: RunRequest, ready: ReadyRun) -> RunCoordinator:
        """Store a new run and give it; it is to be started."""
        await self._recover()
        run_id, seed = str(uuid4()), os.urandom(SEED_BYTES)
        opening = await asyncio.to_thread(opening_of, run_id, seed, request, ready)
        opened = await self.store.open_run(opening, is_reading=ready.is_reading)
        setup = self._maker.setup(
            run_id,
            ready,
            seed=seed,
            text=request.text,
            allowance=request.allowance,
            on_event=request.on_event,
        )
        run = RunCoordinator(setup, opened.journal)
        kept = self._keep(run, opened.number, opened.journal, 0)
        try:
            await self._take_turn(kept, ready, opening.name)
        except BaseException:
            await self.let_go(run_id)
            await self.store.delete(run_id)
            raise
        self._back_up()
        return run

    async def take_up(self, run_id: str, overrides: RunOverrides = NO_OVERRIDES) -> RunCoordinator:
        """Load a stored run and give it; it is to go on. `overrides` count from here on.

        Raises:
            RunNotStored: there is no such run.
            RunIsDriven: another process drives it.
            NoContinuableRun: it has completed.
            RunRefused: nobody would answer it, or its folder is gone.
        """
        await self._recover()
        recorded = await self.store.load(run_id)
        if recorded.summary.status is RunStatus.COMPLETED:
            raise NoContinuableRun(run_id, recorded.summary.status.value)
        ready, notices = await asyncio.to_thread(self._ready_again, recorded, overrides)
        resumed = await self.store.resume_run(run_id, is_reading=ready.is_reading)
        recorded = resumed.recorded
        try:
            if overrides != NO_OVERRIDES:
                await self.store.answered_anew(
                    recorded, recorded_again(recorded.opening, ready, overrides)
                )
            parts = await self.store.events(run_id)
            recovery = await asyncio.to_thread(recovery_of, recorded, ready, parts)
            seen, edits = [each for _, each in recorded.seen], self.folder / run_id / "edits"
            files = await asyncio.to_thread(recalled, seen, edits)
            setup = self._maker.setup(
                run_id,
                ready,
                seed=recorded.opening.seed,
                text=recorded.opening.entrypoint.text,
                notices=notices,
                files=files,
            )
            run = RunCoordinator(setup, resumed.journal, recovery)
            await asyncio.to_thread(run.recall_documents)
        except BaseException:
            await self.store.release(recorded.number)
            raise
        segment = max(recorded.segments - 1, 0)
        kept = self._keep(run, recorded.number, resumed.journal, segment)
        try:
            await self._take_turn(kept, ready, recorded.summary.name)
        except BaseException:
            await self.let_go(run_id)
            raise
        if kept.turn is not None and not run.is_held:
            await asyncio.to_thread(remove_left_overs, recorded.open_calls, time.time())
        self._back_up()
        return run

    async def hold_again(self, run: RunCoordinator) -> bool:
        """Take the lease of a run that is over and is to go on; false if it went on elsewhere.

        Raises:
            RunIsDriven: another process drives it.
        """
        kept = self._kept.get(run.run_id)
        await self._recover()
        if kept is None or kept.is_in_trouble:
            return False
        if not kept.is_held:
            kept.is_held = await self.store.hold_again(kept.number, run.run_id, kept.journal)
        if kept.is_held and kept.turn is not None:
            if await self.turns.take(kept.turn):
                run.release()
            else:
                run.hold()
        return kept.is_held

    async def let_go(self, run_id: str) -> None:
        """Give back a run that was taken up and is not to go on after all."""
        kept = self._kept.get(run_id)
        if kept is not None and kept.is_held:
            kept.is_held = False
            await self.store.release(kept.number)
        if kept is not None and kept.turn is not None:
            self.turns.leave(kept.turn)
        self.forget(run_id)

    async def summary(self, run_id: str) -> StoredRun:
        """The row of a run in a list of runs.

        Raises:
            RunNotStored: there is no such run.
        """
        return await self.store.summary(run_id)

    async def replay(self, run_id: str, until: int | None = None) -> RunView:
        """A run as it looked after an event, or after the last one, read only.

        Raises:
            RunNotStored: there is no such run.
        """
        recorded = await self.store.load(run_id)
        parts = await self.store.events(run_id, until)
        return await asyncio.to_thread(lambda: view_of(recorded, workflow_of(recorded), parts))

    async def recorded_workflow(self, run_id: str, today: Workflow | None) -> Workflow | None:
        """The workflow that a run was made with, `None` if `today` is the same one.

        Raises:
            RunNotStored: there is no such run.
        """
        recorded = await self.store.load(run_id)
        is_same = today is not None and await asyncio.to_thread(began_with, recorded.opening, today)
        return None if is_same else await asyncio.to_thread(workflow_of, recorded)

    async def written(self) -> None:
        """Wait until everything so far outlives a kill of the program, unless nothing can."""
        if self.database.failure is None:
            await self.database.barrier()

    def forget(self, run_id: str) -> None:
        """Keep no more of a run that was let go."""
        kept = self._kept.pop(run_id, None)
        if kept is not None:
            kept.forget_trouble()

    async def aclose(self) -> None:
        """Write what is left, and end. The runs have to be closed before.

        Raises:
            StorageError: something was not written.
        """
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self.turns.aclose()
        for run_id in list(self._kept):
            self.forget(run_id)
        await self.database.aclose()

    def _keep(self, run: RunCoordinator, number: int, journal: RunJournal, segment: int) -> KeptRun:
        log = EventLog(self.database, number, run.view, journal, segment=segment)
        kept = self._kept[run.run_id] = KeptRun(run, number, journal, log)
        run.listen_first(log.take)
        run.on_reopened = log.reopened
        run.on_over = lambda: self._let_go(kept)
        kept.forget_trouble = self.database.on_trouble(
            lambda error: self._end_in_trouble(kept, error), number
        )
        return kept

    async def _take_turn(self, kept: KeptRun, ready: ReadyRun, name: str) -> None:
        """Have the run wait until no other one writes in its folder."""
        if not ready.may_write:
            return
        run, loop = kept.run, asyncio.get_running_loop()

        def tell(reason: str, may_go_first: bool) -> None:
            # whoever starts it may first subscribe
            loop.call_soon(run.tell_waiting, reason, may_go_first)

        def go_on() -> None:
            run.tell_waiting()
            run.release()

        kept.turn = Turn(
            run.run_id,
            name,
            ready.workspace.root,
            is_paused=lambda: run.is_paused,
            on_waiting=tell,
            on_granted=go_on,
            on_lost=run.hold,
        )
        turn = kept.turn
        run.on_held = lambda: self.turns.ask_again(turn)
        if not await self.turns.take(turn):
            run.hold()

    def _end_in_trouble(self, kept: KeptRun, error: StorageError) -> None:
        kept.is_in_trouble = True
        if isinstance(error, LeaseLost):
            kept.is_held = False
        kept.run.give_up(str(error))

    def _let_go(self, kept: KeptRun) -> None:
        """Give the folder back, and the lease when everything of the run is written."""
        if kept.turn is not None:
            self.turns.leave(kept.turn)
        if kept.is_held and self.database.failure is None:
            kept.is_held = False
            kept.log.flush()
            self._in_background(self.store.release(kept.number))

    def _back_up(self) -> None:
        if not self._was_backed_up:
            self._was_backed_up = True
            self._in_background(self.store.back_up_if_due())

    def _in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        async def carry_out() -> None:
            try:
                await work
            except StorageError as error:
                logger.warning("%s", error)

        task = asyncio.get_running_loop().create_task(carry_out())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _recover(self) -> None:
        """Try again what could not be written, before something new is."""
        if self.database.failure is not None:
            await self.database.recover()

    def _tell_what_is_left(self) -> None:
        for kept in self._kept.values():
            kept.log.flush()

    def _ready_again(
        self, recorded: RecordedRun, overrides: RunOverrides
    ) -> tuple[ReadyRun, tuple[str, ...]]:
        opening = recorded.opening
        workflow = workflow_of(recorded)
        reached = overrides_since(opening.overrides, overrides)
        ready = self._maker.ready_again(
            RunRequest(workflow, overrides=reached, cwd=Path(opening.cwd)),
            agents=agents_of(recorded),
            nodes_without_tools=frozenset(opening.nodes_without_tools),
            project_root=opening.project_root,
        )
        return ready, (EDITED_SINCE,) if was_edited(opening) else ()

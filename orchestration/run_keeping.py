"""Runs with everything kept that they need to go on: begun, taken up again, let go."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from engine.graph.serialization import WorkflowFormatError, dump_workflow, load_workflow
from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.inputs import Entrypoint, MessageQueued, Started
from engine.vocabulary.recovery import CallEvidence, KnownEnd
from orchestration.errors import NoContinuableRun
from orchestration.run_making import ReadyRun, RunMaker
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.entropy import SEED_BYTES, SeededEntropy
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.recovery import Recovery
from orchestration.runs.requests import RunRequest
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.settings.data_folder import runs_folder
from orchestration.storage.connections import database_location
from orchestration.storage.database import Database
from orchestration.storage.errors import LeaseLost, StorageError
from orchestration.storage.event_log import EventLog
from orchestration.storage.facts import RecordedRun, RunOpening, run_name
from orchestration.storage.file_evidence import versions_now
from orchestration.storage.rebuilding import (
    agents_of,
    rebuilt_engine,
    recorded_workflow,
    view_of,
    workflow_of,
)
from orchestration.storage.run_journal import RunJournal
from orchestration.storage.run_rows import StoredEvents
from orchestration.storage.run_store import RunStore
from orchestration.storage.told import Told, untold
from orchestration.storage.uncertain import classified
from orchestration.surroundings import Surroundings

logger = logging.getLogger(__name__)

EDITED_SINCE = (
    "the workflow was edited since this run began; the run goes on with the one that it began with"
)


class KeptRun:
    """A run of this process and where it is kept."""

    __slots__ = ("forget_trouble", "is_held", "journal", "log", "number", "run")

    def __init__(
        self, run: RunCoordinator, number: int, journal: RunJournal, log: EventLog
    ) -> None:
        self.run, self.number, self.journal, self.log = run, number, journal, log
        self.is_held = True
        self.forget_trouble: Callable[[], None] = lambda: None


class RunKeeper:
    """The runs of a data folder. Belongs to the thread of one event loop.

    Every method may raise a `StorageError`.
    """

    def __init__(self, surroundings: Surroundings, maker: RunMaker) -> None:
        data_dir = surroundings.data_dir
        self.folder = runs_folder(data_dir)
        self.database = Database(database_location(data_dir, surroundings.env))
        self.store = RunStore(self.database, self.folder)
        self._maker = maker
        self._kept: dict[str, KeptRun] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._was_backed_up = False

    async def begin(self, request: RunRequest, ready: ReadyRun) -> RunCoordinator:
        """Store a new run and give it; it is to be started."""
        await self._recover()
        run_id, seed = str(uuid4()), os.urandom(SEED_BYTES)
        opening = await asyncio.to_thread(_opening, run_id, seed, request, ready)
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
        self._keep(run, opened.number, opened.journal, 0)
        self._back_up()
        return run

    async def take_up(
        self, run_id: str, on_event: Callable[[EventRecord], None] | None = None
    ) -> RunCoordinator:
        """Load a stored run and give it; it is to go on.

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
        ready, notices = await asyncio.to_thread(self._ready_again, recorded)
        resumed = await self.store.resume_run(run_id, is_reading=ready.is_reading)
        recorded = resumed.recorded
        try:
            parts = await self.store.events(run_id)
            recovery = await asyncio.to_thread(_recovery, recorded, ready, parts)
            setup = self._maker.setup(
                run_id,
                ready,
                seed=recorded.opening.seed,
                text=recorded.opening.entrypoint.text,
                notices=notices,
                on_event=on_event,
            )
            run = RunCoordinator(setup, resumed.journal, recovery)
        except BaseException:
            await self.store.release(recorded.number)
            raise
        segment = max(recorded.segments - 1, 0)
        self._keep(run, recorded.number, resumed.journal, segment)
        self._back_up()
        return run

    async def hold_again(self, run: RunCoordinator) -> bool:
        """Take the lease of a run that is over and is to go on; false if it went on elsewhere.

        Raises:
            RunIsDriven: another process drives it.
        """
        kept = self._kept.get(run.run_id)
        if kept is None or kept.is_held:
            return kept is not None
        await self._recover()
        is_same = await self.store.hold_again(kept.number, run.run_id, kept.journal)
        kept.is_held = is_same
        return is_same

    async def let_go(self, run_id: str) -> None:
        """Give back a run that was taken up and is not to go on after all."""
        kept = self._kept.get(run_id)
        if kept is not None and kept.is_held:
            kept.is_held = False
            await self.store.release(kept.number)
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
        for run_id in list(self._kept):
            self.forget(run_id)
        await self.database.aclose()

    def _keep(self, run: RunCoordinator, number: int, journal: RunJournal, segment: int) -> None:
        log = EventLog(self.database, number, run.view, journal, segment=segment)
        kept = self._kept[run.run_id] = KeptRun(run, number, journal, log)
        run.listen_first(log.take)
        run.on_reopened = log.reopened
        run.on_over = lambda: self._let_go(kept)
        kept.forget_trouble = self.database.on_trouble(
            lambda error: self._end_in_trouble(kept, error), number
        )

    def _end_in_trouble(self, kept: KeptRun, error: StorageError) -> None:
        if isinstance(error, LeaseLost):
            kept.is_held = False
        kept.run.give_up(str(error))

    def _let_go(self, kept: KeptRun) -> None:
        """Give the lease back when everything of the run is written."""
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

    def _ready_again(self, recorded: RecordedRun) -> tuple[ReadyRun, tuple[str, ...]]:
        opening = recorded.opening
        workflow = workflow_of(recorded)
        # Which models answer was settled when the run began; how they are reached was not.
        overrides = msgspec.structs.replace(opening.overrides, model=None)
        if overrides.base_url is None:
            overrides = msgspec.structs.replace(overrides, provider=None)
        ready = self._maker.ready_again(
            RunRequest(workflow, overrides=overrides, cwd=Path(opening.cwd)),
            agents=agents_of(recorded),
            nodes_without_tools=frozenset(opening.nodes_without_tools),
            project_root=opening.project_root,
        )
        return ready, (EDITED_SINCE,) if _was_edited(opening) else ()


def _opening(run_id: str, seed: bytes, request: RunRequest, ready: ReadyRun) -> RunOpening:
    workflow = ready.workflow
    return RunOpening(
        run_id=run_id,
        name=run_name(request.text, workflow.name),
        workflow=recorded_workflow(workflow),
        workflow_id=workflow.id,
        workflow_name=workflow.name,
        seed=seed,
        entrypoint=Entrypoint(request.text),
        agents={agent_id: agent.document() for agent_id, agent in ready.agents.items()},
        nodes_without_tools=tuple(sorted(ready.nodes_without_tools)),
        source_hash=_hash_of(request.workflow),
        source=str(request.source.resolve()) if request.source is not None else "",
        overrides=request.overrides,
        cwd=str(ready.workspace.root),
        project_root=ready.project_root,
        started=time.time(),
    )


def _hash_of(workflow: Workflow) -> str:
    return sha256(dump_workflow(workflow).encode()).hexdigest()


def _was_edited(opening: RunOpening) -> bool:
    """Whether the file that the run's workflow came from says something else by now."""
    if not opening.source or not opening.source_hash:
        return False
    try:
        now = load_workflow(Path(opening.source).read_bytes())
    except FileNotFoundError:
        return False
    except (OSError, WorkflowFormatError) as error:
        logger.info("the workflow of a run cannot be compared: %s", error)
        return True
    return _hash_of(now) != opening.source_hash


def _recovery(recorded: RecordedRun, ready: ReadyRun, parts: list[StoredEvents]) -> Recovery:
    """Everything that the run goes on with; blocking."""
    opening, workflow = recorded.opening, ready.workflow
    steps: list[Told] = []
    engine = rebuilt_engine(
        recorded,
        workflow,
        ready.tools,
        on_step=lambda given, step: steps.append(Told(given, step.events)),
    )
    records = [record for part in parts for record in part.records]
    open_calls = recorded.open_calls
    _, uncertain = classified(open_calls, versions_now(open_calls))
    return Recovery(
        engine=InteractiveEngine.restore(
            engine.checkpoint(),
            workflow,
            entropy=SeededEntropy(opening.seed),
            catalog=ready.tools,
            project_root=opening.project_root,
        ),
        view=view_of(recorded, workflow, parts),
        last_event=recorded.last_event,
        untold=untold(steps, recorded.ends, records),
        messages=sum(map(_is_message, recorded.inputs)),
        ends=tuple(
            [
                KnownEnd(end.result, end.effects)
                for call_id, end in recorded.ends.items()
                if call_id in engine.calls_at_work
            ]
        ),
        evidence=tuple(
            [
                CallEvidence(one.call.call.call.id, one.sign, one.files, one.folders)
                for one in uncertain
            ]
        ),
    )


def _is_message(given: object) -> bool:
    return isinstance(given, MessageQueued) or (
        isinstance(given, Started) and given.message is not None
    )

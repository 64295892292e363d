"""Whole runs on a scripted model that are kept in a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from engine.graph.workflow import Workflow
from engine.vocabulary.inputs import Entrypoint
from engine.vocabulary.report import RunOutcome
from engine.vocabulary.tools import ToolCall, ToolTier
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.limits import Budget
from orchestration.runs.run_setup import RunSetup, RunTelling
from orchestration.storage.connections import Location
from orchestration.storage.database import Database
from orchestration.storage.event_log import EventLog
from orchestration.storage.facts import RunOpening, run_name
from orchestration.storage.rebuilding import recorded_workflow
from orchestration.storage.run_store import RunStore
from orchestration.tools.builtin.read import READ
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool
from tests.support.run_rig import tool_port, writing_tool
from tests.support.scripted_model import Script, ScriptedModel

SEED = b"0123456789abcdef"


@asynccontextmanager
async def stored_runs(folder: Path, **options: Any) -> AsyncIterator[RunStore]:
    """The runs of a data folder; closed at the end."""
    database = Database(Location(folder / "openflow.db"), **options)
    try:
        yield RunStore(database, folder / "runs")
    finally:
        await database.aclose()


def opening_of(workflow: Workflow, run_id: str = "run", text: str = "", **more: Any) -> RunOpening:
    """What a run of the workflow is stored with at its start."""
    return RunOpening(
        run_id=run_id,
        name=run_name(text, workflow.name),
        workflow=recorded_workflow(workflow),
        workflow_id=workflow.id,
        workflow_name=workflow.name,
        seed=SEED,
        entrypoint=Entrypoint(text),
        **{"started": 1000.0, **more},
    )


class StoredRig:
    """One run on a scripted model, everything that it tells and is fed kept in a store."""

    def __init__(
        self,
        store: RunStore,
        workflow: Workflow,
        script: Script,
        folder: Path,
        *,
        run_id: str = "run",
        text: str = "",
        tools: Iterable[Tool] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.store = store
        self.workflow = workflow
        self.folder = folder
        self.run_id = run_id
        self.text = text
        self.model = ScriptedModel(script)
        self.catalog = ToolRegistry([READ, writing_tool(folder)] if tools is None else tools)
        self.budget = Budget()
        self.records: list[EventRecord] = []

    async def open(self) -> RunCoordinator:
        """Store the run and make its coordinator."""
        opened = await self.store.open_run(
            opening_of(self.workflow, self.run_id, self.text), is_reading=self.is_reading
        )
        self.journal = opened.journal
        self.number = opened.number
        self.run = RunCoordinator(
            RunSetup(
                run_id=self.run_id,
                workflow=self.workflow,
                models=self.model,
                catalog=self.catalog,
                make_tools=self._tool_port,
                budget=self.budget,
                text=self.text,
                on_event=self._take,
                seed=SEED,
            ),
            self.journal,
        )
        self.log = EventLog(self.store.database, self.number, self.run.view, self.journal)
        return self.run

    async def start(self) -> RunOutcome:
        """Store, start and wait until nothing moves by itself."""
        (await self.open()).start()
        return await self.run.settled()

    def is_reading(self, call: ToolCall) -> bool:
        """Whether a call changes nothing."""
        definition = self.catalog.definition(call.name)
        return definition is not None and definition.tier is ToolTier.READ

    def _take(self, record: EventRecord) -> None:
        self.records.append(record)
        self.log.take(record)

    def _tool_port(self, telling: RunTelling) -> ToolRunner:
        return tool_port(telling, self.catalog, self.budget, self.workflow, self.folder)

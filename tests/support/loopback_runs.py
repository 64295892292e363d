"""Whole runs whose model is a scripted server behind the real adapters."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.graph.workflow import Workflow
from engine.vocabulary.events import RunEvent, ToolCompleted
from engine.vocabulary.ports import ModelPort
from engine.vocabulary.report import NeedsInteraction, RunOutcome
from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.hosted_tools import HostedTools
from orchestration.runs.limits import Budget
from orchestration.runs.run_setup import RunSetup, RunTelling
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, ToolContext, ToolOutput, services_in
from orchestration.workspace.paths import Workspace
from providers.factory import ProviderPool
from tests.support.engine_driver import workflow
from tests.support.loopback import Answer, Asked, LoopbackServer
from tests.support.wire_runs import config_for
from tests.support.wire_scripts import WireScript

YOLO = {"tools": {"approvalMode": "yolo"}}
ONE_NODE = workflow(nodes=["a"], defaults=YOLO)
LIMIT_S = 120.0
"""How long a run may take before it counts as hung, on a machine that has better things to do."""

Ran = tuple[str, JsonObject]


def recording_tool(
    name: str,
    schema: JsonObject,
    ran: list[Ran],
    tier: ToolTier = ToolTier.WRITE,
    *,
    said: Callable[[str, JsonObject], str] = lambda name, arguments: f"{name} is done",
) -> Tool:
    """A tool that does nothing but note that it ran, and with what; the model is told `said`."""

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        ran.append((name, arguments))
        return ToolOutput(said(name, arguments))

    definition = ToolDefinition(name, f"Does {name}.", schema, tier, ToolConcurrency.SHARED)
    return Tool(definition=definition, run=run)


def closed(required: Sequence[str] = (), **properties: Any) -> JsonObject:
    """The schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class WireRun:
    """One run on a model port. `ran` are the calls that ran, in order."""

    def __init__(
        self, flow: Workflow, port: ModelPort, tools: Sequence[Tool], folder: Path
    ) -> None:
        self.events: list[RunEvent] = []
        self._catalog = ToolRegistry(tools)
        self._folder = folder
        self._budget = Budget()
        self._flow = flow
        self.run = RunCoordinator(
            RunSetup(
                run_id="run",
                workflow=flow,
                models=port,
                catalog=self._catalog,
                make_tools=self._tools,
                budget=self._budget,
                on_event=lambda record: self.events.append(record.event),
                seed=b"0123456789abcdef",
            )
        )

    async def outcome(self) -> RunOutcome:
        """How the run ends, or where it stops for a person."""
        self.run.start()
        async with asyncio.timeout(LIMIT_S):
            return await self.run.settled()

    def results(self) -> list[tuple[str, bool, str]]:
        """What the calls gave back: name, whether it is an error, and the text."""
        return [
            (event.tool_name, event.is_error, event.content)
            for event in self.events
            if isinstance(event, ToolCompleted)
        ]

    def _tools(self, telling: RunTelling) -> HostedTools:
        return ToolRunner(
            self._catalog,
            emit=telling.emit,
            journal=telling.journal,
            permits=self._budget.tools,
            services=services_in(
                self._folder.parent / "own",
                Workspace(self._folder),
                read_handoff=telling.read_handoff,
            ),
            retry_policy=self._flow.settings.retry_policy,
        )


class Played:
    """What came of a run whose model said what a test wrote down."""

    def __init__(self, run: WireRun, outcome: RunOutcome, asked: list[Asked]) -> None:
        self.run = run
        self.outcome = outcome
        self.asked = asked

    @property
    def error(self) -> str:
        """Why the first node failed."""
        assert isinstance(self.outcome, NeedsInteraction), self.outcome
        return self.outcome.retryables[0].error


def play_run(
    script: WireScript,
    answers: Sequence[Answer] | Callable[[Asked], Answer],
    tools: Sequence[Tool],
    folder: Path,
    flow: Workflow = ONE_NODE,
) -> Played:
    """Run a workflow to where it stops, on these answers."""
    if isinstance(answers, Sequence):
        server = LoopbackServer(*answers)
    else:
        server = LoopbackServer(answer_with=answers)

    async def run() -> Played:
        pool = ProviderPool()
        try:
            wire_run = WireRun(flow, pool.port(config_for(script, server.url)), tools, folder)
            outcome = await wire_run.outcome()
            await wire_run.run.close()
            return Played(wire_run, outcome, server.asked)
        finally:
            await pool.aclose()

    with server:
        return asyncio.run(run())


def said_to_model(asked: Asked) -> str:
    """Everything in a request, as plain text without the escapes of JSON in JSON."""
    return re.sub(r"\\+", "", asked.body.decode())

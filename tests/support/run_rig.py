"""Whole runs on a scripted model: a coordinator, or a backend, with everything real around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from engine.graph.workflow import Workflow
from engine.vocabulary.ports import ModelPort
from engine.vocabulary.report import NeedsInteraction, RunOutcome
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.spending import SpendingLimits
from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.backend import Backend
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.hosted_tools import HostedTools
from orchestration.runs.invocation import Price
from orchestration.runs.journal import MemoryJournal
from orchestration.runs.limits import Budget
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.runs.run_setup import RunSetup, RunTelling
from orchestration.runs.view_values import RunStatus
from orchestration.settings.data_folder import quirks_file, secrets_file
from orchestration.settings.live import LiveSettings
from orchestration.settings.model import Settings
from orchestration.settings.quirk_store import QuirkStore
from orchestration.settings.secrets import FileSecrets
from orchestration.surroundings import Surroundings
from orchestration.tools.builtin.read import READ
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, ToolContext, ToolOutput, services_in
from orchestration.workspace.paths import Workspace
from providers.config import ProviderConfig
from providers.embedded.server import EmbeddedServer
from providers.factory import ProviderPool
from tests.support.engine_driver import ASKING, workflow
from tests.support.scripted_model import Script, ScriptedModel

TWO = workflow(nodes=["a", "b"], agents={"a": ASKING, "b": ASKING})
"""Two nodes side by side that may ask a person."""


def run_async(body: Callable[[], Awaitable[None]]) -> None:
    """Run a test body and see that it leaves no task behind."""

    async def main() -> None:
        await body()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    asyncio.run(main())


async def until(condition: Callable[[], Any], turns: int = 2000) -> None:
    """Let the event loop turn until the condition holds; fails if it never does."""
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition did not come about")


def writing_tool(folder: Path) -> Tool:
    """A tool named `write` that writes `content` to `path` in the folder."""

    async def write(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        (folder / str(arguments["path"])).write_text(str(arguments["content"]))
        return ToolOutput(f"wrote {arguments['path']}")

    return Tool(
        definition=ToolDefinition(
            "write",
            "Writes a file.",
            {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
            ToolTier.WRITE,
            ToolConcurrency.EXCLUSIVE,
        ),
        run=write,
    )


class RunRig:
    """One run on a scripted model; make it inside a running event loop.

    It has the `read` tool, and `write` in the same folder.
    """

    def __init__(
        self,
        workflow: Workflow,
        script: Script,
        folder: Path,
        *,
        text: str = "",
        tools: Iterable[Tool] | None = None,
        budget: Budget | None = None,
        on_disk: bool = False,
        notices: tuple[str, ...] = (),
        nodes_without_tools: frozenset[str] = frozenset(),
        context_window: Callable[[str], int | None] | None = None,
        limits: SpendingLimits | None = None,
        price: Price | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.model = ScriptedModel(script)
        self.records: list[EventRecord] = []
        self.journal = MemoryJournal()
        self.budget = budget or Budget()
        self.catalog = ToolRegistry(
            [READ, writing_tool(folder)] if tools is None else tools, nodes_without_tools
        )
        self.workflow = workflow
        self.run = RunCoordinator(
            RunSetup(
                run_id="run",
                workflow=workflow,
                models=self.model,
                catalog=self.catalog,
                make_tools=self._tool_port,
                budget=self.budget,
                text=text,
                folder=folder / "run" if on_disk else None,
                notices=notices,
                on_event=self.records.append,
                context_window=context_window,
                limits=limits,
                price=price,
                seed=b"0123456789abcdef",
            ),
            self.journal,
        )
        self.view = self.run.view

    async def start(self) -> RunOutcome:
        """Start and wait until nothing moves by itself."""
        self.run.start()
        return await self.run.settled()

    def status(self) -> RunStatus:
        """How the run stands."""
        return self.view.status

    def events(self, kind: type[Any]) -> list[Any]:
        """All events of one type so far, in order."""
        return [record.event for record in self.records if isinstance(record.event, kind)]

    def _tool_port(self, telling: RunTelling) -> HostedTools:
        return tool_port(telling, self.catalog, self.budget, self.workflow, self.folder)


def tool_port(
    telling: RunTelling, catalog: ToolRegistry, budget: Budget, workflow: Workflow, folder: Path
) -> ToolRunner:
    """What carries out the calls of a run that works in a folder."""
    return ToolRunner(
        catalog,
        emit=telling.emit,
        journal=telling.journal,
        permits=budget.tools,
        services=services_in(
            folder.parent / "own", Workspace(folder), read_handoff=telling.read_handoff
        ),
        retry_policy=workflow.settings.retry_policy,
    )


async def settled_needs(rig: RunRig) -> NeedsInteraction:
    """Wait until the run needs a person; gives what it needs."""
    outcome = await rig.run.settled()
    assert isinstance(outcome, NeedsInteraction), outcome
    return outcome


def texts(request: AgentRequest) -> str:
    """Everything in the transcript of a request, to look for a text in."""
    return repr(list(request.transcript))


class ScriptedPool(ProviderPool):
    """A pool in which every provider is the same model."""

    def __init__(self, model: ModelPort) -> None:
        super().__init__(None)
        self._model = model

    def port(self, config: ProviderConfig) -> ModelPort:
        return self._model


def scripted_backend(
    script: Script | ScriptedModel,
    data_dir: Path,
    settings: Settings | None = None,
    tools: Iterable[Tool] | None = None,
    env: Mapping[str, str] | None = None,
) -> Backend:
    """A backend in which every provider is a scripted model; by default it has two tools.

    They are `read`, and a `write` of its own.
    """
    model = script if isinstance(script, ScriptedModel) else ScriptedModel(script)
    folder = data_dir / "written"
    folder.mkdir(parents=True, exist_ok=True)
    return Backend(
        Surroundings(
            data_dir=data_dir,
            env={"OPENAI_API_KEY": "sk-test"} if env is None else env,
            live=LiveSettings(settings=settings),
            secrets=FileSecrets(secrets_file(data_dir)),
            quirks=QuirkStore(quirks_file(data_dir)),
            tools=ToolRegistry([READ, writing_tool(folder)] if tools is None else tools),
            pool=ScriptedPool(model),
            embedded=EmbeddedServer(),
        )
    )


def request_of(workflow: Workflow, text: str = "", **more: Any) -> RunRequest:
    """A request that every node of the workflow can be answered for."""
    return RunRequest(workflow, text, RunOverrides(provider="openai", model="scripted"), **more)

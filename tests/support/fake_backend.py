"""A backend without engine or model: tests say what happens, and see what was asked for."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, cast

from engine.graph.agents import CallableAgent
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from engine.vocabulary.events import RunEvent
from orchestration.backend import Backend
from orchestration.errors import RunNotFound, RunRefused
from orchestration.library.library import Library
from orchestration.runs.event_hub import EventHub, Subscription
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.runs.run_view import RunView
from orchestration.settings.provider_choice import Readiness
from orchestration.settings.readiness import ProviderStatus
from orchestration.workflow_catalog import create_workflow, open_workflow

READY = Readiness(True, "ready with Test provider", "test")
DEMO_READY = Readiness(True, "ready with Demo", "embedded", is_demo=True)


class FakeRun:
    """One run that does what the test says."""

    def __init__(self, run_id: str, workflow: Workflow) -> None:
        self.run_id = run_id
        self.workflow = workflow
        self.now = time.time()
        labels = {node.id: node.label for node in workflow.nodes}
        self.view = RunView(run_id, workflow.id, labels)
        self.hub = EventHub(self.view.project, lambda: self.now)

    def tell(self, *events: RunEvent, seconds: float = 0.0) -> None:
        """Let these happen, `seconds` after what happened before."""
        self.now += seconds
        for event in events:
            self.hub.emit(event)


class FakeBackend:
    """Implements the part of `Backend` that the window uses; `calls` lists what was asked."""

    def __init__(self) -> None:
        self.data_dir = Path(tempfile.mkdtemp(prefix="openflow-"))
        self.notices: tuple[str, ...] = ()
        self.calls: list[tuple[Any, ...]] = []
        self.runs: dict[str, FakeRun] = {}
        self.ready: dict[str | None, Readiness] = {None: READY, "embedded": DEMO_READY}
        self.problems_by_provider: dict[str | None, tuple[Problem, ...]] = {}
        self.provider_states: tuple[ProviderStatus, ...] = ()
        self.agents: tuple[CallableAgent, ...] = ()
        self.refusal: tuple[Problem, ...] = ()
        self.error: Exception | None = None
        self.requests: list[RunRequest] = []
        self.is_closed = False
        self.gate: asyncio.Event | None = None
        self._library: Library | None = None

    @property
    def as_backend(self) -> Backend:
        """This object for those who want the real one."""
        return cast(Backend, self)

    @property
    def library(self) -> Library:
        """The real library, of this backend's data folder."""
        if self._library is None:
            self._library = Library(self.data_dir)
        return self._library

    @property
    def run(self) -> FakeRun:
        """The latest run."""
        return list(self.runs.values())[-1]

    def load_workflow(self, path: Path) -> Workflow:
        return open_workflow(path)

    def create_workflow(self) -> Path:
        return create_workflow(self.data_dir / "workflows")

    def problems(
        self, workflow: Workflow, overrides: RunOverrides | None = None
    ) -> tuple[Problem, ...]:
        return self.problems_by_provider.get(overrides.provider if overrides else None, ())

    def readiness(
        self, workflow: Workflow | None = None, overrides: RunOverrides | None = None
    ) -> Readiness:
        return self.ready[overrides.provider if overrides else None]

    async def start_run(self, request: RunRequest) -> str:
        self.requests.append(request)
        if self.gate is not None:
            await self.gate.wait()
        if self.refusal:
            raise RunRefused(self.refusal)
        run_id = f"run-{len(self.runs) + 1}"
        self.runs[run_id] = FakeRun(run_id, request.workflow)
        return run_id

    def providers(self) -> tuple[ProviderStatus, ...]:
        return self.provider_states

    def default_provider(self, model: str = "") -> str | None:
        return self.provider_states[0].id if self.provider_states else None

    def saved_agents(self) -> tuple[CallableAgent, ...]:
        return self.agents

    def view(self, run_id: str) -> RunView:
        return self._run(run_id).view

    def subscribe(self, run_id: str) -> Subscription:
        return self._run(run_id).hub.subscribe()

    async def stop_run(self, run_id: str) -> None:
        self._called("stop_run", run_id)

    async def continue_run(self, run_id: str) -> None:
        self._called("continue_run", run_id)

    async def answer(self, run_id: str, node_id: str, text: str, pause_id: str = "") -> None:
        self._called("answer", node_id, text, pause_id)

    async def decide(
        self,
        run_id: str,
        approval_id: str,
        allow: bool,
        reason: str | None = None,
        *,
        for_run: bool = False,
    ) -> None:
        self._called("decide", approval_id, allow, reason, *(("for_run",) if for_run else ()))

    async def retry_node(self, run_id: str, node_id: str, message: str | None = None) -> None:
        self._called("retry_node", node_id, message)

    async def send_message(self, run_id: str, node_id: str, text: str) -> str:
        self._called("send_message", node_id, text)
        return "message-1"

    async def aclose(self) -> None:
        self.is_closed = True
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def _run(self, run_id: str) -> FakeRun:
        if run_id not in self.runs:
            raise RunNotFound(run_id)
        return self.runs[run_id]

    def _called(self, *call: Any) -> None:
        if self.error is not None:
            raise self.error
        self.calls.append(call)

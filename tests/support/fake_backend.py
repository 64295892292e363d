"""A backend without engine or model: tests say what happens, and see what was asked for."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from engine.graph.agents import CallableAgent
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from engine.vocabulary.events import RunEvent, UsageReported
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.messages import HandoffArtifact
from engine.vocabulary.recovery import UncertainChoice
from engine.vocabulary.spending import NO_LIMIT, Allowance
from engine.vocabulary.tools import ApprovalMode
from orchestration.backend import Backend
from orchestration.chats.chat_files import ID_PREFIX, SUFFIX, chats_folder
from orchestration.chats.chat_shape import new_chat
from orchestration.errors import EditNotUndone, RunNotFound, RunRefused
from orchestration.library.library import Library
from orchestration.runs.event_hub import EventHub, EventRecord, Subscription
from orchestration.runs.requests import NO_OVERRIDES, RunOverrides, RunRequest
from orchestration.runs.run_view import RunView
from orchestration.runs.steered import NodeSettings, QueuedWord
from orchestration.runs.stored import (
    EVERY_RUN,
    NO_CHANGES,
    ForkChanges,
    GoodCopy,
    RestoredRuns,
    RunComparison,
    RunQuery,
    StoredRun,
)
from orchestration.settings.model import Settings
from orchestration.settings.provider_choice import Readiness
from orchestration.settings.readiness import ProviderStatus
from orchestration.workflow_catalog import create_workflow, open_workflow, save_workflow

READY = Readiness(True, "ready with Test provider", "test")
DEMO_READY = Readiness(True, "ready with Demo", "embedded", is_demo=True)
AS_IN_WORKFLOW = NodeSettings("gpt-5.5", ApprovalMode.WRITE, "openai")


class FakeRun:
    """One run that does what the test says."""

    def __init__(self, run_id: str, workflow: Workflow) -> None:
        self.run_id = run_id
        self.workflow = workflow
        self.now = time.time()
        labels = {node.id: node.label for node in workflow.nodes}
        self.view = RunView(run_id, workflow.id, labels)
        self.hub = EventHub(self.view.project, lambda: self.now)
        self.queued: list[QueuedWord] = []
        self.settings: dict[str, NodeSettings] = {}
        self.limits: dict[str, Allowance] = {}
        self.records: list[EventRecord] = []
        self.hub.listen(self.records.append)

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
        self.settings = Settings()
        self.setting_watchers: list[Callable[[], None]] = []
        self.calls: list[tuple[Any, ...]] = []
        self.live_runs: dict[str, FakeRun] = {}
        self.ready: dict[str | None, Readiness] = {None: READY, "embedded": DEMO_READY}
        self.problems_by_provider: dict[str | None, tuple[Problem, ...]] = {}
        self.provider_states: tuple[ProviderStatus, ...] = ()
        self.agents: tuple[CallableAgent, ...] = ()
        self.refusal: tuple[Problem, ...] = ()
        self.error: Exception | None = None
        self.changed_since: tuple[str, ...] = ()
        self.requests: list[RunRequest] = []
        self.stored: list[StoredRun] = []
        self.told: dict[str, FakeRun] = {}
        self.queries: list[RunQuery] = []
        self.comparisons: dict[tuple[str, str], RunComparison] = {}
        self.folders: dict[str, Path] = {}
        self.documents: dict[str, str] = {}
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
        return list(self.live_runs.values())[-1]

    def load_workflow(self, path: Path) -> Workflow:
        return open_workflow(path)

    def create_workflow(self) -> Path:
        return create_workflow(self.data_dir / "workflows")

    def problems(
        self,
        workflow: Workflow,
        overrides: RunOverrides | None = None,
        path: Path | None = None,
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
        run_id = f"run-{len(self.live_runs) + 1}"
        self.live_runs[run_id] = FakeRun(run_id, request.workflow)
        return run_id

    async def create_chat(self, agent_id: str = "") -> Path:
        path = chats_folder(self.data_dir) / f"{ID_PREFIX}{len(self.calls)}{SUFFIX}"
        save_workflow(new_chat(path.name.removesuffix(SUFFIX), None, 0), path)
        self._called("create_chat", agent_id)
        return path

    async def chat_run(self, chat_id: str) -> StoredRun | None:
        return None

    async def say(
        self, chat: Workflow, text: str, source: Path, overrides: RunOverrides = NO_OVERRIDES
    ) -> str:
        return await self.start_run(RunRequest(chat, text, overrides, source=source))

    async def patch_chat(self, chat: Workflow) -> None:
        self._called("patch_chat", chat.id)

    def active_run(self, workflow_id: str) -> str | None:
        return None

    def watch_settings(self, notice: Callable[[], None]) -> Callable[[], None]:
        self.setting_watchers.append(notice)
        return lambda: self.setting_watchers.remove(notice)

    async def reload_settings(self) -> tuple[str, ...]:
        return ()

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

    async def revert_edit_batch(self, run_id: str, batch_id: str, *, force: bool = False) -> None:
        if self.changed_since and not force:
            labels = self.changed_since
            raise EditNotUndone("it cannot be undone: files were changed since", labels)
        self._called("revert_edit_batch", batch_id, *(("force",) if force else ()))

    async def retry_node(self, run_id: str, node_id: str, message: str | None = None) -> None:
        self._called("retry_node", node_id, message)

    async def send_message(self, run_id: str, node_id: str, text: str) -> str:
        self._called("send_message", node_id, text)
        return "message-1"

    async def interrupt_node(self, run_id: str, node_id: str) -> None:
        self._called("interrupt_node", node_id)

    async def patch_node(self, run_id: str, node_id: str, patch: RuntimePatch) -> None:
        self._called("patch_node", node_id, patch)

    async def edit_message(self, run_id: str, message_id: str, text: str) -> None:
        self._called("edit_message", message_id, text)

    async def withdraw_message(self, run_id: str, message_id: str) -> None:
        self._called("withdraw_message", message_id)

    def queued_messages(self, run_id: str) -> tuple[QueuedWord, ...]:
        return tuple(self._run(run_id).queued)

    def node_settings(self, run_id: str, node_id: str) -> NodeSettings:
        return self._run(run_id).settings.get(node_id, AS_IN_WORKFLOW)

    def allowance(self, run_id: str, node_id: str = "") -> Allowance:
        return self._run(run_id).limits.get(node_id, NO_LIMIT)

    async def settle_uncertain(self, run_id: str, call_id: str, choice: UncertainChoice) -> None:
        self._called("settle_uncertain", call_id, choice.value)

    async def runs(self, query: RunQuery = EVERY_RUN) -> tuple[StoredRun, ...]:
        if self.error is not None:
            raise self.error
        self.queries.append(query)
        words = query.text.casefold()
        found = [
            run
            for run in self.stored
            if words in f"{run.name} {run.workflow_name}".casefold()
            and query.workflow_id in (None, run.workflow_id)
            and (not query.statuses or run.status in query.statuses)
        ]
        found.sort(key=lambda run: run.updated, reverse=True)
        end = None if query.limit is None else query.offset + query.limit
        return tuple(found[query.offset : end])

    async def interrupted_runs(self) -> tuple[StoredRun, ...]:
        return tuple(run for run in self.stored if run.was_cut_off)

    async def replay(self, run_id: str, until: int | None = None) -> RunView:
        told = self.stored_run(run_id)
        view = RunView(run_id, told.workflow.id, told.view.labels)
        for record in await self.stored_events(run_id, until):
            view.apply(record)
        return view

    async def stored_events(self, run_id: str, until: int | None = None) -> tuple[EventRecord, ...]:
        records = self.stored_run(run_id).records
        return tuple(records if until is None else records[:until])

    async def turns(self, run_id: str) -> tuple[str, ...]:
        told = [record.event for record in await self.stored_events(run_id)]
        return tuple([each.node_id for each in told if type(each) is UsageReported])

    async def recorded_workflow(self, run_id: str, today: Workflow | None) -> Workflow | None:
        recorded = self.stored_run(run_id).workflow
        return None if today == recorded else recorded

    async def give_way(self, run_id: str) -> None:
        self._called("give_way", run_id)

    async def good_copy(self) -> GoodCopy | None:
        return GoodCopy(self.data_dir / "openflow.db.backup", 0.0)

    async def restore_runs(self) -> RestoredRuns:
        self.error = None  # what was damaged is restored
        self._called("restore_runs")
        return RestoredRuns(
            GoodCopy(self.data_dir / "openflow.db.backup", 0.0),
            self.data_dir / "openflow.db.damaged-1",
        )

    async def resume_run(
        self, run_id: str, *, message: str | None = None, node_id: str | None = None
    ) -> str:
        self._called("resume_run", run_id)
        self.live_runs[run_id] = self.stored_run(run_id)
        return run_id

    async def fork_run(
        self,
        run_id: str,
        *,
        node_id: str | None = None,
        turn: int | None = None,
        seq: int | None = None,
        changes: ForkChanges = NO_CHANGES,
    ) -> str:
        self._called("fork_run", run_id, node_id, turn, seq, changes)
        fork_id = f"run-{len(self.live_runs) + 1}"
        self.live_runs[fork_id] = FakeRun(fork_id, self.stored_run(run_id).workflow)
        return fork_id

    async def compare_runs(self, a: str, b: str) -> RunComparison:
        self._called("compare_runs", a, b)
        return self.comparisons[a, b]

    async def rename_run(self, run_id: str, name: str) -> None:
        self._called("rename_run", run_id, name)
        self.stored = [
            replace(run, name=name) if run.run_id == run_id else run for run in self.stored
        ]

    async def delete_run(self, run_id: str) -> None:
        self._called("delete_run", run_id)
        self.stored = [run for run in self.stored if run.run_id != run_id]

    async def prune_runs(
        self, *, older_than_s: float | None = None, most_bytes: int | None = None
    ) -> tuple[str, ...]:
        self._called("prune_runs", older_than_s, most_bytes)
        return ()

    async def execution_folder(self, run_id: str) -> Path:
        return self.folders.get(run_id, self.data_dir)

    async def handoff_text(self, run_id: str, artifact: HandoffArtifact) -> str | None:
        return self.documents.get(artifact.uri)

    async def save_report(self, run_id: str, path: Path) -> None:
        self._called("save_report", run_id, path)

    async def export_run(self, run_id: str, path: Path) -> None:
        self._called("export_run", run_id, path)

    async def import_run(self, path: Path) -> str:
        self._called("import_run", path)
        return "imported"

    def stored_run(self, run_id: str) -> FakeRun:
        """What a stored run told."""
        if run_id not in self.told:
            raise RunNotFound(run_id)
        return self.told[run_id]

    async def aclose(self) -> None:
        self.is_closed = True
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def _run(self, run_id: str) -> FakeRun:
        if run_id not in self.live_runs:
            raise RunNotFound(run_id)
        return self.live_runs[run_id]

    def _called(self, *call: Any) -> None:
        if self.error is not None:
            raise self.error
        self.calls.append(call)

"""What is kept of a run besides its events, as plain values and as the bodies of rows."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import EngineInput, Entrypoint, ToolsFinished
from engine.vocabulary.tools import NO_EFFECTS, JsonObject, ToolEffects, ToolResult
from orchestration.runs.journal import SeenFile
from orchestration.runs.requests import RunOverrides
from orchestration.runs.stored import StoredRun
from orchestration.storage.bodies import BodyReader

INTENT = "intent"
DECISION = "decision"
RESULT = "result"
SEEN = "seen"
"""What a fork knows of files from before it; else that is kept with the results."""


class RunOpening(Struct, frozen=True, kw_only=True):
    """Everything that a run is started with.

    Attributes:
        run_id: its id, made by whoever starts it.
        name: what a person sees; see `run_name`.
        workflow: the prepared workflow as JSON, whatever becomes of its file; kept apart,
            since runs share it.
        workflow_id: its id.
        workflow_name: its name.
        seed: what the run's ids and its randomness are made from.
        entrypoint: what a person started it with.
        agents: the saved agents that it takes along, as documents by id.
        nodes_without_tools: nodes whose model cannot call executable tools.
        source_hash: SHA-256 of the workflow as it was before it was prepared, to tell whether it
            was edited since.
        source: the file that it came from, where that is known.
        overrides: what replaced the workflow's own settings.
        cwd: the execution folder.
        project_root: the execution folder where a person chose it.
        project_id: the project, if there is one.
        parent_id: the run that this one was forked from.
        fork_seq: the last fact of the parent that this run shares.
        started: seconds since the epoch.
    """

    run_id: str
    name: str
    workflow: bytes
    workflow_id: str
    workflow_name: str
    seed: bytes
    entrypoint: Entrypoint = Entrypoint()
    agents: dict[str, JsonObject] = field(default_factory=dict)
    nodes_without_tools: tuple[str, ...] = ()
    source_hash: str = ""
    source: str = ""
    overrides: RunOverrides = RunOverrides()
    cwd: str = ""
    project_root: str | None = None
    project_id: str | None = None
    parent_id: str | None = None
    fork_seq: int | None = None
    started: float = 0.0


class OpenCall(Struct, frozen=True):
    """A call that was about to run. `reads`: it changes nothing.

    `targets` is what it was about to touch, as `CallInspection.targets` has it, with the versions
    of before.
    """

    node_id: str
    call: AdmittedCall
    at: float
    reads: bool
    targets: tuple[str, ...] = ()


class CallDecision(Struct, frozen=True):
    """What a person, a rule or the policy decided about a call."""

    node_id: str
    approval_id: str
    allow: bool
    reason: str = ""


class CallEnd(Struct, frozen=True, omit_defaults=True):
    """How a call ended, what it did besides, and which versions of files it showed."""

    node_id: str
    result: ToolResult
    at: float
    effects: ToolEffects = NO_EFFECTS
    seen: tuple[SeenFile, ...] = ()


class SeenBefore(Struct, frozen=True):
    """Which versions of files the conversations of a fork know from before it."""

    seen: tuple[SeenFile, ...]


class FinishedByReference(Struct, frozen=True, tag="tools_finished_by_reference"):
    """A `ToolsFinished` whose results are kept with their calls: each is there once.

    `results` has the id of a call where its result is in the table of calls.
    """

    node_id: str
    batch_id: str
    results: tuple[str | ToolResult, ...]
    at: float
    effects: ToolEffects = NO_EFFECTS

    def resolved(self, ends: dict[str, CallEnd]) -> ToolsFinished:
        """The input as it was fed.

        Raises:
            KeyError: a result is missing.
        """
        return ToolsFinished(
            self.node_id,
            self.batch_id,
            tuple([ends[r].result if isinstance(r, str) else r for r in self.results]),
            self.at,
            self.effects,
        )


class NodeStanding(Struct, frozen=True):
    """How a node of a stored run stands."""

    node_id: str
    label: str
    status: str
    started: float | None
    completed: float | None


class RecordedRun(Struct, frozen=True, kw_only=True):
    """A stored run, with all that it takes to feed it to a fresh engine again.

    Attributes:
        number: the run's number in this database.
        summary: what lists show.
        opening: what it was started with.
        workflow_hash: SHA-256 of the prepared workflow.
        inputs: what was fed to the engine, in order; inputs that it refused are among them.
        input_seqs: the number of each input, for forks.
        ends: the latest end of each call, by its id.
        seen: what the conversations saw of files, each with the number of its fact, in order.
        open_calls: calls that were about to run and whose end is not known.
        next_seq: the number of the next fact.
        last_event: the number of the last event.
        segments: how often the run was begun or taken up.
    """

    number: int
    summary: StoredRun
    opening: RunOpening
    workflow_hash: str
    inputs: tuple[EngineInput, ...]
    input_seqs: tuple[int, ...]
    ends: dict[str, CallEnd]
    seen: tuple[tuple[int, SeenFile], ...]
    open_calls: tuple[OpenCall, ...]
    next_seq: int
    last_event: int
    segments: int


_INPUT: Any = EngineInput | FinishedByReference
INPUTS: BodyReader[EngineInput | FinishedByReference] = BodyReader(_INPUT)
INTENTS: BodyReader[OpenCall] = BodyReader(OpenCall)
SEENS: BodyReader[SeenBefore] = BodyReader(SeenBefore)
ENDS: BodyReader[CallEnd] = BodyReader(CallEnd)
DECISIONS: BodyReader[CallDecision] = BodyReader(CallDecision)
OPENINGS: BodyReader[RunOpening] = BodyReader(RunOpening)

NAME_LENGTH = 60


def run_name(text: str, workflow_name: str) -> str:
    """The name of a run that nobody named: what it was started with, else its workflow."""
    words = " ".join(text.split())
    if not words:
        return f"{workflow_name} run" if workflow_name.strip() else "Workflow run"
    return words if len(words) <= NAME_LENGTH else words[:NAME_LENGTH].rstrip() + "…"

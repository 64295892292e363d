"""The whole state of a run as plain data: what a checkpoint holds, and nothing else."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from engine.run.budgets import Counters
from engine.run.usage import UsageSum
from engine.vocabulary.inputs import Entrypoint, RuntimePatch
from engine.vocabulary.messages import (
    Attachment,
    HandoffArtifact,
    StructuredInput,
    TranscriptItem,
)
from engine.vocabulary.recovery import CallEvidence
from engine.vocabulary.spending import SpendingLimits, SpentLimit
from engine.vocabulary.tools import (
    ApprovalRule,
    CallPreview,
    FileChangeRecord,
    JsonObject,
    ReadRecord,
    RuleProposal,
    ToolCall,
    ToolResult,
    ToolTier,
)


class NodePhase(StrEnum):
    """Where a node, or a subagent at work, stands. Each is in exactly one phase."""

    IDLE = "idle"
    """A parent has no output yet."""
    CALLING = "calling"
    """A model call is under way."""
    TOOLS = "tools"
    """A tool turn is open: calls run, are looked up for a decision, or wait for one."""
    AWAITING_INPUT = "awaiting_input"
    """A person is asked."""
    BACKOFF = "backoff"
    """A transient failure; the call is made again when the timer fires."""
    INTERRUPTED = "interrupted"
    """A person interrupted it; can be retried."""
    FAILED = "failed"
    """It failed; can be retried."""
    DONE = "done"
    """Its output is accepted. A subagent is done when it has failed, too."""


class CallPhase(StrEnum):
    """Where one call of an open tool turn stands."""

    PROMPTED = "prompted"
    """A person will be asked about it."""
    INSPECTING = "inspecting"
    """What it would touch is being looked up."""
    UNDECIDED = "undecided"
    """A person is asked about it."""
    ADMITTED = "admitted"
    """It may run."""
    RUNNING = "running"
    UNCERTAIN = "uncertain"
    """The run broke off while it ran; a person has to say what became of it."""
    SETTLED = "settled"
    """It has its result."""


class TurnCall(Struct, omit_defaults=True):
    """One call of an open tool turn.

    `approval_id` is empty where nobody was asked yet, or ever. `is_bound`: `digest` holds what
    the call leads to. `drifts` counts how often that had changed when the call was to run.
    `actor_id` is the subagent that works on it. `evidence` is of an uncertain call.
    """

    call: ToolCall
    phase: CallPhase
    tier: ToolTier
    digest: str = ""
    approval_id: str = ""
    reason: str = ""
    result: ToolResult | None = None
    is_bound: bool = False
    drifts: int = 0
    preview: CallPreview | None = None
    rule: RuleProposal | None = None
    actor_id: str = ""
    evidence: CallEvidence | None = None


class ToolTurn(Struct, omit_defaults=True):
    """The calls of one model turn until all have results.

    `batch_id` is of what runs now, `inspection_id` of what is being looked up.
    """

    calls: list[TurnCall]
    batch_id: str = ""
    inspection_id: str = ""
    note: str = ""
    """A user message that goes to the model after the results."""


class QueuedMessage(Struct, omit_defaults=True):
    """A live message that waits for the node's next model call."""

    message_id: str
    text: str
    attachments: tuple[Attachment, ...] = ()


class Question(Struct, omit_defaults=True):
    """What a waiting node asks; with `budget` about a limit, which its model hears nothing of."""

    pause_id: str
    text: str
    structured: StructuredInput | None = None
    budget: SpentLimit | None = None


class Spent(Struct, omit_defaults=True):
    """What a run or a node has used up. `raised` are limits that a person has raised since.

    `is_stopped`: a person did not want the node to go on.
    """

    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    turns: int = 0
    raised: dict[str, float] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    is_stopped: bool = False


class SubagentStatus(StrEnum):
    """Where a subagent of a node stands, as it is told."""

    DECLARED = "declared"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


class Subagent(Struct, omit_defaults=True):
    """A subagent that a node may call; `calls` counts how often it has."""

    id: str
    name: str
    purpose: str
    status: SubagentStatus = SubagentStatus.DECLARED
    is_saved: bool = False
    calls: int = 0


class Delegation(Struct, omit_defaults=True):
    """What one call of a subagent is about: whose it is, what it is to do, what came of it.

    `serial` counts the calls of this subagent, `turns` the model's turns in this one.
    """

    node_id: str
    subagent_id: str
    serial: int
    task: str
    turns: int = 0
    content: str = ""
    """What the caller is told in the end."""


class NodeState(Struct, omit_defaults=True):
    """One node of a run, or one subagent that works or has worked.

    `call` is the serial of its latest model call: a reply to an earlier one is stale.
    `batch` is that of its latest tool batch or inspection. `announced_attempt` is the attempt
    that has been told as queued. A subagent has a `delegation`.
    """

    id: str
    phase: NodePhase = NodePhase.IDLE
    call: int = 0
    batch: int = 0
    retries: int = 0
    announced_attempt: int = 0
    counters: Counters = field(default_factory=Counters)
    transcript: list[TranscriptItem] = field(default_factory=list)
    turn: ToolTurn | None = None
    question: Question | None = None
    error: str = ""
    output: Any = None
    handoff: HandoffArtifact | None = None
    changed_files: list[FileChangeRecord] | None = None
    reads: dict[str, ReadRecord] | None = None
    queued: list[QueuedMessage] | None = None
    extra_prompts: tuple[str, ...] = ()
    patch: RuntimePatch | None = None
    subagents: dict[str, Subagent] | None = None
    """Those that the node may call, by id, in the order in which it got them."""
    delegation: Delegation | None = None
    spent: Spent | None = None
    window: int = 0
    """The context window of its model in tokens, 0 until it is known."""
    compacted: int = 0
    """How many items of the transcript are sent in their compacted form."""

    @property
    def attempt(self) -> int:
        """The number of the current attempt, from 1."""
        return self.retries + 1


class PlanState(Struct, omit_defaults=True):
    """Plan mode: its source, pinned at the start, and the packet once it is frozen."""

    source_node_id: str
    packet: JsonObject | None = None


class RunState(Struct, omit_defaults=True):
    """A run. `serial` is the last number that an id was made from."""

    workflow_id: str
    run_id: str
    entrypoint: Entrypoint
    nodes: dict[str, NodeState]
    serial: int = 0
    started: bool = False
    over: bool = False
    verdicts: dict[str, str] = field(default_factory=dict)
    """Approval id to `allowed`, `denied` or `withdrawn`."""
    plan: PlanState | None = None
    read_calls: int = 0
    redundant_reads: int = 0
    usage: UsageSum = field(default_factory=UsageSum)
    rules: list[ApprovalRule] = field(default_factory=list)
    """What a person has allowed for the rest of the run."""
    agents: dict[str, JsonObject] = field(default_factory=dict)
    """The saved agents that the run took along, by id."""
    subagents: dict[str, NodeState] = field(default_factory=dict)
    """The latest call of each subagent, by actor id."""
    earlier_transcripts: dict[str, list[TranscriptItem]] = field(default_factory=dict)
    """What the earlier calls of subagents said, by conversation id."""
    limits: SpendingLimits | None = None
    spent: Spent | None = None
    """What the run has used up, counted where there are limits."""
    last_at: float = 0.0
    """When the last input came, where there are limits."""

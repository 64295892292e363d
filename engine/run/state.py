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
from engine.vocabulary.tools import (
    FileChangeRecord,
    JsonObject,
    ReadRecord,
    ToolCall,
    ToolResult,
    ToolTier,
)


class NodePhase(StrEnum):
    """Where a node stands. Every node is in exactly one phase."""

    IDLE = "idle"
    """A parent has no output yet."""
    CALLING = "calling"
    """A model call is under way."""
    TOOLS = "tools"
    """A tool turn is open: calls run or wait for a decision."""
    AWAITING_INPUT = "awaiting_input"
    """A person is asked."""
    BACKOFF = "backoff"
    """A transient failure; the call is made again when the timer fires."""
    INTERRUPTED = "interrupted"
    """A person interrupted it; can be retried."""
    FAILED = "failed"
    """It failed; can be retried."""
    DONE = "done"
    """Its output is accepted."""


class CallPhase(StrEnum):
    """Where one call of an open tool turn stands."""

    UNDECIDED = "undecided"
    ADMITTED = "admitted"
    RUNNING = "running"
    SETTLED = "settled"


class TurnCall(Struct, omit_defaults=True):
    """One call of an open tool turn. `approval_id` is empty where nobody had to be asked."""

    call: ToolCall
    phase: CallPhase
    tier: ToolTier
    digest: str = ""
    approval_id: str = ""
    reason: str = ""
    result: ToolResult | None = None


class ToolTurn(Struct, omit_defaults=True):
    """The calls of one model turn until all have results. `batch_id` is of what runs now."""

    calls: list[TurnCall]
    batch_id: str = ""
    note: str = ""
    """A user message that goes to the model after the results."""


class QueuedMessage(Struct, omit_defaults=True):
    """A live message that waits for the node's next model call."""

    message_id: str
    text: str
    attachments: tuple[Attachment, ...] = ()


class Question(Struct, omit_defaults=True):
    """What a waiting node asks."""

    pause_id: str
    text: str
    structured: StructuredInput | None = None


class NodeState(Struct, omit_defaults=True):
    """One node of a run.

    `call` is the serial of its latest model call: a reply to an earlier one is stale.
    `batch` is that of its latest tool batch. `announced_attempt` is the attempt that has been
    told as queued.
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

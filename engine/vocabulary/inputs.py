"""What may be fed to the engine. `at` is the time of the input in seconds since the epoch.

Inputs are plain data, so a run can be recorded and fed again.
"""

from __future__ import annotations

from msgspec import Struct

from engine.vocabulary.errors import CallFailure
from engine.vocabulary.messages import Attachment, TurnOutcome
from engine.vocabulary.recovery import CallEvidence, KnownEnd, UncertainChoice
from engine.vocabulary.spending import SpendingLimits
from engine.vocabulary.tools import (
    NO_EFFECTS,
    ApprovalMode,
    CallInspection,
    ToolEffects,
    ToolResult,
)


class Entrypoint(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a person starts the run with."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()


class Started(Struct, frozen=True, gc=False, tag="started"):
    """The run begins, or goes on after it was restored from a checkpoint.

    `message` is what a person says to one node as the run goes on; the node has to wait for an
    answer, or to have failed or been interrupted. `ends` are of calls that had ended when the run
    broke off, though the engine was not told; `evidence` is of those that had begun and whose end
    is not known, `None` where nobody has looked. `limits` count where the run begins.
    """

    at: float
    message: MessageQueued | None = None
    ends: tuple[KnownEnd, ...] = ()
    evidence: tuple[CallEvidence, ...] | None = None
    limits: SpendingLimits | None = None


class ModelReplied(Struct, frozen=True, gc=False, tag="model_replied", omit_defaults=True):
    """The model call `call` of a node has ended, one way or the other.

    `context_window` is how many tokens the model can take in, where that is known.
    """

    node_id: str
    call: int
    reply: TurnOutcome | CallFailure
    at: float
    context_window: int | None = None


class ToolsFinished(Struct, frozen=True, gc=False, tag="tools_finished"):
    """The calls of one `RunTools` effect have ended; `results` may be short."""

    node_id: str
    batch_id: str
    results: tuple[ToolResult, ...]
    at: float
    effects: ToolEffects = NO_EFFECTS


class CallsInspected(Struct, frozen=True, gc=False, tag="calls_inspected"):
    """What the calls of one `InspectCalls` effect would touch; `inspections` may be short."""

    node_id: str
    batch_id: str
    inspections: tuple[CallInspection, ...]
    at: float


class HumanAnswered(Struct, frozen=True, gc=False, tag="human_answered"):
    """A person answered a waiting node. An empty `pause_id` means its current question."""

    node_id: str
    text: str
    at: float
    attachments: tuple[Attachment, ...] = ()
    pause_id: str = ""


class ToolDecided(Struct, frozen=True, gc=False, tag="tool_decided"):
    """A person decided about one call; with `for_run` also about equal ones in this run."""

    approval_id: str
    allow: bool
    at: float
    reason: str | None = None
    for_run: bool = False


class UncertainSettled(Struct, frozen=True, gc=False, tag="uncertain_settled"):
    """A person said what became of a call of unknown end."""

    call_id: str
    choice: UncertainChoice
    at: float


class RetryAsked(Struct, frozen=True, gc=False, tag="retry_asked"):
    """A person wants a failed or interrupted node to try again, perhaps with a message."""

    node_id: str
    at: float
    message: str | None = None
    attachments: tuple[Attachment, ...] = ()


class NodeInterruptAsked(Struct, frozen=True, gc=False, tag="node_interrupt_asked"):
    """A person interrupts one node; the run goes on."""

    node_id: str
    at: float


class MessageQueued(Struct, frozen=True, gc=False, tag="message_queued"):
    """A live message to a node; delivered before the node's next model call.

    `skill_prompt` is added to the node's system prompt once.
    """

    node_id: str
    message_id: str
    text: str
    at: float
    attachments: tuple[Attachment, ...] = ()
    skill_prompt: str | None = None


class MessageEdited(Struct, frozen=True, gc=False, tag="message_edited"):
    """A queued message gets another text."""

    message_id: str
    text: str
    at: float


class MessageWithdrawn(Struct, frozen=True, gc=False, tag="message_withdrawn"):
    """A queued message is taken back."""

    message_id: str
    at: float


class RuntimePatch(Struct, frozen=True, gc=False, omit_defaults=True):
    """Changes to one node in mid-run; an absent field stays as it is.

    `clear_reasoning` takes effort and budget back to 'none set'.
    """

    model: str | None = None
    approval_mode: ApprovalMode | None = None
    reasoning_effort: str | None = None
    reasoning_budget_tokens: int | None = None
    clear_reasoning: bool = False
    fast_mode: bool | None = None


class NodePatched(Struct, frozen=True, gc=False, tag="node_patched"):
    """A person changed a node's settings while the run is on."""

    node_id: str
    patch: RuntimePatch
    at: float


class EditBatchReverted(Struct, frozen=True, gc=False, tag="edit_batch_reverted"):
    """An edit batch was undone; its records are forgotten."""

    node_id: str
    batch_id: str
    at: float


class TimerFired(Struct, frozen=True, gc=False, tag="timer_fired"):
    """The time of a `Wait` effect has come."""

    node_id: str
    at: float


class Stopped(Struct, frozen=True, gc=False, tag="stopped"):
    """The run is to end now."""

    at: float


EngineInput = (
    Started
    | ModelReplied
    | ToolsFinished
    | CallsInspected
    | HumanAnswered
    | ToolDecided
    | UncertainSettled
    | RetryAsked
    | NodeInterruptAsked
    | MessageQueued
    | MessageEdited
    | MessageWithdrawn
    | NodePatched
    | EditBatchReverted
    | TimerFired
    | Stopped
)

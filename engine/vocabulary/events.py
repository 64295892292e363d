"""Telemetry: everything that a run tells about itself, one small immutable type each.

The tag of a type is its name on an event line. `role` is `user`, `assistant`, `thinking` or
`system`. No event carries a key, malformed raw arguments or reasoning that may not be shown.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.vocabulary.event_base import Event
from engine.vocabulary.messages import HandoffArtifact, StructuredInput, Usage
from engine.vocabulary.reconfiguration import NodeReconfigured
from engine.vocabulary.recovery import UncertainCall, UncertainChoice
from engine.vocabulary.report import PendingApproval, RunReport
from engine.vocabulary.spending import BudgetDecided, BudgetWarning, SpentLimit
from engine.vocabulary.tools import (
    EditBatch,
    FileChangeRecord,
    JsonObject,
    OutputMeta,
    ToolCall,
)


class NodeQueued(Event, frozen=True, gc=False, tag="node_queued"):
    """The node's inputs are there; its model call waits for its turn."""

    node_id: str
    label: str


class NodeStarted(Event, frozen=True, gc=False, tag="node_started"):
    """The node's model call has begun."""

    node_id: str
    label: str


class ChatMessage(Event, frozen=True, gc=False, tag="chat_message"):
    """A whole message of the conversation."""

    node_id: str
    role: str
    content: str


class ChatMessageDelta(Event, frozen=True, gc=False, tag="chat_message_delta"):
    """A piece of a message as it arrives; with `finalize` the message is complete."""

    node_id: str
    message_id: str
    role: str
    delta: str
    finalize: bool = False


class NodeAwaitingInput(Event, frozen=True, gc=False, tag="node_awaiting_input"):
    """The node waits for an answer of a person to `question`; the answer names `pause_id`.

    `repairs` names what had to be undone in the arguments of the call that asked. With `budget` it
    asks about a limit that is used up.
    """

    node_id: str
    label: str
    context: str
    is_initial: bool = False
    structured_input: StructuredInput | None = None
    pause_id: str = ""
    question: str = ""
    repairs: tuple[str, ...] = ()
    budget: SpentLimit | None = None


class ToolCallProposed(Event, frozen=True, gc=False, tag="tool_call_proposed"):
    """The model called a tool; nothing has run yet."""

    node_id: str
    label: str
    tool_call: ToolCall


class ToolApprovalRequested(Event, frozen=True, gc=False, tag="tool_approval_requested"):
    """A call waits for a decision."""

    request: PendingApproval


class ToolApproved(Event, frozen=True, gc=False, tag="tool_approved"):
    """A call was allowed."""

    approval_id: str
    node_id: str
    tool_call_id: str
    tool_name: str


class ToolDenied(Event, frozen=True, gc=False, tag="tool_denied"):
    """A call was denied, by a person or by the policy."""

    approval_id: str
    node_id: str
    tool_call_id: str
    tool_name: str
    reason: str


class ToolStarted(Event, frozen=True, gc=False, tag="tool_started"):
    """A call runs now."""

    node_id: str
    tool_call_id: str
    tool_name: str
    arguments: JsonObject


class ToolRetrying(Event, frozen=True, gc=False, tag="tool_retrying"):
    """A call failed in a way that may pass and is tried again after `backoff_ms`."""

    node_id: str
    tool_call_id: str
    tool_name: str
    attempt: int
    backoff_ms: int


class ToolUpdated(Event, frozen=True, gc=False, tag="tool_updated"):
    """The latest tail of a running call's output."""

    node_id: str
    tool_call_id: str
    tool_name: str
    content: str
    output_meta: OutputMeta | None = None


class ToolCompleted(Event, frozen=True, gc=False, tag="tool_completed"):
    """A call has its result."""

    node_id: str
    tool_call_id: str
    tool_name: str
    content: str
    is_error: bool = False
    output_meta: OutputMeta | None = None
    artifact_ids: tuple[str, ...] = ()


class ToolCallUncertain(Event, frozen=True, gc=False, tag="tool_call_uncertain"):
    """The run broke off in the middle of this call; a person has to say what became of it."""

    call: UncertainCall


class ToolCallSettled(Event, frozen=True, gc=False, tag="tool_call_settled"):
    """A person has said what became of a call of unknown end."""

    node_id: str
    tool_call_id: str
    tool_name: str
    choice: UncertainChoice


class RunWaiting(Event, frozen=True, gc=False, tag="run_waiting"):
    """Why the run waits, if it does. `may_go_first`: what it waits for would give way to it."""

    reason: str = ""
    may_go_first: bool = False


class ToolArtifactCreated(Event, frozen=True, gc=False, tag="tool_artifact_created"):
    """A large output was put aside."""

    node_id: str
    artifact_id: str
    tool_name: str
    path: str
    size_bytes: int


class FileChanged(Event, frozen=True, gc=False, tag="file_changed"):
    """A tool changed a file."""

    node_id: str
    record: FileChangeRecord


class EditBatchRecorded(Event, frozen=True, gc=False, tag="edit_batch_recorded"):
    """An editing call can be reverted from now on."""

    node_id: str
    batch: EditBatch


class EditBatchUndone(Event, frozen=True, gc=False, tag="edit_batch_undone"):
    """What an editing call did was undone; its changes are no changes any more."""

    node_id: str
    batch_id: str


class NodeCompleted(Event, frozen=True, gc=False, tag="node_completed"):
    """The engine has accepted the node's output.

    `repairs` names what had to be undone in the arguments of the call that submitted it.
    """

    node_id: str
    label: str
    output: Any
    handoff: HandoffArtifact | None = None
    repairs: tuple[str, ...] = ()


class NodeFailed(Event, frozen=True, gc=False, tag="node_failed"):
    """The run ended because of this node."""

    node_id: str
    label: str
    error: str


class NodeInterrupted(Event, frozen=True, gc=False, tag="node_interrupted"):
    """The node was interrupted and can be retried."""

    node_id: str
    label: str


class NodeErrored(Event, frozen=True, gc=False, tag="node_errored"):
    """The node failed and can be retried."""

    node_id: str
    label: str
    error: str


class Finished(Event, frozen=True, gc=False, tag="finished"):
    """The run has completed."""

    report: RunReport


class Aborted(Event, frozen=True, gc=False, tag="aborted"):
    """The run was stopped."""


class RunError(Event, frozen=True, gc=False, tag="error"):
    """The run ended for a reason that belongs to no node."""

    message: str


class SubagentSummary(Struct, frozen=True, gc=False):
    """A subagent as it is announced; `status` is declared, active, completed or failed."""

    id: str
    name: str
    purpose: str
    status: str


class SubagentsDeclared(Event, frozen=True, gc=False, tag="subagents_declared"):
    """A node has these subagents now."""

    node_id: str
    summaries: tuple[SubagentSummary, ...]


class SubagentStarted(Event, frozen=True, gc=False, tag="subagent_started"):
    """A subagent works."""

    node_id: str
    subagent_id: str


class SubagentCompleted(Event, frozen=True, gc=False, tag="subagent_completed"):
    """A subagent has answered."""

    node_id: str
    subagent_id: str


class SubagentFailed(Event, frozen=True, gc=False, tag="subagent_failed"):
    """A subagent gave up."""

    node_id: str
    subagent_id: str
    error: str


class PhaseTimed(Event, frozen=True, gc=False, tag="phase_timed"):
    """How long something took, in milliseconds."""

    phase: str
    label: str
    duration_ms: int
    node_id: str | None = None


class UsageReported(Event, frozen=True, gc=False, tag="usage_reported"):
    """Tokens of one model call, as the provider counted them.

    `parent_id` is the node that a subagent's tokens count to.
    """

    node_id: str
    usage: Usage
    model: str
    max_context_tokens: int | None = None
    parent_id: str | None = None


class ContextCompacted(Event, frozen=True, gc=False, tag="context_compacted"):
    """Old tool results of a conversation became one line each, so that it fits its model.

    `before` and `after` are estimated tokens of the whole request; `items` results were replaced.
    """

    node_id: str
    before: int
    after: int
    items: int


class AiInvokeFailed(Event, frozen=True, gc=False, tag="ai_invoke_failed"):
    """One model call failed; the engine decides what becomes of it."""

    node_id: str
    label: str
    error: str


class OutputRepairStarted(Event, frozen=True, gc=False, tag="output_repair_started"):
    """An overseer call tries to repair the node's output."""

    node_id: str
    model: str


class OutputRepairSucceeded(Event, frozen=True, gc=False, tag="output_repair_succeeded"):
    """The repaired output fits."""

    node_id: str
    model: str


class OutputRepairFailed(Event, frozen=True, gc=False, tag="output_repair_failed"):
    """The overseer could not repair the output; `reason` is one of a few fixed sentences."""

    node_id: str
    reason: str


RunEvent = (
    NodeQueued
    | NodeStarted
    | ChatMessage
    | ChatMessageDelta
    | NodeAwaitingInput
    | ToolCallProposed
    | ToolApprovalRequested
    | ToolApproved
    | ToolDenied
    | ToolStarted
    | ToolRetrying
    | ToolUpdated
    | ToolCompleted
    | ToolCallUncertain
    | ToolCallSettled
    | RunWaiting
    | ToolArtifactCreated
    | FileChanged
    | EditBatchRecorded
    | EditBatchUndone
    | NodeCompleted
    | NodeFailed
    | NodeInterrupted
    | NodeErrored
    | Finished
    | Aborted
    | RunError
    | SubagentsDeclared
    | SubagentStarted
    | SubagentCompleted
    | SubagentFailed
    | PhaseTimed
    | UsageReported
    | ContextCompacted
    | BudgetWarning
    | BudgetDecided
    | NodeReconfigured
    | AiInvokeFailed
    | OutputRepairStarted
    | OutputRepairSucceeded
    | OutputRepairFailed
)

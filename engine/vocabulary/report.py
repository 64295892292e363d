"""How a run stands when nothing more happens by itself."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.vocabulary.messages import StructuredInput, Usage
from engine.vocabulary.recovery import UncertainCall
from engine.vocabulary.spending import SpentLimit
from engine.vocabulary.tools import CallPreview, RuleProposal, ToolCall, ToolTier


class NodeOutput(Struct, frozen=True, gc=False):
    """The accepted output of one node."""

    node_id: str
    output: Any


class RunReport(Struct, frozen=True, gc=False):
    """The result of a completed run; `outputs` are sorted by node id.

    `tokens_in` counts prompt tokens only; `usage` is the sum over all calls, `None` where no
    provider said anything.
    """

    workflow_id: str
    outputs: tuple[NodeOutput, ...]
    read_calls: int = 0
    redundant_reads: int = 0
    tokens_in: int = 0
    usage: Usage | None = None


class PendingInput(Struct, frozen=True, gc=False):
    """A node that waits for an answer. `is_initial`: it has not said anything before.

    `question` is what it asks; `context` what it knows: its inputs and its task. With `budget` it
    asks about a limit that is used up, and the answer is to continue or to stop.
    """

    pause_id: str
    node_id: str
    label: str
    context: str
    is_initial: bool = False
    structured_input: StructuredInput | None = None
    question: str = ""
    budget: SpentLimit | None = None


class PendingApproval(Struct, frozen=True, gc=False):
    """One tool call that waits for a decision.

    `path` is the chain of node and subagent ids that leads to the caller, and `node_id` its first:
    the node that a person knows. `digest` binds the decision to path, tool, arguments and what
    they lead to. `rule` is what 'allow for this run' would allow; without one there is no such
    choice.
    """

    approval_id: str
    node_id: str
    node_label: str
    tool_call: ToolCall
    tier: ToolTier
    digest: str
    path: tuple[str, ...] = ()
    reason: str = ""
    preview: CallPreview | None = None
    rule: RuleProposal | None = None


class Retryable(Struct, frozen=True, gc=False):
    """A node that failed or was interrupted and can be retried."""

    node_id: str
    label: str
    error: str
    interrupted: bool = False


class RunCompleted(Struct, frozen=True, gc=False, tag="completed"):
    """Every node has an output."""

    report: RunReport


class RunFailed(Struct, frozen=True, gc=False, tag="failed"):
    """The run cannot go on and no person can help it."""

    message: str
    node_id: str | None = None


class RunCancelled(Struct, frozen=True, gc=False, tag="cancelled"):
    """The run was stopped."""


class NeedsInteraction(Struct, frozen=True, gc=False, tag="needs_interaction"):
    """Nothing moves until a person answers, decides or retries; lists everything that waits.

    `uncertain` are calls that a person has to settle, since nobody knows how they ended.
    """

    inputs: tuple[PendingInput, ...] = ()
    approvals: tuple[PendingApproval, ...] = ()
    retryables: tuple[Retryable, ...] = ()
    uncertain: tuple[UncertainCall, ...] = ()


RunOutcome = RunCompleted | RunFailed | RunCancelled | NeedsInteraction

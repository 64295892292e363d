"""What can go wrong, in three families.

`CallFailure` values say how a model call failed; they are data, because a run is replayed from
them. Their `usage` is what the call cost all the same, where the provider said so.
`InteractionError`s tell a caller that an answer does not fit; nothing was changed.
`IllegalInput` is a bug in the program that steps the engine.
"""

from __future__ import annotations

from msgspec import Struct

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import JsonObject

MAX_CANDIDATE_BYTES = 64 * 1024


class EngineError(Exception):
    """Base of all exceptions of the engine."""


class IllegalInput(EngineError):
    """The engine was given an input that its transition table does not have in this state."""


class InteractionError(EngineError):
    """An answer, a decision or a request of a person that cannot be applied; state is unchanged."""


class UnknownNode(InteractionError):
    """There is no node with this id in the workflow."""

    def __init__(self, node_id: str) -> None:
        self.node_id = node_id
        super().__init__(f"there is no node '{node_id}' in this workflow")


class NoNodeAwaiting(InteractionError):
    """An answer came, and no node is waiting for one."""

    def __init__(self) -> None:
        super().__init__("no node is waiting for an answer")


class WrongNode(InteractionError):
    """An answer was addressed to a node that is not waiting, while another is."""

    def __init__(self, *, expected: str, got: str) -> None:
        self.expected, self.got = expected, got
        super().__init__(f"node '{got}' is not waiting for an answer; '{expected}' is")


class StalePause(InteractionError):
    """An answer named a pause that is over or never was."""

    def __init__(self, pause_id: str) -> None:
        self.pause_id = pause_id
        super().__init__(f"the question '{pause_id}' is no longer open")


class UnclearAnswer(InteractionError):
    """A question about a limit was answered with something else than to continue or to stop."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(
            "a limit is reached: answer 'continue', 'continue 5000' for that much more, or 'stop'"
        )


class UnknownApproval(InteractionError):
    """A decision named an approval that this run never asked for."""

    def __init__(self, approval_id: str) -> None:
        self.approval_id = approval_id
        super().__init__(f"there is no approval '{approval_id}' in this run")


class AlreadyDecided(InteractionError):
    """A decision came after the first one; `verdict` is what counts (`allowed`, `denied`...)."""

    def __init__(self, approval_id: str, verdict: str) -> None:
        self.approval_id, self.verdict = approval_id, verdict
        super().__init__(f"already decided: {verdict}")


class NodeNotRetryable(InteractionError):
    """Only a failed or interrupted node can be retried."""

    def __init__(self, node_id: str) -> None:
        self.node_id = node_id
        super().__init__(f"node '{node_id}' has neither failed nor been interrupted")


class NodeNotActive(InteractionError):
    """A live message or an interruption for a node that is not at work."""

    def __init__(self, node_id: str) -> None:
        self.node_id = node_id
        super().__init__(f"node '{node_id}' is not at work")


class LiveMessagesDisabled(InteractionError):
    """The node takes no messages while it works (`requestUserInput` and conversation are off)."""

    def __init__(self, node_id: str) -> None:
        self.node_id = node_id
        super().__init__(f"node '{node_id}' takes no messages while it works")


class UnknownMessage(InteractionError):
    """A queued message was named that is not (or no longer) in the queue."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"message '{message_id}' is not queued any more")


class RunIsOver(InteractionError):
    """The run has completed, failed for good or been stopped."""

    def __init__(self) -> None:
        super().__init__("the run is over")


class NotUncertain(InteractionError):
    """No call with this id is uncertain, or it was settled already."""

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        super().__init__(f"no call '{call_id}' is uncertain; it may have been settled already")


class CheckpointError(EngineError):
    """Base of the reasons why a stored state does not fit a workflow."""


class WorkflowMismatch(CheckpointError):
    """The state belongs to another workflow."""


class StaleNodeIds(CheckpointError):
    """The state names nodes that the workflow does not have; `node_ids` lists them."""

    def __init__(self, node_ids: tuple[str, ...]) -> None:
        self.node_ids = node_ids
        super().__init__("the stored run names nodes that are gone: " + ", ".join(node_ids))


class InvalidFrozenChangeEvidencePacket(CheckpointError):
    """The frozen plan in the state was altered or does not come from the plan's source."""


class RepairCandidate(Struct, frozen=True, gc=False):
    """A malformed submit call that an overseer may try to repair.

    The raw arguments are in here and nowhere else: `repr` shows their size only, and the engine
    never stores a candidate.
    """

    tool_name: str
    raw_arguments: str
    detail: str
    output_schema: JsonObject
    kind: str
    provider_call_id: str | None = None
    finish_reason: str = ""

    @property
    def size_bytes(self) -> int:
        """Length of the raw arguments in UTF-8 bytes."""
        return len(self.raw_arguments.encode("utf-8", "surrogatepass"))

    @property
    def is_repairable(self) -> bool:
        """Whether it was not cut off and is small enough."""
        return self.kind != "truncated_response" and self.size_bytes <= MAX_CANDIDATE_BYTES

    def __repr__(self) -> str:
        return f"RepairCandidate(kind={self.kind!r}, raw_arguments=<{self.size_bytes} bytes>)"


class TransientFailure(Struct, frozen=True, gc=False, tag="transient", omit_defaults=True):
    """May go away by itself; the only failure that is retried with backoff.

    `retry_after_s` is what the provider asked for, in seconds.
    """

    message: str
    retry_after_s: float | None = None
    usage: Usage | None = None


class PermanentFailure(Struct, frozen=True, gc=False, tag="permanent", omit_defaults=True):
    """Will not go away without a change (key, model name, permission)."""

    message: str
    usage: Usage | None = None


class RequestFailure(Struct, frozen=True, gc=False, tag="failed", omit_defaults=True):
    """The request or its reply was not acceptable (HTTP 400, an unreadable body...)."""

    message: str
    usage: Usage | None = None


class ContextTooLong(Struct, frozen=True, gc=False, tag="context_too_long", omit_defaults=True):
    """The request has more tokens than the model can take in."""

    message: str
    usage: Usage | None = None


class EmptyTurn(Struct, frozen=True, gc=False, tag="empty_turn"):
    """The reply held neither a call nor usable text."""

    message: str
    usage: Usage | None = None


PRINTED_CALL = "printed_call"
"""The name of a repair, and of a failure: a call was printed as text instead of being made."""


class MalformedSubmit(Struct, frozen=True, gc=False, tag="malformed_submit", omit_defaults=True):
    """A submit call that does not fit; `detail` is safe to show and to send to the model.

    `kind` is `invalid_json`, `wrong_envelope`, `schema_violation`, `handoff` or `PRINTED_CALL`.
    """

    detail: str
    kind: str
    usage: Usage | None = None


class MixedToolTurn(Struct, frozen=True, gc=False, tag="mixed_tool_turn"):
    """A harness tool was called together with anything else."""

    tool_names: tuple[str, ...]
    usage: Usage | None = None


class TruncatedOutput(Struct, frozen=True, gc=False, tag="output_truncated"):
    """The reply was cut off: `reason` is `length` (limit hit), `stream` or `unterminated`."""

    reason: str
    tool_names: tuple[str, ...] = ()
    usage: Usage | None = None


class CallInterrupted(Struct, frozen=True, gc=False, tag="interrupted"):
    """The call was cancelled from this side."""


CallFailure = (
    TransientFailure
    | PermanentFailure
    | RequestFailure
    | ContextTooLong
    | EmptyTurn
    | MalformedSubmit
    | MixedToolTurn
    | TruncatedOutput
    | CallInterrupted
)


def failure_text(failure: CallFailure) -> str:
    """One sentence for a person; never raw arguments."""
    match failure:
        case TransientFailure(message=message):
            return f"transient: {message}"
        case PermanentFailure(message=message):
            return f"permanent: {message}"
        case RequestFailure(message=message) | EmptyTurn(message=message):
            return message
        case ContextTooLong(message=message):
            return f"the request is too long for the model: {message}"
        case MalformedSubmit(detail=detail):
            return f"the submitted output does not fit: {detail}"
        case MixedToolTurn(tool_names=names):
            return "tools were mixed in one turn that must be called alone: " + ", ".join(names)
        case TruncatedOutput(reason=reason):
            return f"the reply was cut off ({reason})"
        case CallInterrupted():
            return "interrupted"


class ModelCallError(Exception):
    """Raised by a port for a call that failed; `failure` says how.

    `candidate` accompanies a `MalformedSubmit` that might be repaired and goes no further than
    the port that repairs.
    """

    def __init__(self, failure: CallFailure, candidate: RepairCandidate | None = None) -> None:
        self.failure, self.candidate = failure, candidate
        super().__init__(failure_text(failure))

"""What the engine asks of the program that steps it."""

from __future__ import annotations

from msgspec import Struct

from engine.vocabulary.events import RunEvent
from engine.vocabulary.report import RunOutcome
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ApprovalMode, ToolAccessPolicy, ToolCall


class AsideText(Struct, frozen=True, gc=False):
    """The result of a call that a request does not hold any more, but only names by this id.

    `content` is `None` where the host has put the whole output aside before.
    """

    artifact_id: str
    tool_name: str
    call_id: str
    content: str | None


class CallModel(Struct, frozen=True, gc=False):
    """Make this model call and feed `ModelReplied` with the same node and `call`.

    Before that, see to it that each text of `put_aside` can be read as `artifact:ID`; some may
    have been told before.
    """

    node_id: str
    call: int
    request: AgentRequest
    put_aside: tuple[AsideText, ...] = ()


class AdmittedCall(Struct, frozen=True, gc=False):
    """A call that may run; `digest` must still be that of what is about to run.

    `is_bound`: a person decided, so the digest holds the call's targets too, and they have to be
    looked up again.
    """

    call: ToolCall
    digest: str
    is_bound: bool = False


class RunTools(Struct, frozen=True, gc=False):
    """Run these calls, in this order where their concurrency demands it.

    Answer with `ToolsFinished` for the same node and `batch_id`. `node_id` is the caller: a node,
    or a subagent at work. `path` leads to it from its node; what the calls change and read counts
    to `path[0]`. `conversation_id` names the transcript that the results go into: the node's, or
    that of one call of a subagent. `mode` is the caller's approval mode as it is now.
    """

    node_id: str
    label: str
    batch_id: str
    calls: tuple[AdmittedCall, ...]
    policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION
    path: tuple[str, ...] = ()
    conversation_id: str = ""
    mode: ApprovalMode = ApprovalMode.WRITE


class InspectCalls(Struct, frozen=True, gc=False):
    """Find out what these calls would touch, without touching it: a person is asked about them.

    Answer with `CallsInspected` for the same node and `batch_id`.
    """

    node_id: str
    batch_id: str
    calls: tuple[ToolCall, ...]
    policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION
    path: tuple[str, ...] = ()
    conversation_id: str = ""


class Wait(Struct, frozen=True, gc=False):
    """Feed `TimerFired` for the node at `until` (seconds since the epoch) or later."""

    node_id: str
    until: float


class CancelWork(Struct, frozen=True, gc=False):
    """Cancel whatever runs for the node: its model call, its tools, its timer.

    What has been cancelled need not be answered; an answer that comes all the same is ignored.
    """

    node_id: str


class Finish(Struct, frozen=True, gc=False):
    """The run has ended, or nothing moves until a person does something."""

    outcome: RunOutcome


Effect = CallModel | InspectCalls | RunTools | Wait | CancelWork | Finish


class Step(Struct, frozen=True, gc=False):
    """What follows from one input: effects to carry out and events to tell, both in order."""

    effects: tuple[Effect, ...] = ()
    events: tuple[RunEvent, ...] = ()


NOTHING = Step()

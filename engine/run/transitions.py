"""The table: what each input does to an actor in each phase, and where it may be after it.

Nodes and subagents are moved by the same rows. A subagent never waits to be retried: where a node
would be interrupted or failed, it is done, and its caller has an error.

What is not in the table is an `IllegalInput`. An action named `refuse_...` raises an
`InteractionError` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.run import interactions
from engine.run.decisions import decide_call, take_inspections
from engine.run.replies import take_reply
from engine.run.run_context import RunContext
from engine.run.scheduling import call_model
from engine.run.state import NodePhase, NodeState
from engine.run.tool_turns import take_results
from engine.run.uncertainty import settle_call
from engine.vocabulary.inputs import (
    CallsInspected,
    EditBatchReverted,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    NodeInterruptAsked,
    NodePatched,
    RetryAsked,
    TimerFired,
    ToolDecided,
    ToolsFinished,
    UncertainSettled,
)

Action = Callable[[RunContext, NodeState, Any], None]
P = NodePhase


class Transition(NamedTuple):
    """What is done, and every phase in which it may leave the actor."""

    action: Action
    leads_to: frozenset[NodePhase]


def _row(action: Action, *leads_to: NodePhase) -> Transition:
    return Transition(action, frozenset(leads_to))


def call_again(run: RunContext, node: NodeState, fired: TimerFired) -> None:
    """The backoff is over."""
    call_model(run, node)


_REPLY = _row(
    take_reply,
    P.CALLING,
    P.TOOLS,
    P.AWAITING_INPUT,
    P.BACKOFF,
    P.FAILED,
    P.INTERRUPTED,
    P.DONE,
)
_INTERRUPT = _row(interactions.interrupt, P.INTERRUPTED, P.DONE)
# A limit may keep a call from being made: it is asked about, or the actor has failed for it.
_ON_CALLING = (P.CALLING, P.AWAITING_INPUT, P.FAILED, P.DONE)
_AFTER_TOOLS = (P.TOOLS, *_ON_CALLING)
_RETRY = _row(interactions.retry, P.CALLING, P.AWAITING_INPUT)
_RETRY_BY_MESSAGE = _row(interactions.retry_by_message, P.CALLING, P.AWAITING_INPUT)

TABLE: dict[tuple[NodePhase, type], Transition] = {
    (P.CALLING, ModelReplied): _REPLY,
    (P.CALLING, NodeInterruptAsked): _INTERRUPT,
    (P.CALLING, MessageQueued): _row(interactions.queue_message, P.CALLING),
    (P.TOOLS, ToolsFinished): _row(take_results, *_AFTER_TOOLS),
    (P.TOOLS, CallsInspected): _row(take_inspections, *_AFTER_TOOLS),
    (P.TOOLS, ToolDecided): _row(decide_call, *_AFTER_TOOLS),
    (P.TOOLS, UncertainSettled): _row(settle_call, *_AFTER_TOOLS),
    (P.TOOLS, NodeInterruptAsked): _INTERRUPT,
    (P.TOOLS, MessageQueued): _row(interactions.queue_message, P.TOOLS),
    (P.BACKOFF, TimerFired): _row(call_again, *_ON_CALLING),
    (P.BACKOFF, NodeInterruptAsked): _INTERRUPT,
    (P.BACKOFF, MessageQueued): _row(interactions.queue_message, P.BACKOFF),
    (P.AWAITING_INPUT, HumanAnswered): _row(interactions.answer, *_ON_CALLING),
    (P.AWAITING_INPUT, MessageQueued): _row(interactions.answer_by_message, *_ON_CALLING),
    (P.INTERRUPTED, NodeInterruptAsked): _row(interactions.stay_interrupted, P.INTERRUPTED),
    (P.INTERRUPTED, RetryAsked): _RETRY,
    (P.INTERRUPTED, MessageQueued): _RETRY_BY_MESSAGE,
    (P.FAILED, RetryAsked): _RETRY,
    (P.FAILED, MessageQueued): _RETRY_BY_MESSAGE,
}

_REFUSALS: dict[type, Action] = {
    HumanAnswered: interactions.refuse_answer,
    RetryAsked: interactions.refuse_retry,
    NodeInterruptAsked: interactions.refuse_interrupt,
    MessageQueued: interactions.refuse_message,
}

# A person may try anything at any time, and some things are harmless wherever the node stands.
for _phase in NodePhase:
    for _input, _action in _REFUSALS.items():
        TABLE.setdefault((_phase, _input), _row(_action, _phase))
    TABLE[_phase, NodePatched] = _row(interactions.patch_node, _phase)
    TABLE[_phase, EditBatchReverted] = _row(interactions.forget_batch, _phase)

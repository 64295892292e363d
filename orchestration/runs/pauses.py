"""What waits for a person, and for whom it waits."""

from __future__ import annotations

from engine.vocabulary.errors import NoNodeAwaiting
from engine.vocabulary.events import NodeAwaitingInput
from engine.vocabulary.recovery import UncertainCall
from engine.vocabulary.report import NeedsInteraction, PendingApproval, PendingInput


def pending_of(event: NodeAwaitingInput) -> PendingInput:
    """What waits since the event."""
    return PendingInput(
        pause_id=event.pause_id,
        node_id=event.node_id,
        label=event.label,
        context=event.context,
        is_initial=event.is_initial,
        structured_input=event.structured_input,
        question=event.question,
        budget=event.budget,
    )


def caller_of(request: PendingApproval | UncertainCall) -> str:
    """The actor whose call waits for a person: a node, or a subagent at work."""
    return "/".join(request.path) or request.node_id


def only_movable(waiting: NeedsInteraction) -> str:
    """The only node that a message would let go on.

    Raises:
        NoNodeAwaiting: there is none, or more than one.
    """
    nodes = {one.node_id for one in waiting.inputs} | {one.node_id for one in waiting.retryables}
    if len(nodes) != 1:
        raise NoNodeAwaiting
    return nodes.pop()

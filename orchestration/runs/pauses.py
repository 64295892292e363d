"""A node's open question as an event and as a thing that waits: the same facts in two shapes."""

from __future__ import annotations

from engine.vocabulary.events import NodeAwaitingInput
from engine.vocabulary.report import PendingInput


def announcement_of(pending: PendingInput) -> NodeAwaitingInput:
    """The event that tells of it."""
    return NodeAwaitingInput(
        node_id=pending.node_id,
        label=pending.label,
        context=pending.context,
        is_initial=pending.is_initial,
        structured_input=pending.structured_input,
        pause_id=pending.pause_id,
        question=pending.question,
    )


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
    )

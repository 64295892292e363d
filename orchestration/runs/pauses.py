"""A node's open question as a thing that waits, from the event that told of it."""

from __future__ import annotations

from engine.vocabulary.events import NodeAwaitingInput
from engine.vocabulary.report import PendingInput


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

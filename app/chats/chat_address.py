"""What becomes of what a person writes in a chat."""

from __future__ import annotations

from app.chat.addressing import RunFacts
from app.chat.composer import Address

_WRITE = "Write a message"


def chat_address(facts: RunFacts, *, is_ready: bool, why_not: str = "") -> Address:
    """To the one who answers, however its run stands; `facts` may be those of no run at all."""
    if not facts.is_active:
        if not is_ready:
            return Address("none", placeholder=why_not)
        return Address("start", placeholder=_WRITE, verb="Send")
    if facts.waiting:
        node_id = next(iter(facts.waiting))
        return Address("answer", node_id, placeholder=_WRITE, verb="Send")
    if facts.failed:
        words = "Write a message, or press Enter to try again"
        return Address("retry", next(iter(facts.failed)), placeholder=words, allows_empty=True)
    if facts.undecided:
        return Address("none", placeholder="A tool call waits for your decision above")
    if facts.talking:
        words = "Add something; it is read before the next step"
        return Address("message", next(iter(facts.talking)), placeholder=words)
    return Address("none", placeholder="Waiting for the answer")

"""Whom the composer speaks to, from how the run stands and which node is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.chat.composer import Address


class RunFacts(NamedTuple):
    """What decides it; nodes are ids mapped to labels, in the order in which they began to wait.

    `talking` are nodes at work that take messages meanwhile, `at_work` those that work at all.
    """

    is_active: bool
    waiting: Mapping[str, str]
    failed: Mapping[str, str]
    talking: Mapping[str, str]
    undecided: int = 0
    at_work: Mapping[str, str] = {}


IDLE_FACTS = RunFacts(False, {}, {}, {})


def address_for(facts: RunFacts, chosen: str, *, is_ready: bool, why_not: str = "") -> Address:
    """Whom the text goes to: the chosen node if it listens, else the first that waits."""
    if not facts.is_active:
        if not is_ready:
            return Address("none", placeholder=why_not)
        return Address("start", placeholder="What should the workflow work on?", allows_empty=True)
    if chosen in facts.talking:
        label = facts.talking[chosen]
        return Address(
            "message", chosen, f"Message to {label}, which is at work", "Add something on the way"
        )
    if chosen in facts.failed:
        return _retry(chosen, facts.failed[chosen])
    if facts.waiting:
        node_id = chosen if chosen in facts.waiting else next(iter(facts.waiting))
        others = tuple((key, label) for key, label in facts.waiting.items() if key != node_id)
        label = facts.waiting[node_id]
        return Address("answer", node_id, f"Answering {label}", "Write an answer", others)
    if facts.failed:
        node_id = next(iter(facts.failed))
        return _retry(node_id, facts.failed[node_id])
    if facts.undecided:
        return Address("none", placeholder="A tool call waits for your decision above")
    if chosen in facts.at_work:
        words = f"{facts.at_work[chosen]} takes no messages while it works; you can interrupt it"
        return Address("none", placeholder=words)
    return Address("none", placeholder="The workflow is at work; questions to you appear above")


def _retry(node_id: str, label: str) -> Address:
    return Address(
        "retry",
        node_id,
        f"Retrying {label}, with a message if you like",
        "Tell it what to do differently",
        allows_empty=True,
    )

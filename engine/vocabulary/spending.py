"""How much a run and each of its nodes may use up, and what is told about it.

Each limit is about one measure: `tokens`, `cost` (US dollars), `seconds` (of work; waiting for a
person does not count) or `turns` (replies of a model).
"""

from __future__ import annotations

from msgspec import Struct

from engine.vocabulary.event_base import Event

MEASURES = ("tokens", "cost", "seconds", "turns")
RUN, NODE = "run", "node"
CONTINUED, STOPPED = "continued", "stopped"


class Allowance(Struct, frozen=True, gc=False, omit_defaults=True):
    """A limit for each measure; `None` means that there is none."""

    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    turns: int | None = None


NO_LIMIT = Allowance()


class SpendingLimits(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a run may use up, and each node of it with its subagents.

    At `warn_run` and `warn_node` a warning is told, once for each measure.
    """

    run: Allowance = NO_LIMIT
    node: Allowance = NO_LIMIT
    warn_run: Allowance = NO_LIMIT
    warn_node: Allowance = NO_LIMIT


class SpentLimit(Struct, frozen=True, gc=False):
    """A limit that is used up. `scope` is `run` or `node`; `node_id` is the node in both cases."""

    scope: str
    node_id: str
    measure: str
    spent: float
    limit: float


class BudgetWarning(Event, frozen=True, gc=False, tag="budget_warning"):
    """A run or a node has used up as much as somebody wanted to hear about."""

    node_id: str
    scope: str
    measure: str
    spent: float
    limit: float


class BudgetDecided(Event, frozen=True, gc=False, tag="budget_decided"):
    """A person has decided about a limit that was used up; `limit` is what holds from now on.

    `verdict` is `continued` or `stopped`.
    """

    node_id: str
    pause_id: str
    scope: str
    measure: str
    verdict: str
    limit: float


def amount_text(measure: str, amount: float) -> str:
    """An amount of a measure in words."""
    if measure == "cost":
        return f"${amount:.4f}".rstrip("0").rstrip(".")
    if measure == "seconds":
        return f"{amount:.0f} seconds"
    return f"{amount:,.0f} {measure}"

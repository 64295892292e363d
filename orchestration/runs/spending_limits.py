"""The limits of a run, from the settings and from what it was started with."""

from __future__ import annotations

from engine.vocabulary.spending import MEASURES, NO_LIMIT, Allowance, SpendingLimits
from orchestration.settings.model import Limits, Spending

WARN_SHARE = 0.8
"""Where nobody says when to warn, it is at this share of the limit."""


def spending_limits(limits: Limits, allowance: Allowance = NO_LIMIT) -> SpendingLimits | None:
    """What a run may use up; `allowance` comes before the settings. `None`: nothing limits it."""
    run = _over(_allowance(limits.run), allowance)
    node = _allowance(limits.node)
    found = SpendingLimits(
        run=run,
        node=node,
        warn_run=_over(_warning(run), _allowance(limits.warn_run)),
        warn_node=_over(_warning(node), _allowance(limits.warn_node)),
    )
    return None if found == SpendingLimits() else found


def _allowance(spending: Spending) -> Allowance:
    return Allowance(spending.tokens, spending.cost, spending.seconds, spending.turns)


def _over(below: Allowance, above: Allowance) -> Allowance:
    """Each measure of `above`, or of `below` where that has none."""
    pairs = ((getattr(above, name), getattr(below, name)) for name in MEASURES)
    return Allowance(*[one if one is not None else other for one, other in pairs])


def _warning(limit: Allowance) -> Allowance:
    return Allowance(
        None if limit.tokens is None else int(limit.tokens * WARN_SHARE),
        None if limit.cost is None else limit.cost * WARN_SHARE,
        None if limit.seconds is None else limit.seconds * WARN_SHARE,
        None if limit.turns is None else int(limit.turns * WARN_SHARE) or None,
    )

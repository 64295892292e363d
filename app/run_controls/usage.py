"""What a run or a node has used up, ready to be shown: texts, rows and how full a limit is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from app.kit.formats import count_text, duration_text, money_text, plural
from engine.vocabulary.spending import MEASURES, Allowance

if TYPE_CHECKING:
    from orchestration.runs.run_view import RunView
    from orchestration.runs.view_values import UsageTotals


class UsageRow(NamedTuple):
    """One line of the details; a text is empty where nothing is known."""

    name: str
    seconds: str
    tokens_in: str
    cached: str
    tokens_out: str
    cost: str


def summary(totals: UsageTotals | None, seconds: float | None) -> str:
    """`12 s · 3.4k in · 620 out · 1.2k cached · $0.042`; only what is known."""
    parts = [] if seconds is None else [duration_text(seconds)]
    if totals is not None:
        for count, word in (
            (totals.tokens_in, "in"),
            (totals.tokens_out, "out"),
            (totals.tokens_cached or None, "cached"),
        ):
            if count is not None:
                parts.append(f"{count_text(count)} {word}")
        if totals.cost is not None:
            parts.append(_cost(totals))
    return " · ".join(parts)


def usage_rows(view: RunView, now: float) -> list[UsageRow]:
    """A line for each node that has begun, in the workflow's order, and one for the whole run."""
    rows = []
    for node_id, label in view.labels.items():
        seconds = node_seconds(view, node_id, now)
        totals = view.usage_by_node.get(node_id)
        if seconds is not None or totals is not None:
            rows.append(_row(label, totals, seconds))
    return [*rows, _row("Whole run", view.usage, run_seconds(view, now))] if rows else []


def unpriced_words(totals: UsageTotals) -> str:
    """What the cost leaves out, as a sentence; empty where it is complete."""
    if not totals.unpriced_calls:
        return ""
    calls = plural(totals.unpriced_calls, "model call")
    return f"The price of {calls} is not known; the cost leaves them out."


def node_seconds(view: RunView, node_id: str, now: float) -> float | None:
    """How long a node has been at it, waiting included; `None` if it has not begun."""
    timing = view.timings.get(node_id)
    if timing is None or timing.started_at is None:
        return None
    return max(0.0, _end(view, timing.completed_at, now) - timing.started_at)


def run_seconds(view: RunView, now: float) -> float | None:
    """How long a run has been on; `None` if nothing of it has begun."""
    begun = [each.queued_at or each.started_at for each in view.timings.values()]
    started = min((each for each in begun if each is not None), default=None)
    return None if started is None else max(0.0, _end(view, None, now) - started)


def fullness(
    allowed: Allowance, totals: UsageTotals | None, seconds: float | None
) -> tuple[float, str]:
    """How much of the tightest limit is used up, from 0 to 1, and that in words.

    Without a limit, or while nothing is known, the words are empty.
    """
    spent = {
        "tokens": None if totals is None else (totals.tokens_in or 0) + (totals.tokens_out or 0),
        "cost": None if totals is None else totals.cost or 0.0,
        "seconds": seconds,
        "turns": None,
    }
    best, words = 0.0, ""
    for measure in MEASURES:
        limit, amount = getattr(allowed, measure), spent[measure]
        if limit and amount is not None and amount / limit >= best:
            best = amount / limit
            words = f"{_short(measure, amount)} of {_amount(measure, limit)}"
    return min(best, 1.0), words


def _short(measure: str, amount: float) -> str:
    """An amount without its unit where that follows anyway: `14k of 16k tokens`."""
    if measure in ("tokens", "turns"):
        return count_text(round(amount))
    return _amount(measure, amount)


def _amount(measure: str, amount: float) -> str:
    if measure == "cost":
        return money_text(amount)
    if measure == "seconds":
        return duration_text(amount)
    return f"{count_text(round(amount))} {measure}"


def _row(name: str, totals: UsageTotals | None, seconds: float | None) -> UsageRow:
    return UsageRow(
        name,
        "" if seconds is None else duration_text(seconds),
        _count(None if totals is None else totals.tokens_in),
        _count(None if totals is None else totals.tokens_cached),
        _count(None if totals is None else totals.tokens_out),
        "" if totals is None or totals.cost is None else _cost(totals),
    )


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _cost(totals: UsageTotals) -> str:
    assert totals.cost is not None
    return f"{money_text(totals.cost)}{'+' if totals.unpriced_calls else ''}"


def _end(view: RunView, completed_at: float | None, now: float) -> float:
    """When it ended; a run that is over has no clock any more."""
    if completed_at is not None:
        return completed_at
    return now if view.active or not view.trace else min(now, view.trace[-1].time)

"""Spans in words: names, figures, and what there is to know of one."""

from __future__ import annotations

import time as clock
from typing import NamedTuple

from app.chat.tool_words import tool_name
from app.kit.formats import count_text, duration_text, money_text, plural
from app.trace.timeline_rows import status_words
from orchestration.runs.spans import Span, SpanKind

UNKNOWN = "unknown"
_KINDS = {
    SpanKind.NODE: "Node",
    SpanKind.TURN: "Model turn",
    SpanKind.TOOL: "Tool call",
    SpanKind.SUBAGENT: "Subagent",
    SpanKind.REPAIR: "Output repair",
    SpanKind.RUN: "Run",
}


class Totals(NamedTuple):
    """What the turns of a span and of all that is inside it have used up; `None`: nobody said.

    `unpriced` counts the turns whose cost is not known.
    """

    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    cost: float | None
    unpriced: int


class Fact(NamedTuple):
    """One line of the details."""

    name: str
    value: str


def kind_words(span: Span) -> str:
    """What a span is."""
    return _KINDS[span.kind]


def span_name(span: Span) -> str:
    """What a span is called."""
    return tool_name(span.label) if span.kind is SpanKind.TOOL else span.label


def seconds_of(span: Span, now: float) -> float:
    """How long it took, or takes by now."""
    return max(0.0, (span.end or now) - span.start)


def totals(span: Span) -> Totals:
    """Added up over a span with everything that is inside it."""
    sums: list[float | None] = [span.tokens_in, span.tokens_out, span.tokens_cached, span.cost]
    unpriced = 1 if span.kind is SpanKind.TURN and span.cost is None else 0
    for child in span.children:
        inner = totals(child)
        unpriced += inner.unpriced
        for index, value in enumerate(inner[:4]):
            if value is not None:
                sums[index] = (sums[index] or 0) + value
    tokens = [None if value is None else int(value) for value in sums[:3]]
    return Totals(tokens[0], tokens[1], tokens[2], sums[3], unpriced)


def short_figures(span: Span, now: float) -> str:
    """Time, tokens and cost in one short line."""
    parts = [duration_text(seconds_of(span, now))]
    if span.kind is not SpanKind.TOOL:
        used = totals(span)
        if used.tokens_in is not None or used.tokens_out is not None:
            count = (used.tokens_in or 0) + (used.tokens_out or 0)
            parts.append(f"{count_text(count)} tokens")
        if used.cost is not None:
            parts.append(money_text(used.cost))
    return " · ".join(parts)


def row_words(span: Span, now: float) -> str:
    """A row as a screen reader says it."""
    return f"{kind_words(span)} {span_name(span)}, {status_words(span)}, {short_figures(span, now)}"


def tip_words(span: Span, now: float) -> str:
    """What is shown while the pointer rests on a row."""
    lines = [f"{span_name(span)}: {status_words(span)}", short_figures(span, now)]
    waited = span.waited(now)
    if waited >= 0.05:
        lines.append(f"Waited {duration_text(waited)}")
    lines += [mark.text for mark in span.marks[-3:]]
    if span.note:
        lines.append(span.note)
    return "\n".join(line if len(line) <= 120 else line[:119] + "…" for line in lines)


def facts(span: Span, now: float, first: float) -> list[Fact]:
    """Everything there is to know of a span but its texts."""
    found = [Fact("Outcome", _outcome(span))]
    found.append(Fact("Began", f"{_clock(span.start)} ({_after(span.start - first)})"))
    if span.end is not None:
        found.append(Fact("Ended", _clock(span.end)))
    found.append(Fact("Duration", duration_text(seconds_of(span, now))))
    waited = span.waited(now)
    if waited >= 0.05:
        reasons = ", ".join(dict.fromkeys(wait.reason for wait in span.waits))
        found.append(Fact("Waited", f"{duration_text(waited)}, for {reasons}"))
    if span.model:
        found.append(Fact("Model", span.model))
    if span.kind in (SpanKind.NODE, SpanKind.SUBAGENT, SpanKind.TURN):
        found += _usage(span)
    turns = sum(child.kind is SpanKind.TURN for child in span.children)
    if turns:
        found.append(Fact("Turns", str(turns)))
    repairs = sum(mark.kind == "repair" for mark in span.marks)
    if repairs:
        found.append(Fact("Output", f"repaired, {plural(repairs, 'attempt')}"))
    return found


def _usage(span: Span) -> list[Fact]:
    used = totals(span)
    cost = UNKNOWN if used.cost is None else money_text(used.cost)
    if used.cost is not None and used.unpriced:
        cost += f" and {plural(used.unpriced, 'turn')} of unknown cost"
    return [
        Fact("Tokens in", _count(used.tokens_in)),
        Fact("Tokens out", _count(used.tokens_out)),
        Fact("Cached", _count(used.tokens_cached)),
        Fact("Cost", cost),
    ]


def _outcome(span: Span) -> str:
    words = status_words(span)
    return f"{words}: {span.note}" if span.note else words


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else f"{count:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _clock(time: float) -> str:
    whole = clock.strftime("%H:%M:%S", clock.localtime(time))
    return f"{whole}.{int(time % 1 * 1000):03}"


def _after(seconds: float) -> str:
    return f"{duration_text(seconds)} after the start" if seconds >= 0.05 else "at the start"

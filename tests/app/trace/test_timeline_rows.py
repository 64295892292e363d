from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from app.trace.span_words import facts, short_figures, totals
from app.trace.timeline_rows import (
    Piece,
    TimeScale,
    extent,
    moments,
    pieces,
    since_start,
    visible_rows,
)
from orchestration.runs.spans import Span, SpanKind, SpanStatus, Wait


def span(
    kind: SpanKind = SpanKind.NODE, start: float = 0, end: float | None = 1, **more: object
) -> Span:
    name = f"{kind}-{start}-{end}"
    return Span(name, kind, "a", "a", name, start, end, **more)  # type: ignore[arg-type]


def test_turns_are_open_and_what_is_inside_calls_is_not() -> None:
    inner = span(SpanKind.SUBAGENT)
    call = span(SpanKind.TOOL, children=[inner])
    node = span(children=[span(SpanKind.TURN, children=[call])])

    assert [row.depth for row in visible_rows([node], set(), set())] == [0, 1, 2]
    assert [row.depth for row in visible_rows([node], set(), {call.id})] == [0, 1, 2, 3]
    assert [row.depth for row in visible_rows([node], {node.id}, {call.id})] == [0]


def test_bars_are_cut_into_work_and_waiting() -> None:
    waits = [Wait(0, "its turn", 2), Wait(5, "an answer")]

    assert pieces(span(start=0, end=None, waits=waits), 9) == [
        Piece(0, 2, "its turn"),
        Piece(2, 5),
        Piece(5, 9, "an answer"),
    ]
    assert pieces(span(start=3, end=3), 9) == [Piece(3, 3)]


def test_a_view_keeps_to_the_run_and_follows_its_end() -> None:
    scale = TimeScale()
    scale.take(100, 200)
    assert (scale.start, scale.end) == (100, 202)

    scale.zoom(4, 202)
    scale.take(100, 260)
    assert scale.end == 260
    scale.pan(-1e9)
    assert scale.start == 100
    scale.zoom(0.001, 150)
    assert scale.is_fitted


def test_zooming_leaves_the_moment_at_the_pointer_where_it_is() -> None:
    scale = TimeScale()
    scale.take(0, 100)
    before = scale.x(30, 1000)

    scale.zoom(3, 30)

    assert abs(scale.x(30, 1000) - before) < 1e-6


@given(st.floats(0.01, 1e7), st.integers(50, 3000), st.floats(0.01, 1000))
def test_lines_of_the_axis_are_in_view_and_apart(length: float, width: int, zoom: float) -> None:
    scale = TimeScale()
    scale.take(1e9, 1e9 + length)
    scale.zoom(zoom, 1e9 + length / 2)
    places = [scale.x(1e9 + line.seconds, width) for line in moments(scale, width)]

    assert all(-2 <= place <= width + 2 for place in places)
    assert all(b - a >= 88 for a, b in itertools.pairwise(places))


def test_moments_are_named_from_the_start() -> None:
    assert [since_start(s) for s in (0, 65, 3605)] == ["0:00", "1:05", "1:00:05"]
    assert since_start(0.25, 0.05) == "0.25 s"


def test_a_run_reaches_to_now_while_something_goes_on() -> None:
    assert extent([span(start=5, end=8), span(start=6, end=None)], 20) == (5, 20)
    assert extent([], 20) == (20, 21)


def test_figures_add_up_and_the_unknown_stays_unknown() -> None:
    known = span(SpanKind.TURN, tokens_in=1000, tokens_out=200, cost=0.25)
    unknown = span(SpanKind.TURN, start=1, end=2)
    node = span(end=3, children=[known, unknown])

    used = totals(node)

    assert (used.tokens_in, used.tokens_out, used.cost, used.unpriced) == (1000, 200, 0.25, 1)
    assert short_figures(node, 9) == "3 s · 1.2k tokens · $0.25"
    told = {fact.name: fact.value for fact in facts(unknown, 9, 0)}
    assert (told["Cost"], told["Tokens in"], told["Outcome"]) == ("unknown", "unknown", "Running")


def test_waiting_and_outcomes_are_told() -> None:
    waits = [Wait(0, "a decision", 4)]
    call = span(SpanKind.TOOL, end=5, waits=waits, status=SpanStatus.STOPPED, note="denied: no")

    told = {fact.name: fact.value for fact in facts(call, 9, 0)}

    assert (told["Waited"], told["Outcome"]) == ("4 s, for a decision", "Stopped: denied: no")

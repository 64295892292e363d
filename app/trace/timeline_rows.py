"""Which rows a timeline has, and what is where on its axis of time; nothing here paints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestration.runs.spans import Span, SpanKind, SpanStatus

_STEPS_S = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14400,
    43200,
    86400,
)
SHORTEST_S = 0.01
"""A view is never shorter than this."""


class TimelineRow(NamedTuple):
    """One row: its span, how deep it is inside others, and whether it can be and is opened."""

    span: Span
    depth: int
    has_children: bool
    is_open: bool


class Moment(NamedTuple):
    """A line on the axis: how many seconds after the start, and its words."""

    seconds: float
    words: str


def visible_rows(roots: Iterable[Span], folded: set[str], opened: set[str]) -> list[TimelineRow]:
    """The rows from top to bottom.

    Nodes and turns are open unless they are in `folded`, subagents and tool calls are not unless
    they are in `opened`; both hold ids of spans.
    """
    rows: list[TimelineRow] = []
    _add(roots, 0, folded, opened, rows)
    return rows


def opens_itself(span: Span) -> bool:
    """Whether what is inside a span is shown unless somebody folds it."""
    return span.kind in (SpanKind.NODE, SpanKind.TURN)


def _add(
    spans: Iterable[Span],
    depth: int,
    folded: set[str],
    opened: set[str],
    rows: list[TimelineRow],
) -> None:
    for span in spans:
        children = span.children
        if not children:
            rows.append(TimelineRow(span, depth, False, False))
            continue
        is_open = span.id not in folded if opens_itself(span) else span.id in opened
        rows.append(TimelineRow(span, depth, True, is_open))
        if is_open:
            _add(children, depth + 1, folded, opened, rows)


def extent(roots: Sequence[Span], now: float) -> tuple[float, float]:
    """From the first moment of a run to its last, or to `now` where something goes on."""
    if not roots:
        return now, now + 1
    start = min(root.start for root in roots)
    end = max(now if root.end is None else root.end for root in roots)
    return start, max(end, start + SHORTEST_S)


class TimeScale:
    """Which part of a run is in view: `start` and `end` in seconds since the epoch.

    It keeps to the run: what is asked for beyond its ends is brought back.
    """

    def __init__(self) -> None:
        self.first, self.last = 0.0, 1.0
        self.start, self.end = 0.0, 1.0
        self.is_fitted = True
        """All of the run is in view, and stays so while it grows."""

    @property
    def length(self) -> float:
        """How many seconds are in view."""
        return self.end - self.start

    def take(self, first: float, last: float) -> None:
        """The run goes from `first` to `last` by now."""
        was_at_end = self.end >= self.last - self.length * 0.001
        if first != self.first:
            self.is_fitted = True
        self.first, self.last = first, max(last, first + SHORTEST_S)
        if self.is_fitted:
            self.fit()
        elif was_at_end:
            self._show(self.last - self.length, self.length)

    def fit(self) -> None:
        """Show all of the run, with a little room at its end."""
        self.is_fitted = True
        self.start, self.end = self.first, self.last + (self.last - self.first) * 0.02

    def zoom(self, factor: float, around: float) -> None:
        """Show `factor` times less time; the moment `around` stays where it is."""
        length = min(max(self.length / factor, SHORTEST_S), self._most)
        if length >= self._most:
            self.fit()
            return
        share = (around - self.start) / self.length
        self.is_fitted = False
        self._show(around - share * length, length)

    def pan(self, seconds: float) -> None:
        """Look so many seconds later, or earlier."""
        if not self.is_fitted:
            self._show(self.start + seconds, self.length)

    def show_around(self, start: float, end: float) -> None:
        """Move as little as needed to have this time in view."""
        if end < self.start or start > self.end:
            self._show((start + end) / 2 - self.length / 2, self.length)

    def x(self, time: float, width: float) -> float:
        """Where a moment is on an axis of this width."""
        return (time - self.start) / self.length * width

    def time(self, x: float, width: float) -> float:
        """Which moment is at `x`."""
        return self.start + x / max(width, 1) * self.length

    @property
    def _most(self) -> float:
        return (self.last - self.first) * 1.02

    def _show(self, start: float, length: float) -> None:
        limit = max(self.first, self.first + self._most - length)
        self.start = min(max(start, self.first), limit)
        self.end = self.start + length


def moments(scale: TimeScale, width: float, least_pixels: float = 90) -> list[Moment]:
    """The lines of the axis that are in view, at even times after the start of the run."""
    per_pixel = scale.length / max(width, 1)
    wanted = per_pixel * least_pixels
    step = next((step for step in _STEPS_S if step >= wanted), None)
    if step is None:
        step = math.ceil(wanted / 86400) * 86400
    number = math.ceil((scale.start - scale.first) / step - 1e-9)
    found = []
    while (seconds := number * step) <= scale.end - scale.first:
        found.append(Moment(seconds, since_start(seconds, step)))
        number += 1
    return found


def since_start(seconds: float, step: float = 1) -> str:
    """How long after the start: `0:00`, `1:05`, `1:00:05`, `3.25 s` where steps are short."""
    if step < 1:
        digits = max(1, math.ceil(-math.log10(step)))
        return f"{seconds:.{digits}f} s"
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


class Piece(NamedTuple):
    """A part of a bar: from when to when, and what it waits for; work has no reason."""

    start: float
    end: float
    reason: str = ""


def pieces(span: Span, now: float) -> list[Piece]:
    """A bar cut into work and waiting, in order; what goes on ends `now`."""
    end = now if span.end is None else span.end
    place, found = span.start, []
    for wait in span.waits:
        if wait.start > place:
            found.append(Piece(place, wait.start))
        until = min(end if wait.end is None else wait.end, end)
        if until > wait.start:
            found.append(Piece(wait.start, until, wait.reason))
        place = max(place, until)
    if end > place or not found:
        found.append(Piece(place, max(end, place)))
    return found


def status_words(span: Span) -> str:
    """How a span stands, in a word or two."""
    wait = span.open_wait
    if span.status is SpanStatus.WAITING and wait is not None:
        return "Waiting"
    return {
        SpanStatus.QUEUED: "Queued",
        SpanStatus.RUNNING: "Running",
        SpanStatus.COMPLETED: "Done",
        SpanStatus.FAILED: "Failed",
        SpanStatus.STOPPED: "Stopped",
    }.get(span.status, "Waiting")

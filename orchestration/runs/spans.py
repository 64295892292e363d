"""What a timeline of a run is made of: spans of time, one inside the other."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field


class SpanKind(StrEnum):
    """What was at work, or waited."""

    NODE = "node"
    TURN = "turn"
    TOOL = "tool"
    SUBAGENT = "subagent"
    REPAIR = "repair"
    RUN = "run"


class SpanStatus(StrEnum):
    """How a span stands, or ended."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


class MarkKind(StrEnum):
    """What happened at one moment of a span."""

    RETRY = "retry"
    REPAIR = "repair"
    FAILURE = "failure"
    NOTE = "note"


class SpanMark(Struct, frozen=True, gc=False):
    """One moment; `time` in seconds since the epoch."""

    time: float
    kind: MarkKind
    text: str


class Wait(Struct, gc=False):
    """A time in which nothing was done, and for what; `end` is `None` while it lasts."""

    start: float
    reason: str
    end: float | None = None


class Span(Struct, eq=False):
    """One bar. Times are seconds since the epoch; `end` is `None` while it goes on.

    Attributes:
        id: unique in the run, and the same whenever the run is looked at.
        actor: the node, or the subagent at work, whose span it is.
        owner: the node that it belongs to; empty for the run as a whole.
        tokens_in: of a turn, as are the other tokens, `cost` (US dollars) and `model`; `None`
            where the provider did not say.
        call_id: of a tool call.
        note: how it ended, in words, where there is something to say.
    """

    id: str
    kind: SpanKind
    actor: str
    owner: str
    label: str
    start: float
    end: float | None = None
    status: SpanStatus = SpanStatus.RUNNING
    waits: list[Wait] = field(default_factory=list)
    marks: list[SpanMark] = field(default_factory=list)
    children: list[Span] = field(default_factory=list)
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost: float | None = None
    call_id: str = ""
    note: str = ""

    @property
    def open_wait(self) -> Wait | None:
        """What it waits for now."""
        last = self.waits[-1] if self.waits else None
        return last if last is not None and last.end is None else None

    def waited(self, now: float) -> float:
        """How many seconds of it were waiting, if it is `now`."""
        return sum((wait.end or now) - wait.start for wait in self.waits)

    def wait(self, time: float, reason: str, status: SpanStatus = SpanStatus.WAITING) -> None:
        """It waits from now on."""
        self.go_on(time)
        self.waits.append(Wait(time, reason))
        self.status = status

    def go_on(self, time: float) -> None:
        """It waits no longer."""
        wait = self.open_wait
        if wait is not None:
            wait.end = time
        if self.end is None:
            self.status = SpanStatus.RUNNING

    def close(self, time: float, status: SpanStatus, note: str = "") -> None:
        """It is over, with all that is inside it and was not."""
        if self.end is not None:
            return
        self.go_on(time)
        self.end, self.status = time, status
        self.note = note or self.note
        # A node has many children, and only the last ones can be open.
        for child in reversed(self.children):
            if child.end is None:
                inner = SpanStatus.STOPPED if status is SpanStatus.FAILED else status
                child.close(time, inner)

"""Stored runs in words: how they stand, when they changed, how long they took."""

from __future__ import annotations

import time as clock
from typing import TYPE_CHECKING, NamedTuple

from app.kit.formats import count_text, duration_text

if TYPE_CHECKING:
    from orchestration.runs.stored import StoredRun

_DAY_S = 86_400


class RunLook(NamedTuple):
    """How a run's status is shown; `mark` is a shape, `color` a token."""

    words: str
    mark: str
    color: str


CUT_OFF = RunLook("Cut off", "exclamation", "waiting")
LOOKS = {
    "running": RunLook("Running", "disc", "running"),
    "paused": RunLook("Waiting", "question", "waiting"),
    "completed": RunLook("Done", "check", "done"),
    "failed": RunLook("Failed", "cross", "failed"),
    "stopped": RunLook("Stopped", "square", "idle"),
}


def run_look(run: StoredRun) -> RunLook:
    """How the run stands; one whose process ended in the middle of it was cut off."""
    if run.was_cut_off:
        return CUT_OFF
    return LOOKS.get(str(run.status)) or RunLook(str(run.status).capitalize(), "ring", "idle")


def moment_text(moment: float, now: float) -> str:
    """A time as a person reads it: `14:05`, `Yesterday 14:05`, `12 Nov 14:05`, `12 Nov 2024`."""
    then, today = clock.localtime(moment), clock.localtime(now)
    if then[:3] == today[:3]:
        return clock.strftime("%H:%M", then)
    if then[:3] == clock.localtime(now - _DAY_S)[:3]:
        return clock.strftime("Yesterday %H:%M", then)
    is_this_year = then.tm_year == today.tm_year
    return clock.strftime("%d %b %H:%M" if is_this_year else "%d %b %Y", then).lstrip("0")


def time_taken(run: StoredRun) -> str:
    """From the start to the latest change."""
    return duration_text(max(0.0, run.updated - run.started))


def tokens_text(tokens_in: int | None, tokens_out: int | None) -> str:
    """All tokens; empty where no provider has said anything."""
    if tokens_in is None and tokens_out is None:
        return ""
    return count_text((tokens_in or 0) + (tokens_out or 0))


def whole_moment(moment: float) -> str:
    """A time with everything, for a tooltip."""
    return clock.strftime("%Y-%m-%d %H:%M:%S", clock.localtime(moment))

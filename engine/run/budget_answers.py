"""A person answers a question about a limit: go on with more, or stop."""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.run import spending
from engine.run.run_context import RunContext
from engine.run.scheduling import call_model, fail_node
from engine.run.state import NodeState
from engine.vocabulary.errors import UnclearAnswer
from engine.vocabulary.spending import (
    CONTINUED,
    NODE,
    RUN,
    STOPPED,
    BudgetDecided,
    SpentLimit,
)

_GO_ON = re.compile(r"\b(?:continue|yes|y|more|go on|go)\b", re.IGNORECASE)
_STOP = re.compile(r"\b(?:stop|no|n|cancel|abort)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"\d[\d,_]*(?:\.\d+)?")


class Verdict(NamedTuple):
    """What a person said; `more` is by how much the limit is to be raised, where they said it."""

    goes_on: bool
    more: float | None = None


def read_verdict(text: str) -> Verdict:
    """Read an answer.

    Raises:
        UnclearAnswer: it says neither to go on nor to stop, or both.
    """
    amount = _AMOUNT.search(text)
    goes_on = bool(_GO_ON.search(text)) or (amount is not None and not _STOP.search(text))
    if goes_on == bool(_STOP.search(text)):
        raise UnclearAnswer(text)
    more = None if amount is None else float(re.sub("[,_]", "", amount.group()))
    return Verdict(goes_on, more or None)


def decide(run: RunContext, limit: SpentLimit, verdict: Verdict) -> bool:
    """Let all that wait for a limit go on, or stop them; whether the whole run is to stop.

    A run that is stopped leaves its nodes as they are: it asks again when it is continued.
    """
    concerned = spending.waiting_for(run, limit)
    if not verdict.goes_on and limit.scope == RUN:
        _tell(run, concerned[:1], limit, STOPPED, limit.limit)
        return True
    if verdict.goes_on:
        raised = spending.raise_limit(run, limit, verdict.more)
        _tell(run, concerned, limit, CONTINUED, raised)
        for actor in concerned:
            actor.question = None
            call_model(run, actor)
        return False
    spending.spent_of(run, limit).is_stopped = limit.scope == NODE
    _tell(run, concerned, limit, STOPPED, limit.limit)
    for actor in concerned:
        actor.question = None
        fail_node(run, actor, spending.stopped_text(limit))
    return False


def _tell(
    run: RunContext, actors: list[NodeState], limit: SpentLimit, verdict: str, now: float
) -> None:
    for actor in actors:
        pause_id = "" if actor.question is None else actor.question.pause_id
        run.events.append(
            BudgetDecided(actor.id, pause_id, limit.scope, limit.measure, verdict, now)
        )

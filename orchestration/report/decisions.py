"""What a person was asked during a run, and what they said to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from engine.vocabulary import events as ev
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.pauses import caller_of

NOT_ANSWERED = "not answered"
NOT_DECIDED = "not decided"
_LONGEST = 400


class Question(Struct):
    """A question and its answer; `time` is when it was asked."""

    time: float
    actor: str
    asked: str
    answer: str = NOT_ANSWERED


class Decision(Struct):
    """A call that a person had to decide about, and what became of it."""

    time: float
    actor: str
    tool: str
    target: str
    decision: str = NOT_DECIDED


def questions(records: Iterable[EventRecord]) -> Iterator[Question]:
    """All questions, in the order in which they were asked."""
    found: list[Question] = []
    open_by_actor: dict[str, Question] = {}
    for record in records:
        event = record.event
        if isinstance(event, ev.NodeAwaitingInput):
            question = Question(record.time, event.node_id, event.question or event.context)
            found.append(question)
            open_by_actor[event.node_id] = question
        elif isinstance(event, ev.ChatMessage) and event.role == "user":
            answered = open_by_actor.pop(event.node_id, None)
            if answered is not None:
                answered.answer = event.content
    yield from found


def decisions(records: Iterable[EventRecord]) -> Iterator[Decision]:
    """All calls that were asked about, in that order; also those of unknown end."""
    found: dict[str, Decision] = {}
    by_call: dict[str, Decision] = {}
    for record in records:
        event = record.event
        if isinstance(event, ev.ToolApprovalRequested):
            request = event.request
            call = request.tool_call
            target = _target(call.arguments)
            decision = Decision(record.time, caller_of(request), call.name, target)
            found[request.approval_id] = decision
        elif isinstance(event, ev.ToolApproved):
            if (decided := found.get(event.approval_id)) is not None:
                decided.decision = "allowed"
        elif isinstance(event, ev.ToolDenied):
            if (decided := found.get(event.approval_id)) is not None:
                decided.decision = f"denied: {event.reason}" if event.reason else "denied"
        elif isinstance(event, ev.ToolCallUncertain):
            call = event.call.tool_call
            words = f"{_target(call.arguments)} (the program ended while it ran)"
            decision = Decision(record.time, caller_of(event.call), call.name, words)
            found[f"uncertain {call.id}"] = by_call[call.id] = decision
        elif isinstance(event, ev.ToolCallSettled) and event.tool_call_id in by_call:
            by_call[event.tool_call_id].decision = event.choice.value
    yield from found.values()


def _target(arguments: dict[str, object]) -> str:
    for key in ("path", "file_path", "command", "url", "pattern"):
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return _short(value)
    return _short(json.dumps(arguments, ensure_ascii=False, default=str))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"

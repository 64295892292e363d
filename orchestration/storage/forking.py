"""A new run that shares the past of a stored one, written as if it had been its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from engine.graph.workflow import Workflow
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    RetryAsked,
    ToolsFinished,
)
from engine.vocabulary.tools import ToolResult
from orchestration.errors import UserError
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.journal import SeenFile
from orchestration.runs.stored import ForkChanges
from orchestration.storage.bodies import encode, packed
from orchestration.storage.event_log import EVENTS_A_ROW
from orchestration.storage.facts import (
    INTENT,
    RESULT,
    SEEN,
    CallEnd,
    OpenCall,
    RunOpening,
    SeenBefore,
)
from orchestration.storage.run_rows import insert_run
from orchestration.storage.schema import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Past(Struct, frozen=True):
    """What a fork has of its parent.

    Attributes:
        inputs: what was fed to the engine.
        ends: of calls that were at work at the fork and whose end is known.
        open_calls: those whose end is not.
        seen: which versions of files the conversations knew.
        records: what had been told.
    """

    inputs: tuple[EngineInput, ...]
    ends: Mapping[str, CallEnd]
    open_calls: tuple[OpenCall, ...]
    seen: tuple[SeenFile, ...]
    records: tuple[EventRecord, ...]


class TurnPlace(NamedTuple):
    """Where among the inputs a model's reply to a node is."""

    node_id: str
    place: int


def turns_of(inputs: Sequence[EngineInput]) -> list[TurnPlace]:
    """The turns of a run in order: each reply of a model to one of its nodes is one.

    What subagents were told is no input of the run, so it is in no turn of it.
    """
    return [
        TurnPlace(given.node_id, place)
        for place, given in enumerate(inputs)
        if isinstance(given, ModelReplied)
    ]


def place_of_turn(inputs: Sequence[EngineInput], node_id: str, turn: int) -> int:
    """How many inputs come before the reply of a node's turn, from 1.

    Raises:
        UserError: the node had no such turn.
    """
    if turn < 1:
        raise UserError(f"turns are counted from 1, so there is no turn {turn}")
    places = [each.place for each in turns_of(inputs) if each.node_id == node_id]
    if turn <= len(places):
        return places[turn - 1]
    if places and turn == len(places) + 1:
        return len(inputs)
    had = f"it had {len(places)}" if places else "it had none"
    raise UserError(f"node '{node_id}' has no turn {turn} in this run: {had}")


def changed_inputs(
    inputs: Sequence[EngineInput], node_id: str, changes: ForkChanges
) -> tuple[tuple[EngineInput, ...], int]:
    """The inputs with another answer and other results, and the place of the first change.

    Raises:
        UserError: there is nothing that could be changed so.
    """
    changed = list(inputs)
    first = len(changed)
    if changes.answer is not None:
        place = _last_words(changed, node_id)
        if place is None:
            raise UserError(f"nobody had said anything to node '{node_id}' before the fork")
        given = changed[place]
        field = "message" if isinstance(given, RetryAsked) else "text"
        changed[place] = msgspec.structs.replace(given, **{field: changes.answer})
        first = place
    left = dict(changes.tool_results)
    for place, given in enumerate(changed):
        if not left or not isinstance(given, ToolsFinished):
            continue
        results = tuple([_with_content(result, left) for result in given.results])
        if results != given.results:
            changed[place] = msgspec.structs.replace(given, results=results)
            first = min(first, place)
    if left:
        missing = ", ".join(sorted(left))
        raise UserError(f"no call had given a result before the fork: {missing}")
    return tuple(changed), first


def changed_workflow(workflow: Workflow, node_id: str, changes: ForkChanges) -> Workflow:
    """The workflow with what is other about one node.

    Raises:
        UserError: there is no such node.
    """
    wanted = {
        "system_prompt": changes.system_prompt,
        "task_prompt": changes.task_prompt,
        "model": changes.model,
        "provider_id": changes.provider,
    }
    update = {name: value for name, value in wanted.items() if value is not None}
    nodes = []
    found = False
    for node in workflow.nodes:
        if node.id == node_id and node.agent is not None:
            found = True
            node = node.model_copy(update={"agent": node.agent.model_copy(update=update)})
        nodes.append(node)
    if not found:
        known = ", ".join(node.id for node in workflow.nodes)
        raise UserError(f"there is no node '{node_id}' in this run; its nodes are {known}")
    return workflow.model_copy(update={"nodes": tuple(nodes)})


def insert_fork(connection: Connection, opening: RunOpening, past: Past) -> None:
    """Store a run that begins with a past.

    Raises:
        RunAlreadyStored: its id is taken.
    """
    import sqlalchemy as sa

    known = tables()
    number = insert_run(connection, opening)
    turns = [
        {"run": number, "seq": seq, "body": packed(encode(given))}
        for seq, given in enumerate(past.inputs, start=1)
    ]
    facts: list[tuple[str, str, bytes]] = [
        (call_id, RESULT, encode(end)) for call_id, end in past.ends.items()
    ]
    if past.seen:
        facts.insert(0, ("", SEEN, encode(SeenBefore(past.seen))))
    facts += [(call.call.call.id, INTENT, encode(call)) for call in past.open_calls]
    calls = [
        {"run": number, "seq": seq, "call_id": call_id, "fact": fact, "body": packed(body)}
        for seq, (call_id, fact, body) in enumerate(facts, start=len(turns) + 1)
    ]
    events = []
    for first in range(0, len(past.records), EVENTS_A_ROW):
        part = past.records[first : first + EVENTS_A_ROW]
        events.append(
            {
                "run": number,
                "first_seq": part[0].seq,
                "last_seq": part[-1].seq,
                "segment": 0,
                "body": packed(encode(part)),
            }
        )
    for table, rows in ((known.turns, turns), (known.calls, calls), (known.events, events)):
        if rows:
            connection.execute(sa.insert(table), rows)


def _last_words(inputs: Sequence[EngineInput], node_id: str) -> int | None:
    for place in range(len(inputs) - 1, -1, -1):
        given = inputs[place]
        if isinstance(given, HumanAnswered | MessageQueued | RetryAsked):
            has_text = not isinstance(given, RetryAsked) or given.message is not None
            if given.node_id == node_id and has_text:
                return place
    return None


def _with_content(result: ToolResult, contents: dict[str, str]) -> ToolResult:
    content = contents.pop(result.call_id, None)
    if content is None:
        return result
    return msgspec.structs.replace(result, content=content, is_error=False)

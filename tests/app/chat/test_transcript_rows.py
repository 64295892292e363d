"""Rows depend on what happened, not on how much of it was told at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.chat.message_parts import HARD, parts_of
from app.chat.rows import Row
from app.chat.transcript_feed import TranscriptFeed
from app.chat.transcript_model import TranscriptModel
from engine.vocabulary import events as ev
from engine.vocabulary.tools import EditBatch, FileSnapshot, ToolCall
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from tests.support.view_events import LABELS, approval, question, started

TOOLS = ("read", "bash", "edit")
PIECES = ("word ", "\n\n", "```python\n", "x = 1\n", "```\n", "| a | b |\n", "long " * 900, "- i\n")

nodes = st.sampled_from(("a", "b"))
calls = st.integers(1, 4)


def _tool(node: str, number: int, step: str) -> ev.RunEvent:
    name, call_id = TOOLS[number % 3], f"{node}{number}"
    call = ToolCall(call_id, name, {"path": "x.py"})
    match step:
        case "propose":
            return ev.ToolCallProposed(node, LABELS[node], call)
        case "start":
            return ev.ToolStarted(node, call_id, name, call.arguments)
        case "update":
            return ev.ToolUpdated(node, call_id, name, "half")
        case "record":
            batch = EditBatch(call_id, node, call_id, name, 1, (FileSnapshot("x.py", True),))
            return ev.EditBatchRecorded(node, batch)
        case _:
            return ev.ToolCompleted(node, call_id, name, " 1|x\n+2|y")


steps = st.sampled_from(("propose", "start", "update", "record", "complete"))
happenings = st.one_of(
    st.builds(ev.ChatMessage, nodes, st.sampled_from(("user", "assistant")), st.just("Hello")),
    st.builds(
        ev.ChatMessageDelta,
        nodes,
        st.sampled_from(("m1", "m2")),
        st.just("assistant"),
        st.sampled_from(PIECES),
        st.booleans(),
    ),
    st.builds(_tool, nodes, calls, steps),
    st.builds(approval, nodes, calls),
    st.builds(question, nodes),
    st.builds(lambda node: ev.NodeCompleted(node, LABELS[node], {"n": 1}), nodes),
    st.builds(lambda node: ev.NodeErrored(node, LABELS[node], "broke"), nodes),
)


def rows_of(events: Sequence[ev.RunEvent], sizes: Sequence[int]) -> list[tuple[Any, ...]]:
    """What is shown at the end if so many events at a time are told."""
    view = RunView("run", "flow", LABELS)
    model = TranscriptModel()
    feed = TranscriptFeed(model, view)
    at, turn = 0, 0
    while at < len(events):
        size = sizes[turn % len(sizes)]
        turn += 1
        records = [
            EventRecord(number, 100.0 + number, event)
            for number, event in enumerate(events[at : at + size], at)
        ]
        for record in records:
            view.apply(record)

        feed.apply(records)
        model.flush()
        at += size
    told = [_told(shown.row, shown.has_header) for shown in model.shown]
    # What was put in and taken out bit by bit reads like what is shown anew as a whole.
    model.set_filter("nobody")
    model.set_filter("")
    assert told == [_told(shown.row, shown.has_header) for shown in model.shown]
    return told


def _told(row: Row, has_header: bool) -> tuple[Any, ...]:
    tool = row.tool
    stack = [each.tool.call_id for each in row.stack or () if each.tool is not None]
    return (
        row.kind,
        row.actor_id,
        row.opening,
        row.text,
        row.closing,
        row.is_open,
        row.verdict,
        row.batch_id,
        has_header,
        stack,
        (tool.call_id, tool.status, tool.output) if tool is not None else None,
    )


def with_own_names(events: Sequence[ev.RunEvent]) -> list[ev.RunEvent]:
    """The same, where every message, question and request has a name that no other has."""
    ended: dict[str, int] = {}
    renamed: list[ev.RunEvent] = []
    for at, event in enumerate(events):
        if isinstance(event, ev.NodeAwaitingInput):
            event = replace(event, pause_id=f"q{at}")
        if isinstance(event, ev.ToolApprovalRequested):
            call = replace(event.request.tool_call, id=f"c{at}")
            request = replace(event.request, approval_id=f"p{at}", tool_call=call)
            event = replace(event, request=request)
        if isinstance(event, ev.ChatMessageDelta):
            name = event.node_id + event.message_id
            number = ended.get(name, 0)
            ended[name] = number + event.finalize
            event = replace(event, message_id=f"{name}-{number}")
        renamed.append(event)
    return renamed


@settings(max_examples=120, deadline=None)
@given(st.lists(happenings, max_size=40), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_any_portions_give_the_same_rows(events: list[ev.RunEvent], sizes: list[int]) -> None:
    events = with_own_names([*started("a"), *started("b"), *events])
    assert rows_of(events, sizes) == rows_of(events, [len(events)])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(1, 700))
def test_a_message_that_grows_is_cut_where_a_whole_one_is(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    model = TranscriptModel()
    row = first = model.add("assistant", "a", "Alpha", 0.0)
    row.is_open = True
    for start in range(0, len(text), size):
        row = model.extend(row, text[start : start + size])
    grown = [(part.text, part.opening, part.closing) for part in first.parts]
    assert grown == [tuple(part) for part in parts_of(text)]
    assert first.whole_text == text
    assert all(len(part.text) <= HARD for part in first.parts)
    model.settle(row, text)
    assert [part.text for part in first.parts] == [part.text for part in parts_of(text)]
    assert [shown.row for shown in model.shown] == first.parts


def test_a_cut_inside_code_or_a_table_leaves_readable_parts() -> None:
    code = parts_of("```python\n" + "value = 1\n" * 1500 + "```\n")
    assert len(code) > 2
    assert all(part.closing == "```" for part in code[:-1])
    assert all(part.opening == "```python\n" for part in code[1:])
    table = parts_of("| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 200)
    assert len(table) > 2
    assert all(part.opening == "| a | b |\n|---|---|\n" for part in table[1:])


def test_calls_in_a_row_become_a_stack_and_changes_stand_apart() -> None:
    events = [*started("a")]
    for number in (1, 3, 6):
        events += [_tool("a", number, "start"), _tool("a", number, "complete")]
    events += [_tool("a", 2, "start"), _tool("a", 2, "record"), _tool("a", 2, "complete")]
    shown = rows_of(events, [3])
    assert [row[9] for row in shown] == [["a1", "a3", "a6"], []]
    assert shown[1][7] == "a2"

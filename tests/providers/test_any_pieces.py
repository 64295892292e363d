"""Replies mean the same in whatever pieces they come, and nothing where they do not come whole."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.run.completion_protocol import interpret
from engine.vocabulary.errors import ModelCallError
from engine.vocabulary.messages import Completed, ModelTurn, ToolCallsTurn, TurnOutcome
from engine.vocabulary.tools import SUBMIT_TOOL, ToolDefinition, ToolTier
from providers.chat_events import ChatReader
from providers.factory import ProviderPool
from providers.messages_events import MessagesReader
from providers.responses_events import ResponsesReader
from providers.specs import Wire
from providers.stream_parts import TurnBuilder
from tests.support.loopback import Answer, Cut, LoopbackServer, sse, sse_event
from tests.support.wire_pieces import NAMES, Reply, in_pieces, replies
from tests.support.wire_runs import MODEL, config_for
from tests.support.wire_scripts import SCRIPTS, Event
from tests.support.wire_suite import node_request

OPEN = {"type": "object"}
TOOLS = (
    ToolDefinition("read", "Read.", OPEN, ToolTier.READ),
    ToolDefinition("write", "Write.", OPEN, ToolTier.WRITE),
)
READERS: dict[Wire, Any] = {
    Wire.CHAT: ChatReader,
    Wire.RESPONSES: ResponsesReader,
    Wire.MESSAGES: MessagesReader,
}
WIRES = st.sampled_from(list(Wire))
REQUEST = node_request(MODEL, available_tools=TOOLS, output_schema=OPEN)


def read(wire: Wire, events: list[Event]) -> tuple[ModelTurn, bool]:
    """The turn, and whether the wire has said that it is over."""
    builder = TurnBuilder("p")
    reader = READERS[wire](builder)
    for event in events:
        # As it would come off the wire.
        reader.feed(json.loads(json.dumps(event)))
    reader.close()
    return builder.turn(NAMES, TOOLS), builder.has_ended


def whole_answer(wire: Wire, events: list[Event]) -> bytes:
    return b"".join(map(sse_event, events)) + (b"data: [DONE]\n\n" if wire is Wire.CHAT else b"")


async def invoke_all(wire: Wire, answers: list[Answer]) -> list[ModelTurn | ModelCallError]:
    """What one port makes of each of the answers."""
    with LoopbackServer(*answers) as server:
        pool = ProviderPool()
        port = pool.port(config_for(SCRIPTS[wire], server.url))
        found: list[ModelTurn | ModelCallError] = []
        for _ in answers:
            try:
                found.append(await port.invoke(REQUEST))
            except ModelCallError as error:
                found.append(error)
        await pool.aclose()
    return found


def acted_on(turn: ModelTurn) -> TurnOutcome | None:
    """The calls or the output that a turn leads to, `None` where nothing comes of it."""
    try:
        outcome = interpret(turn, REQUEST)
    except ModelCallError:
        return None
    if isinstance(outcome, ToolCallsTurn):
        readable = [call for call in outcome.calls if call.arguments_error is None]
        return outcome if readable else None
    return outcome if isinstance(outcome, Completed) else None


@settings(deadline=None)
@given(WIRES, replies(), st.data())
def test_any_pieces_of_a_reply_make_the_same_turn(
    wire: Wire, reply: Reply, data: st.DataObject
) -> None:
    events = reply.events(wire)
    whole, _ = read(wire, events)
    assert [(c.provider_call_id, c.name, json.dumps(c.arguments)) for c in whole.calls] == [
        (call_id, name, json.dumps(json.loads(arguments)))
        for call_id, name, arguments in reply.calls
    ]
    assert read(wire, in_pieces(events, data.draw)) == (whole, True)


@settings(deadline=None)
@given(replies(least_calls=2), st.data())
def test_calls_whose_pieces_come_in_turns_are_kept_apart(reply: Reply, data: st.DataObject) -> None:
    events = in_pieces(reply.events(Wire.CHAT), data.draw)
    whole, _ = read(Wire.CHAT, events)
    lanes: dict[int, list[Event]] = {}
    others: list[Event] = []
    for event in events:
        choice: Event = next(iter(event["choices"]), {"delta": {}})
        calls = choice["delta"].get("tool_calls", ())
        (lanes.setdefault(calls[0]["index"], []) if calls else others).append(event)
    mixed: list[Event] = []
    begun: list[int] = []
    while any(lanes.values()):
        # A call begins in its order, and goes on whenever it likes.
        waiting = [index for index in lanes if index not in begun][:1]
        index = data.draw(st.sampled_from([i for i in (*begun, *waiting) if lanes[i]]))
        begun += [index] if index not in begun else []
        mixed.append(lanes[index].pop(0))
    end = next(i for i, e in enumerate(others) if e["choices"] and e["choices"][0]["finish_reason"])
    assert read(Wire.CHAT, [*others[:end], *mixed, *others[end:]])[0] == whole


@settings(deadline=None)
@given(WIRES, replies(least_calls=1), st.data())
def test_arguments_that_end_anywhere_before_their_end_run_nothing(
    wire: Wire, reply: Reply, data: st.DataObject
) -> None:
    call_id, name, arguments = reply.calls[-1]
    cut = arguments[: data.draw(st.integers(1, len(arguments) - 1))]
    calls = (*reply.calls[:-1], (call_id, name, cut))
    events = Reply(reply.text, reply.thoughts, calls).events(wire)
    turn, has_ended = read(wire, in_pieces(events, data.draw))
    assert has_ended
    assert turn.truncated
    assert acted_on(turn) is None


@settings(deadline=None)
@given(WIRES, replies(least_calls=1), st.data())
def test_a_stream_without_its_end_never_counts_as_ended(
    wire: Wire, reply: Reply, data: st.DataObject
) -> None:
    script = SCRIPTS[wire]
    events = in_pieces(reply.events(wire), data.draw)
    last = next(at for at, event in enumerate(events) if script.is_end(event))
    _, has_ended = read(wire, events[: data.draw(st.integers(0, last))])
    assert not has_ended


@pytest.mark.parametrize("wire", list(Wire))
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(replies(), st.data())
def test_any_packets_of_a_stream_make_the_same_turn(
    wire: Wire, reply: Reply, data: st.DataObject
) -> None:
    events = reply.events(wire)
    stream = whole_answer(wire, events)
    answers = [sse(*events, done=wire is Wire.CHAT)]
    for _ in range(4):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
        spans = zip([0, *cuts], [*cuts, len(stream)], strict=True)
        packets = tuple(stream[start:end] for start, end in spans if start < end)
        answers.append(Answer(packets, headers={"content-type": "text/event-stream"}))
    found = asyncio.run(invoke_all(wire, answers))
    first = found[0]
    if isinstance(first, ModelCallError):
        assert all(str(other) == str(first) for other in found)
    else:
        assert found == [first] * len(found)


@pytest.mark.parametrize("wire", list(Wire))
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(replies(least_calls=1), st.data())
def test_a_stream_that_breaks_off_anywhere_runs_nothing(
    wire: Wire, reply: Reply, data: st.DataObject
) -> None:
    script = SCRIPTS[wire]
    events = reply.events(wire)
    last = next(at for at, event in enumerate(events) if script.is_end(event))
    stream = b"".join(map(sse_event, events[:last]))
    ends = data.draw(st.lists(st.integers(0, len(stream)), min_size=4, max_size=4))
    headers = {"content-type": "text/event-stream"}
    answers = [
        Answer((stream[:end], *data.draw(st.sampled_from([(), (Cut(),)]))), headers=headers)
        for end in ends
    ]
    for result in asyncio.run(invoke_all(wire, answers)):
        assert isinstance(result, ModelCallError)


def test_the_submit_tool_is_among_what_is_tried() -> None:
    assert SUBMIT_TOOL in NAMES

"""Responses streams as servers really send them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.messages import ModelTurn, Usage
from engine.vocabulary.tools import HARNESS_TOOLS
from providers.errors import ServiceError
from providers.responses_events import ResponsesReader
from providers.stream_parts import TurnBuilder
from tests.support.wire_suite import RecordingSink

Event = dict[str, Any]
DONE: Event = {"type": "response.completed", "response": {"status": "completed"}}


def read(*events: Event, sink: RecordingSink | None = None) -> ModelTurn:
    builder = TurnBuilder("p", sink)
    reader = ResponsesReader(builder)
    for event in events:
        reader.feed(event)
    reader.close()
    assert builder.has_ended
    return builder.turn(HARNESS_TOOLS | {"read"}, ())


def function_call(arguments: str = "", **where: Any) -> Event:
    return {
        "type": "function_call",
        "name": "read",
        "call_id": "c1",
        "arguments": arguments,
        **where,
    }


def test_pieces_are_found_by_their_item_where_indices_are_missing() -> None:
    turn = read(
        {"type": "response.created", "response": {}},
        {"type": "response.created", "response": {}},
        {"type": "response.output_item.added", "item": function_call(id="f1")},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": '{"path":'},
        {"type": "response.output_item.added", "item": function_call(id="f2", call_id="c2")},
        {"type": "response.function_call_arguments.delta", "item_id": "f2", "delta": "{}"},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "delta": '"a"}'},
        {"type": "response.output_item.done", "item": function_call('{"path":"a"}', id="f1")},
        DONE,
    )
    assert [(c.provider_call_id, c.arguments) for c in turn.calls] == [
        ("c1", {"path": "a"}),
        ("c2", {}),
    ]


def test_pieces_are_found_by_their_place_where_items_have_no_id() -> None:
    turn = read(
        {"type": "response.output_item.added", "output_index": 0, "item": function_call(id="f1")},
        {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": function_call(call_id="c2"),
        },
        {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{}"},
        DONE,
    )
    assert [(c.provider_call_id, c.arguments) for c in turn.calls] == [("c1", {}), ("c2", {})]


def test_a_call_that_comes_whole_at_its_end_is_read() -> None:
    done = {"type": "response.output_item.done", "item": function_call('{"path":"a"}', id="f1")}
    turn = read(done, DONE)
    assert [(c.name, c.arguments) for c in turn.calls] == [("read", {"path": "a"})]


def test_a_text_that_comes_whole_is_said_once() -> None:
    message = {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "Hi."}]}
    done = {"type": "response.output_item.done", "item": message}
    spoken = {"type": "response.output_text.delta", "item_id": "m1", "delta": "Hi."}
    assert read(done, DONE).text == "Hi."
    assert read(spoken, done, DONE).text == "Hi."
    whole = {**DONE, "response": {"status": "completed", "output": [message]}}
    assert read(whole).text == "Hi."
    assert read(spoken, whole).text == "Hi."


def test_a_whole_response_is_read_like_a_stream() -> None:
    builder = TurnBuilder("p")
    ResponsesReader(builder).feed_whole(
        {"status": "completed", "output": [function_call("{}"), function_call("{}", call_id="c2")]}
    )
    turn = builder.turn({"read"}, ())
    assert [c.provider_call_id for c in turn.calls] == ["c1", "c2"]


def test_a_refusal_is_text() -> None:
    refusal = {"type": "response.refusal.delta", "item_id": "m1", "delta": "No."}
    assert read(refusal, DONE).text == "No."


def test_summaries_are_shown_once_and_sealed_reasoning_is_kept() -> None:
    sink = RecordingSink()
    at = {"item_id": "r1", "summary_index": 0}
    sealed = {
        "type": "reasoning",
        "id": "r1",
        "summary": [
            {"type": "summary_text", "text": "Hm."},
            {"type": "summary_text", "text": "So."},
        ],
        "encrypted_content": "sealed",
    }
    turn = read(
        {"type": "response.reasoning_summary_text.delta", **at, "delta": "Hm."},
        {"type": "response.output_item.done", "item": sealed},
        {"type": "response.output_text.delta", "item_id": "m1", "delta": "Yes."},
        DONE,
        sink=sink,
    )
    assert sink.thoughts == ["Hm.", "So."]
    assert [(part.kind, part.text, part.data) for part in turn.reasoning] == [
        ("summary", "Hm.", None),
        ("summary", "So.", None),
        ("opaque", "", sealed),
    ]


def test_reasoning_that_is_not_sealed_does_not_go_back() -> None:
    item = {"type": "reasoning", "id": "r1", "summary": []}
    shown = {"type": "response.reasoning_text.delta", "item_id": "r1", "delta": "Hm."}
    turn = read(shown, {"type": "response.output_item.done", "item": item}, DONE)
    assert [part.kind for part in turn.reasoning] == ["text"]


def test_an_incomplete_response_says_why() -> None:
    for reason, truncated in (("max_output_tokens", True), ("content_filter", False)):
        response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
        turn = read(
            {"type": "response.output_text.delta", "item_id": "m", "delta": "Hi"},
            {"type": "response.incomplete", "response": response},
        )
        assert turn.truncated is truncated


def test_usage_is_that_of_the_last_event() -> None:
    usage = {
        "input_tokens": 9,
        "output_tokens": 2,
        "total_tokens": 11,
        "input_tokens_details": None,
    }
    turn = read(
        {"type": "response.output_text.delta", "item_id": "m", "delta": "Hi"},
        {**DONE, "response": {"status": "completed", "usage": usage}},
    )
    assert turn.usage == Usage(9, 2, 11)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "boom"},
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error", "message": "boom"}},
        },
    ],
)
def test_a_failure_is_raised(event: Event) -> None:
    with pytest.raises(ServiceError, match="boom") as raised:
        read(event)
    assert raised.value.code == "server_error"


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "response.martian"},
        {"type": "response.output_item.added"},
        {"type": "response.output_item.done", "item": {"type": "web_search_call"}},
        {"type": "response.output_text.delta", "delta": None},
    ],
)
def test_odd_events_are_passed_over(event: Event) -> None:
    spoken = {"type": "response.output_text.delta", "item_id": "m", "delta": "Hi."}
    assert read(spoken, event, DONE).text == "Hi."

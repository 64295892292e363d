"""Messages streams as servers really send them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.messages import ModelTurn, Usage
from engine.vocabulary.tools import HARNESS_TOOLS
from providers.errors import ServiceError
from providers.messages_events import MessagesReader
from providers.stream_parts import TurnBuilder
from tests.support.wire_suite import RecordingSink

Event = dict[str, Any]


def start(block: Event, index: int = 0) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(kind: str, index: int = 0, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int = 0) -> Event:
    return {"type": "content_block_stop", "index": index}


def end(reason: str = "end_turn", **usage: int) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def read(*events: Event, sink: RecordingSink | None = None) -> ModelTurn:
    builder = TurnBuilder("p", sink)
    reader = MessagesReader(builder)
    for event in events:
        reader.feed(event)
    reader.close()
    assert builder.has_ended
    return builder.turn(HARNESS_TOOLS | {"read"}, ())


def test_a_call_without_an_input_field_is_read() -> None:
    turn = read(
        start({"type": "tool_use", "id": "t1", "name": "read"}),
        delta("input_json_delta", partial_json=""),
        delta("input_json_delta", partial_json='{"path":'),
        delta("input_json_delta", partial_json='"a"}'),
        stop(),
        end("tool_use"),
    )
    assert [(c.name, c.provider_call_id, c.arguments) for c in turn.calls] == [
        ("read", "t1", {"path": "a"})
    ]
    assert turn.finish_reason == "tool_calls"


@pytest.mark.parametrize("events", [[stop()], []], ids=["with a stop", "without one"])
def test_an_input_that_comes_whole_at_the_start_is_read(events: list[Event]) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
    assert read(start(block), *events, end("tool_use")).calls[0].arguments == {"path": "a"}


def test_an_input_that_comes_whole_and_in_pieces_is_read_once() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
    pieces = delta("input_json_delta", partial_json='{"path":"a"}')
    turn = read(start(block), pieces, stop(), end("tool_use"))
    assert [(c.arguments, c.repairs) for c in turn.calls] == [({"path": "a"}, ())]


def test_signed_thinking_is_shown_and_kept() -> None:
    sink = RecordingSink()
    turn = read(
        start({"type": "thinking", "thinking": ""}),
        delta("thinking_delta", thinking="Hm, "),
        delta("thinking_delta", thinking="so."),
        delta("signature_delta", signature="sig"),
        stop(),
        start({"type": "redacted_thinking", "data": "xyz"}, 1),
        stop(1),
        start({"type": "text", "text": ""}, 2),
        delta("text_delta", 2, text="Yes."),
        end(),
        sink=sink,
    )
    assert sink.thoughts == ["Hm, ", "so."]
    assert [(part.kind, part.text, part.data) for part in turn.reasoning] == [
        ("text", "Hm, so.", None),
        ("opaque", "", {"type": "thinking", "thinking": "Hm, so.", "signature": "sig"}),
        ("opaque", "", {"type": "redacted_thinking", "data": "xyz"}),
    ]


def test_unsigned_thinking_does_not_go_back() -> None:
    turn = read(
        start({"type": "thinking", "thinking": ""}),
        delta("thinking_delta", thinking="Hm."),
        stop(),
        start({"type": "text", "text": "Yes."}, 1),
        end(),
    )
    assert [part.kind for part in turn.reasoning] == ["text"]


def test_counts_of_both_reports_make_up_the_usage() -> None:
    first = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2}
    turn = read(
        {"type": "message_start", "message": {"usage": {**first, "output_tokens": 1}}},
        start({"type": "text", "text": "Hi."}),
        end(output_tokens=7, input_tokens=0),
    )
    assert turn.usage == Usage(17, 7, 24, 5, 2)


def test_a_report_without_a_prompt_leaves_it_unknown() -> None:
    assert read(start({"type": "text", "text": "Hi."}), end(output_tokens=7)).usage == Usage(
        None, 7
    )


@pytest.mark.parametrize(
    ("reason", "word", "truncated"),
    [
        ("end_turn", "stop", False),
        ("stop_sequence", "stop", False),
        ("max_tokens", "length", True),
        ("model_context_window_exceeded", "length", True),
        ("refusal", "content_filter", False),
        ("pause_turn", "pause_turn", False),
    ],
)
def test_every_reason_to_stop_is_understood(reason: str, word: str, truncated: bool) -> None:
    turn = read(start({"type": "text", "text": "Hi."}), end(reason))
    assert (turn.finish_reason, turn.truncated) == (word, truncated)


def test_a_whole_message_is_read_like_a_stream() -> None:
    builder = TurnBuilder("p")
    MessagesReader(builder).feed_whole(
        {
            "type": "message",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                {"type": "text", "text": "Look."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
                "nonsense",
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }
    )
    turn = builder.turn({"read"}, ())
    assert (turn.text, turn.calls[0].arguments, turn.usage) == (
        "Look.",
        {"path": "a"},
        Usage(3, 2, 5),
    )
    assert [part.kind for part in turn.reasoning] == ["text", "opaque"]


def test_an_error_is_raised() -> None:
    event = {"type": "error", "error": {"type": "overloaded_error", "message": "boom"}}
    with pytest.raises(ServiceError, match="boom") as raised:
        read(event)
    assert raised.value.code == "overloaded_error"
    with pytest.raises(ServiceError, match="boom"):
        MessagesReader(TurnBuilder("p")).feed_whole(event)


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "martian"},
        {"type": "message_start"},
        {"type": "content_block_start", "index": 4},
        {"type": "content_block_delta", "index": 4},
        delta("citations_delta", citation={}),
        {"type": "content_block_stop", "index": 9},
        {"type": "message_delta"},
    ],
)
def test_odd_events_are_passed_over(event: Event) -> None:
    assert read(start({"type": "text", "text": "Hi."}), event, end()).text == "Hi."

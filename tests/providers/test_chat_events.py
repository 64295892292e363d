"""Chat Completions streams as servers really send them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.messages import Usage
from providers.errors import ServiceError
from tests.support.chat_chunks import delta, piece, read
from tests.support.wire_suite import RecordingSink


def test_whole_calls_decide_and_not_the_finish_reason() -> None:
    turn = read(piece('{"path":"a"}', name="read", index=0, id="c1"), delta("stop"))
    assert [call.arguments for call in turn.calls] == [{"path": "a"}]
    assert turn.finish_reason == "tool_calls"


def test_a_call_cut_off_by_the_limit_keeps_its_name_only() -> None:
    turn = read(
        piece('{"command":"rm -rf build && cp -r src ', name="bash", index=0, id="c1"),
        delta("length"),
    )
    assert turn.truncated
    assert turn.finish_reason == "length"
    assert [(c.name, c.arguments) for c in turn.calls] == [("bash", None)]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MODEL_LENGTH"])
def test_every_word_for_the_limit_is_understood(reason: str) -> None:
    assert read(delta(content="a"), delta(reason)).truncated


def test_usage_counts_once_wherever_it_stands() -> None:
    zero, real = (
        {"prompt_tokens": 0, "completion_tokens": 0},
        {
            "prompt_tokens": 10,
            "completion_tokens": 2,
        },
    )
    turn = read(
        {**delta(content="a"), "usage": zero},
        {**delta(content="b"), "usage": real},
        {"choices": [{"delta": {}, "finish_reason": "stop", "usage": real}]},
    )
    assert turn.usage == Usage(10, 2)
    assert read({**delta("stop", content="a"), "usage": zero}).usage is None
    assert read(delta("stop", content="a")).usage is None
    groq = {**delta("stop", content="a"), "x_groq": {"usage": real}}
    assert read(groq).usage == Usage(10, 2)


def test_cached_tokens_are_found_under_both_names() -> None:
    details = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}
    assert read({**delta("stop", content="a"), "usage": details}).usage == Usage(9, None, None, 4)
    flat = {"prompt_tokens": 9, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 5}
    assert read({**delta("stop", content="a"), "usage": flat}).usage == Usage(9, None, None, 5)


def test_content_in_parts_is_text_and_reasoning() -> None:
    sink = RecordingSink()
    turn = read(
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]),
        delta(content=[{"type": "text", "text": "Yes."}]),
        delta("stop"),
        sink=sink,
    )
    assert turn.text == "Yes."
    assert sink.thoughts == ["Hm."]


def test_a_refusal_is_text() -> None:
    assert read(delta(refusal="I will not."), delta("stop")).text == "I will not."


def test_reasoning_that_is_sent_once_more_is_shown_once() -> None:
    sink = RecordingSink()
    thought = "First I look at the files, "
    turn = read(
        delta(reasoning=thought),
        delta(reasoning=thought + "then I decide."),
        delta("stop", content="a"),
        sink=sink,
    )
    assert "".join(sink.thoughts) == thought + "then I decide."
    assert turn.reasoning[0].text == thought + "then I decide."


def test_what_has_to_go_back_is_kept_apart_from_what_is_shown() -> None:
    details = [{"type": "reasoning.encrypted", "data": "sealed"}]
    google = {"google": {"thought_signature": "sig"}}
    turn = read(
        delta(reasoning="Hm.", reasoning_details=details),
        delta(
            tool_calls=[
                {
                    "index": 0,
                    "id": "c1",
                    "function": {"name": "read", "arguments": "{}"},
                    "extra_content": google,
                }
            ]
        ),
        delta("tool_calls"),
    )
    assert [part.data for part in turn.reasoning if part.kind == "opaque"] == [
        {"reasoning_details": details},
        {"call_extras": {"c1": google}},
    ]
    assert [part.text for part in turn.reasoning if part.kind == "text"] == ["Hm."]


def test_a_character_that_comes_in_halves_is_whole() -> None:
    sink = RecordingSink()
    turn = read(
        delta(content="a\ud83c"),
        delta(content="\udf0d."),
        piece('{"path":"\ud83c', name="read", index=0, id="c1"),
        piece('\udf0d"}', index=0),
        delta("tool_calls"),
        sink=sink,
    )
    assert turn.text == "a🌍."
    assert "".join(sink.texts) == "a🌍."
    assert turn.calls[0].arguments == {"path": "🌍"}


def test_half_a_character_in_arguments_is_an_error_and_not_replaced() -> None:
    turn = read(piece('{"path":"\ud83c"}', name="read", index=0, id="c1"), delta("tool_calls"))
    assert turn.calls[0].arguments is None
    assert turn.calls[0].arguments_error == "holds half of a character"


def test_a_whole_completion_is_read_like_a_stream() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Look.", "tool_calls": [call]}
    turn = read(
        {
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }
    )
    assert turn.text == "Look."
    assert [c.name for c in turn.calls] == ["read"]
    assert turn.usage == Usage(3, 2)


def test_a_whole_message_at_the_end_of_a_stream_is_not_said_twice() -> None:
    end = {"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}
    assert read(delta(content="Hi."), end).text == "Hi."


def test_other_choices_are_passed_over() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "No."}, "finish_reason": None}]}
    assert read(delta(content="Yes."), other, delta("stop")).text == "Yes."


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": None},
        {"choices": ["x"]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 3, "tool_calls": {"no": 1}}}]},
        {"choices": [{"delta": {"tool_calls": [None, "x"]}}], "usage": "much"},
        {"choices": [{"index": 0, "delta": {}}], "x_groq": 1, "usage": {"prompt_tokens": "3"}},
    ],
)
def test_odd_chunks_are_passed_over(chunk: dict[str, Any]) -> None:
    turn = read(delta(content="Hi."), chunk, delta("stop"))
    assert (turn.text, turn.calls, turn.usage) == ("Hi.", (), None)


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "boom", "code": 502}},
        {"choices": [{"delta": {}, "error": {"message": "boom", "code": 502}}]},
    ],
)
def test_an_error_in_a_chunk_is_raised(chunk: dict[str, Any]) -> None:
    with pytest.raises(ServiceError, match="boom") as raised:
        read(chunk)
    assert raised.value.code == "502"

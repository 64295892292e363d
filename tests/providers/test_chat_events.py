"""Chat Completions streams as servers really send them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.messages import ModelTurn, Usage
from engine.vocabulary.tools import HARNESS_TOOLS, ToolDefinition
from providers.chat_events import ChatReader
from providers.errors import ServiceError
from providers.stream_parts import TurnBuilder
from tests.support.wire_suite import RecordingSink

OFFERED = HARNESS_TOOLS | {"read", "link", "bash", "get_weather", "list_todos"}
READ = ToolDefinition("read", "Read.", {"type": "object", "properties": {"path": {}}})


def delta(reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


def piece(arguments: Any = None, *, name: str | None = None, **where: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    given = {key: value for key, value in function.items() if value is not None}
    return delta(tool_calls=[{**where, "function": given}])


def read(*chunks: dict[str, Any], sink: RecordingSink | None = None) -> ModelTurn:
    builder = TurnBuilder("p", sink)
    reader = ChatReader(builder)
    for chunk in chunks:
        reader.feed(chunk)
    reader.close()
    return builder.turn(OFFERED, (READ,))


def called(*chunks: dict[str, Any]) -> list[tuple[str, Any]]:
    turn = read(*chunks, delta("tool_calls"))
    return [(call.name, call.arguments) for call in turn.calls]


def test_two_objects_in_one_slot_are_two_calls() -> None:
    turn = read(
        piece('{"a":"X"}', name="link", index=0, id="c1"),
        piece('{"a":"Y"}', index=0),
        delta("tool_calls"),
    )
    assert [(c.name, c.arguments) for c in turn.calls] == [
        ("link", {"a": "X"}),
        ("link", {"a": "Y"}),
    ]
    assert [c.provider_call_id for c in turn.calls] == ["c1", None]
    assert all(c.repairs == ("split_objects",) for c in turn.calls)


def test_half_an_object_at_the_end_of_a_slot_spoils_it() -> None:
    turn = read(
        piece('{"a":"X"}', name="link", index=0, id="c1"),
        piece('{"a":"Y', index=0),
        delta("tool_calls"),
    )
    assert [call.arguments for call in turn.calls] == [None]


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    assert called(
        piece('{"path":"a"}', name="read", id="c1"),
        piece('{"path":', name="read", id="c2"),
        piece('"b"}'),
    ) == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_an_index_that_starts_at_one_leaves_no_empty_call() -> None:
    assert called(piece('{"pa', name="read", index=1, id="c1"), piece('th":"a"}', index=1)) == [
        ("read", {"path": "a"})
    ]


def test_one_index_for_all_calls_is_no_index() -> None:
    assert called(
        piece("", name="read", index=0, id="c1"),
        piece('{"path":"a"}', index=0),
        piece("", name="read", index=0, id="c2"),
        piece('{"path":"b"}', index=0),
        piece("", name="list_todos", index=0, id="c3"),
    ) == [("read", {"path": "a"}), ("read", {"path": "b"}), ("list_todos", {})]


def test_whole_calls_without_ids_under_one_index_stay_apart() -> None:
    assert called(
        piece('{"path":"a"}', name="read", index=0, id=""),
        piece('{"path":"b"}', name="read", index=0, id=""),
    ) == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_interleaved_calls_are_kept_apart() -> None:
    assert called(
        piece('{"pa', name="read", index=0, id="c1"),
        piece('{"pa', name="read", index=1, id="c2"),
        piece('th":"a"}', index=0),
        piece('th":"b"}', index=1),
    ) == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_an_id_that_comes_late_belongs_to_the_call() -> None:
    turn = read(
        piece('{"pa', name="read", index=0),
        piece('th":"a"}', index=0, id="c1"),
        delta("tool_calls"),
    )
    assert [(c.arguments, c.provider_call_id) for c in turn.calls] == [({"path": "a"}, "c1")]


@pytest.mark.parametrize(
    ("pieces", "name"),
    [
        (("read", "read"), "read"),
        (("get_", "weather"), "get_weather"),
        (("get_", "get_weather"), "get_weather"),
        (("unheard", "unheard", "unheard"), "unheard"),
        (("un", "heard_of"), "unheard_of"),
    ],
)
def test_a_name_in_pieces_is_joined_and_a_repeated_one_is_not(
    pieces: tuple[str, ...], name: str
) -> None:
    chunks = [piece("", name=part, index=0, id="c1") for part in pieces]
    assert called(*chunks) == [(name, {})]


def test_a_call_without_a_name_is_still_a_call() -> None:
    assert called(piece("{}", index=0, id="c1")) == [("unnamed_tool", {})]


def test_arguments_may_come_as_an_object() -> None:
    assert called(piece({"path": "a"}, name="read", index=0, id="c1")) == [("read", {"path": "a"})]


def test_arguments_that_come_once_more_at_the_end_are_one_call() -> None:
    turn = read(
        piece('{"path":', name="read", index=0, id="c1"),
        piece('"a"}', index=0),
        piece('{"path":"a"}', index=0),
        delta("tool_calls"),
    )
    assert [c.arguments for c in turn.calls] == [{"path": "a"}]
    assert turn.calls[0].repairs == ("repeated_object",)


def test_the_old_form_of_a_call_is_read() -> None:
    assert called(
        delta(function_call={"name": "read", "arguments": '{"path":'}),
        delta(function_call={"arguments": '"a"}'}),
    ) == [("read", {"path": "a"})]


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


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>',
        "<function=read>\n<parameter=path>a</parameter>\n</function>",
        '{"name":"read","arguments":{"path":"a"}}',
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function></tool_call>",
    ],
)
def test_a_message_that_is_a_printed_call_is_that_call(text: str) -> None:
    turn = read(delta(content=text), delta("stop"))
    assert [(c.name, c.arguments, c.repairs) for c in turn.calls] == [
        ("read", {"path": "a"}, ("printed_call",))
    ]
    assert turn.text == ""
    assert turn.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "text",
    [
        'Docs example: `<tool_call>{"name":"read"}</tool_call>` is how Qwen writes it.',
        '<tool_call>{"name":"read","arguments":{}}</tool_call> is how it is done.',
        '<tool_call>{"name":"unknown","arguments":{}}</tool_call>',
        '<tool_call>{"name":"read","arguments":{"path":',
        '{"name":"openflow_submit_node_output","arguments":{"output":{}}}',
        '{"name":"read","arguments":{},"comment":"x"}',
        '{"name":["read"],"arguments":{}}',
        "<function=read><parameter=path>a</parameter> and more</function>",
        "<function=delete></function>",
        "{}",
    ],
)
def test_any_other_text_stays_text(text: str) -> None:
    turn = read(delta(content=text), delta("stop"))
    assert turn.calls == ()
    assert turn.text == text


def test_a_printed_value_takes_the_type_of_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "zip": {"type": "string"},
            "x": {"type": "number"},
        },
    }
    tool = ToolDefinition("read", "Read.", schema)
    builder = TurnBuilder("p")
    builder.text(
        "<function=read><parameter=n>5</parameter><parameter=zip>02139</parameter>"
        "<parameter=x>many</parameter></function>"
    )
    builder.end("stop")
    turn = builder.turn(OFFERED, (tool,))
    assert turn.calls[0].arguments == {"n": 5, "zip": "02139", "x": "many"}

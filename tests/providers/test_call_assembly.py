"""The calls of a Chat Completions reply, in whatever pieces servers send them."""

from __future__ import annotations

import pytest

from engine.vocabulary.tools import ToolDefinition, ToolTier
from providers.chat_events import ChatReader
from providers.stream_parts import TurnBuilder
from tests.support.chat_chunks import OFFERED, READ, called, delta, piece, read


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


def test_decoded_arguments_after_an_empty_start_are_the_call() -> None:
    assert called(
        piece({}, name="read", index=0, id="c1"),
        piece('{"path":', index=0),
        piece('"a"}', index=0),
    ) == [("read", {"path": "a"})]


def test_two_decoded_objects_in_one_slot_are_two_calls() -> None:
    assert called(
        piece({"path": "a"}, name="read", index=0, id="c1"), piece({"path": "b"}, index=0)
    ) == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_a_new_id_for_every_piece_is_still_one_call() -> None:
    assert called(
        piece('{"pa', name="read", index=0, id="x1"),
        piece('th":', index=0, id="x2"),
        piece('"a"}', name="read", index=0, id="x3"),
    ) == [("read", {"path": "a"})]


def test_an_id_without_an_index_begins_a_call_whose_name_comes_late() -> None:
    assert called(
        piece('{"path":"a"}', name="read", id="c1"),
        piece('{"path":', id="c2"),
        piece('"b"}', name="read", id="c2"),
    ) == [("read", {"path": "a"}), ("read", {"path": "b"})]


def test_calls_that_come_only_with_the_whole_message_are_taken() -> None:
    call = {"id": "c1", "function": {"name": "read", "arguments": "{}"}}
    message = {"content": "Look.", "tool_calls": [call]}
    end = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    turn = read(delta(content="Look."), end)
    assert turn.text == "Look."
    assert [c.name for c in turn.calls] == ["read"]


def test_a_choice_may_be_counted_from_one() -> None:
    chunk = {"choices": [{"index": 1, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}
    assert read(chunk).text == "Yes."


def test_a_later_word_does_not_take_back_that_the_limit_was_hit() -> None:
    assert read(delta("length", content="a"), delta("stop")).truncated


def test_a_name_that_can_be_read_in_two_ways_names_nothing() -> None:
    builder = TurnBuilder("p")
    reader = ChatReader(builder)
    for chunk in (piece("", name="a", index=0, id="c1"), piece("", name="a", index=0, id="c1")):
        reader.feed(chunk)
    reader.feed(delta("tool_calls"))
    assert [c.name for c in builder.turn({"a", "aa"}, ()).calls] == ["unnamed_tool"]


def test_how_far_arguments_may_be_from_json_depends_on_what_the_call_does() -> None:
    nearly = "{path: 'a'}"
    write = ToolDefinition("bash", "Run.", {"type": "object"}, ToolTier.WRITE)
    builder = TurnBuilder("p")
    reader = ChatReader(builder)
    reader.feed(piece(nearly, name="read", index=0, id="c1"))
    reader.feed(piece(nearly, name="bash", index=1, id="c2"))
    reader.feed(delta("tool_calls"))
    turn = builder.turn(OFFERED, (READ, write))
    assert [c.arguments for c in turn.calls] == [{"path": "a"}, None]
    assert turn.calls[0].repairs == ("python_strings", "unquoted_keys")


def test_the_old_form_of_a_call_is_read() -> None:
    assert called(
        delta(function_call={"name": "read", "arguments": '{"path":'}),
        delta(function_call={"arguments": '"a"}'}),
    ) == [("read", {"path": "a"})]

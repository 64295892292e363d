"""Texts that are nearly JSON: what they mean, what is said of them, and that no half is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from providers.arguments import Latitude, decode_arguments
from providers.lenient_json import PYTHON_LITERALS, PYTHON_STRINGS, TRAILING_COMMAS, JsonProblem
from providers.tolerant_json import (
    BAD_ESCAPES,
    COMMENTS,
    EXTRA_BRACKETS,
    MAX_CHARACTERS,
    MISSING_COMMAS,
    NUMBER_NOTATION,
    UNQUOTED_KEYS,
    tolerant_text,
)
from tests.support.sloppy_json import SLOPPY_OBJECTS, sloppy


@settings(deadline=None)
@given(SLOPPY_OBJECTS, st.data())
def test_what_can_be_meant_in_one_way_is_read_that_way(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = sloppy(value, data.draw)
    for latitude in (Latitude.NOTATION, Latitude.CHECKED):
        decoded = decode_arguments(text, latitude)
        assert decoded.objects == (value,), decoded.problem
        assert bool(decoded.repairs) is (not _is_json(text))


@settings(deadline=None)
@given(SLOPPY_OBJECTS, st.data())
def test_no_beginning_of_a_text_is_taken_for_the_whole(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = sloppy(value, data.draw)
    begun = text[: data.draw(st.integers(1, len(text) - 1))]
    for latitude in Latitude:
        assert decode_arguments(begun, latitude).objects == ()


@settings(deadline=None)
@given(st.text(alphabet="{}[]:,\"'“” \n\\/*#abtrue01.-+x", max_size=60))
def test_nothing_that_is_read_begins_with_something_else_that_is(text: str) -> None:
    whole = decode_arguments("{" + text, Latitude.CHECKED)
    if len(whole.objects) != 1:
        return
    for end in range(1, len(text)):
        begun = decode_arguments(("{" + text)[:end], Latitude.CHECKED)
        assert begun.objects in ((), whole.objects)


@settings(deadline=None)
@given(SLOPPY_OBJECTS, st.data())
def test_a_call_that_changes_something_gets_what_others_get_or_nothing(
    value: dict[str, Any], data: st.DataObject
) -> None:
    decoded = decode_arguments(sloppy(value, data.draw), Latitude.ENCODING)
    assert decoded.objects in ((), (value,))


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ("{a: 1}", {"a": 1}, UNQUOTED_KEYS),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, MISSING_COMMAS),
        ('{"a": [1 2]}', {"a": [1, 2]}, MISSING_COMMAS),
        ('{"a": ["x"\n"y"]}', {"a": ["x", "y"]}, MISSING_COMMAS),
        ('{"a": [{} {}]}', {"a": [{}, {}]}, MISSING_COMMAS),
        ('{"a": /* one */ 1}', {"a": 1}, COMMENTS),
        ('{"a": 1 // one\n}', {"a": 1}, COMMENTS),
        ('{"a": 1 # one\n}', {"a": 1}, COMMENTS),
        ('{"a": 1}}', {"a": 1}, EXTRA_BRACKETS),
        ('{"a": +1}', {"a": 1}, NUMBER_NOTATION),
        ('{"a": .5}', {"a": 0.5}, NUMBER_NOTATION),
        ('{"a": 5.}', {"a": 5.0}, NUMBER_NOTATION),
        ('{"a": 0x1F}', {"a": 31}, NUMBER_NOTATION),
        ('{"a": 1_000}', {"a": 1000}, NUMBER_NOTATION),
        ('{"a": TRUE}', {"a": True}, PYTHON_LITERALS),
        ('{"a": "\\d+\\."}', {"a": "\\d+\\."}, BAD_ESCAPES),
        ('{"a": "C:\\Users"}', {"a": "C:\\Users"}, BAD_ESCAPES),
        ('{"a": """say "hi" now"""}', {"a": 'say "hi" now'}, PYTHON_STRINGS),
        ("{\"a\": '''it's \"so\"'''}", {"a": 'it\'s "so"'}, PYTHON_STRINGS),
        ('{"a": """say \\"hi\\" now"""}', {"a": 'say "hi" now'}, PYTHON_STRINGS),
        ('{“a”: “b "c"”}', {"a": 'b "c"'}, PYTHON_STRINGS),
    ],
)
def test_one_slip_is_undone_and_named(text: str, value: dict[str, Any], repair: str) -> None:
    decoded = decode_arguments(text, Latitude.NOTATION)
    assert decoded.objects == (value,)
    assert decoded.repairs == (repair,)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\d\\n"}',
        '{"a": ["x" "y"]}',
        '{"a": "x" b: 2}',
        '{"a": 007}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": }',
        '{"a": ,}',
        "{,}",
        "[1 2]",
        '{"a": 1]',
        '{"a": [1}',
        '{"a": (1, 2)}',
        '{"a": 1 + 2}',
        '{"a": 1} {"b": 2} c',
        '{"a-b c": 1, d e: 2}',
    ],
)
def test_what_can_be_meant_in_two_ways_is_not_read(text: str) -> None:
    assert decode_arguments(text, Latitude.NOTATION).objects == ()


def test_prose_with_two_objects_leaves_open_which_is_meant() -> None:
    text = 'First I thought {a: one}, but it is {"output": {"a": two}}.'
    assert decode_arguments(text, Latitude.CHECKED).objects == ()


def test_a_long_text_is_not_tried() -> None:
    text = "{a: '" + "x" * MAX_CHARACTERS + "'}"
    assert isinstance(tolerant_text(text, bare_words=True), JsonProblem)


def test_a_text_that_ends_in_the_middle_is_said_to() -> None:
    for text in ("{a: 1, b: 'x", "{a: [1, 2", "{a", "{a: word", '{a: "x", '):
        assert decode_arguments(text, Latitude.CHECKED).unterminated


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_a_trailing_comma_is_named_as_in_stricter_texts() -> None:
    assert TRAILING_COMMAS in decode_arguments("{a: 1,}", Latitude.NOTATION).repairs

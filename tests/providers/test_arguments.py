"""Decoding of call arguments: what is taken, what is undone, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.vocabulary.tools import JsonObject
from providers.arguments import (
    CODE_FENCE,
    DOUBLE_ENCODING,
    EMPTY_START,
    MAX_CHARACTERS,
    MAX_VALUES,
    REPEATED_OBJECT,
    SPLIT_OBJECTS,
    Latitude,
    capped,
    decode_arguments,
)
from providers.lenient_json import (
    CONTROL_CHARACTERS,
    PYTHON_LITERALS,
    PYTHON_STRINGS,
    TRAILING_COMMAS,
)
from providers.tolerant_json import BARE_WORDS, SURROUNDING_TEXT

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=8), VALUES, max_size=5)


@settings(deadline=None)
@given(OBJECTS)
def test_strict_json_is_taken_as_it_is(value: dict[str, Any]) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        for latitude in Latitude:
            decoded = decode_arguments(text, latitude)
            assert decoded.objects == (value,)
            assert decoded.repairs == ()


@settings(deadline=None)
@given(OBJECTS)
def test_an_object_is_taken_as_it_is(value: dict[str, Any]) -> None:
    decoded = decode_arguments(value)
    assert decoded.objects == (value,)
    assert decoded.repairs == ()


@settings(deadline=None)
@given(OBJECTS.filter(bool), st.data())
def test_a_text_that_was_cut_off_is_never_repaired(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    for latitude in Latitude:
        decoded = decode_arguments(text[:end], latitude)
        assert decoded.objects == ()
        assert decoded.unterminated
        assert decoded.problem is not None


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.text(), max_size=4))
def test_what_python_prints_is_read_back(value: dict[str, Any]) -> None:
    text = repr(value)
    if "\\U" in text or any(0xD800 <= ord(c) <= 0xDFFF for c in "".join([*value, text])):
        return
    decoded = decode_arguments(text)
    assert decoded.objects == (value,)


@settings(deadline=None)
@given(st.text(alphabet="{}[]:,\"'\\ \ntruefalsn0129.-", max_size=60))
def test_no_text_makes_it_fail_otherwise_than_by_a_problem(text: str) -> None:
    for latitude in Latitude:
        decoded = decode_arguments(text, latitude)
        assert bool(decoded.objects) is (decoded.problem is None)


@pytest.mark.parametrize("raw", ["", "  \n", "null", " null ", None, "{}", '""'])
def test_nothing_means_no_members(raw: str | None) -> None:
    assert decode_arguments(raw).objects == ({},)


def test_text_that_looks_like_glue_stays_as_it_is() -> None:
    decoded = decode_arguments('{"path":"r.txt","content":"}{"}')
    assert decoded.objects == ({"path": "r.txt", "content": "}{"},)
    assert decoded.repairs == ()


def test_python_notation_is_undone() -> None:
    decoded = decode_arguments("{'all': True, 'limit': None, 'tag': 'None',}")
    assert decoded.objects == ({"all": True, "limit": None, "tag": "None"},)
    assert decoded.repairs == tuple(sorted((PYTHON_LITERALS, PYTHON_STRINGS, TRAILING_COMMAS)))


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ('{"a": "x\ny\t"}', {"a": "x\ny\t"}, CONTROL_CHARACTERS),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}, TRAILING_COMMAS),
        ('{"a": False}', {"a": False}, PYTHON_LITERALS),
        ("{'a': 'say \"hi\"'}", {"a": 'say "hi"'}, PYTHON_STRINGS),
        ('{"a": "it\\\'s"}', {"a": "it's"}, PYTHON_STRINGS),
        ("{'a': '\\x41'}", {"a": "A"}, PYTHON_STRINGS),
        ('"{\\"a\\": 1}"', {"a": 1}, DOUBLE_ENCODING),
        ('{"a":1}\n{"a":1}', {"a": 1}, REPEATED_OBJECT),
    ],
)
def test_one_difference_of_notation_is_undone_and_named(
    text: str, value: dict[str, Any], repair: str
) -> None:
    decoded = decode_arguments(text)
    assert decoded.objects == (value,)
    assert decoded.repairs == (repair,)


def test_a_text_encoded_twice_may_need_more_inside() -> None:
    decoded = decode_arguments(json.dumps("{'a': 1}"))
    assert decoded.objects == ({"a": 1},)
    assert decoded.repairs == (DOUBLE_ENCODING, PYTHON_STRINGS)


def test_a_fence_is_taken_off_only_where_that_is_allowed() -> None:
    text = '```json\n{"a": 1}\n```'
    assert decode_arguments(text).objects == ()
    decoded = decode_arguments(text, Latitude.NOTATION)
    assert decoded.objects == ({"a": 1},)
    assert decoded.repairs == (CODE_FENCE,)


def test_two_objects_in_a_row_are_two_calls() -> None:
    decoded = decode_arguments('{"a":"X"}{"a":"Y"}')
    assert decoded.objects == ({"a": "X"}, {"a": "Y"})
    assert decoded.repairs == (SPLIT_OBJECTS,)


def test_half_an_object_at_the_end_spoils_the_whole() -> None:
    decoded = decode_arguments('{"a":"X"}{"a":"Y')
    assert decoded.objects == ()
    assert decoded.problem is not None


def test_broken_is_told_from_cut_off_and_the_place_is_named() -> None:
    decoded = decode_arguments('{"action": list_windows"}')
    assert decoded.objects == ()
    assert not decoded.unterminated
    assert decoded.problem == "not valid JSON at column 12 (expecting value)"


GUESSES = [
    '{"path":"a","content":"say "hi" now"}',
    '{"path":"a","content":"say "hi" now',
    "{'a': 'it's'}",
    "{'a': 'it''s'}",
    '{"a" 1}',
    '{"a": "\\\n"}',
    '{"a": 1,, "b": 2}',
    '{"a": {"b": 1}',
    '{"action": list_windows"}',
    "[1 2]",
    "hello",
]
MEANT_ONE_WAY = [
    '{"a": 1 "b": 2}',
    "{a: 1}",
    '{"a": +5}',
    '{"a": "\\d"}',
    '```json\n{"a": 1}\n```',
]


@pytest.mark.parametrize("latitude", list(Latitude))
@pytest.mark.parametrize("text", GUESSES)
def test_nothing_is_guessed(text: str, latitude: Latitude) -> None:
    assert decode_arguments(text, latitude).objects == ()


@pytest.mark.parametrize("text", MEANT_ONE_WAY)
def test_a_call_that_changes_something_is_read_strictly(text: str) -> None:
    assert decode_arguments(text).objects == ()
    assert len(decode_arguments(text, Latitude.NOTATION).objects) == 1


def test_words_without_quotes_are_for_what_is_checked_only() -> None:
    text = 'Here it is: {"state": almost done, "n": 1} - as you wanted.'
    assert decode_arguments(text, Latitude.NOTATION).objects == ()
    decoded = decode_arguments(text, Latitude.CHECKED)
    assert decoded.objects == ({"state": "almost done", "n": 1},)
    assert decoded.repairs == (BARE_WORDS, SURROUNDING_TEXT)


def test_an_empty_object_before_the_arguments_is_no_call() -> None:
    decoded = decode_arguments('{}{"a": 1}')
    assert decoded.objects == ({"a": 1},)
    assert decoded.repairs == (EMPTY_START,)


@pytest.mark.parametrize(
    "text",
    ["{'a': 'b", "{'a': Tru", '{"a": "x\\', '{"a": "x\\u00', '{"a": 1.', '{"a": 1,', '{"a": -'],
)
def test_notation_does_not_hide_that_a_text_was_cut_off(text: str) -> None:
    decoded = decode_arguments(text)
    assert decoded.objects == ()
    assert decoded.unterminated


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1]", "not an array"),
        ("12", "not a number"),
        ("true", "not a truth value"),
        ('"hello there"', "not valid JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a": "\\ud83d"}', "half of a character"),
        ('{"a":' * 101 + "1" + "}" * 101, "nested too deeply"),
        ("[" * 50_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    decoded = decode_arguments(text)
    assert decoded.objects == ()
    assert words in (decoded.problem or "")


def test_a_deep_object_is_refused_like_a_deep_text() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": deep}
    assert "nested too deeply" in (decode_arguments(deep).problem or "")


def test_problems_and_reprs_never_quote_the_text() -> None:
    for text in ('{"secret-key": secret-value}', '{"secret-key": "secret-value', "secret-value"):
        decoded = decode_arguments(text)
        assert "secret" not in (decoded.problem or "")
        assert "secret" not in repr(decoded)
    assert "secret" not in repr(decode_arguments('{"secret": 1}'))


@pytest.mark.parametrize(
    "pattern", ["{", "]a{", "[", '"', "'", '{"a":', "\\", "a:", '"a" ', ",", "[{", "{'a':'"]
)
def test_hostile_texts_of_full_size_are_no_arguments(pattern: str) -> None:
    decoded = decode_arguments((pattern * 65536)[:65536], Latitude.CHECKED)
    assert decoded.problem
    assert decoded.objects == ()


def test_what_is_too_long_to_keep_still_shows_that_it_is() -> None:
    assert len(capped("x" * 100_000)) == 64 * 1024 + 1
    assert capped("short") == "short"


@pytest.mark.parametrize(
    "raw", ['{"a":1e999}', '{"a":-1e999}', "{'a': 1e999}", '{"b":1}{"a":1e999}']
)
def test_a_number_too_large_to_be_kept_is_no_argument(raw: str) -> None:
    for latitude in Latitude:
        assert decode_arguments(raw, latitude).objects == ()


def test_arguments_beyond_the_limit_are_refused_with_a_way_out() -> None:
    longest = MAX_CHARACTERS - len('{"a":""}')
    for text, raw in (
        ("x" * longest, f'{{"a":"{"x" * longest}"}}'),
        ("x" * (longest + 1), f'{{"a":"{"x" * (longest + 1)}"}}'),
        ("x" * (longest + 1), {"a": "x" * (longest + 1)}),
    ):
        decoded = decode_arguments(raw)
        if len(text) == longest:
            assert decoded.objects == ({"a": text},)
        else:
            assert decoded.objects == ()
            assert "in several calls" in (decoded.problem or "")
            assert not decoded.unterminated


def test_arguments_with_more_values_than_the_limit_are_refused() -> None:
    most = {"a": [1] * (MAX_VALUES - 1)}
    assert decode_arguments(json.dumps(most)).objects == (most,)
    assert decode_arguments(most).objects == (most,)
    pairs: JsonObject = {str(at): [] for at in range(MAX_VALUES)}
    too_many: list[JsonObject] = [{"a": [1] * MAX_VALUES}, {"a": pairs}]
    for more in too_many:
        assert "several calls" in (decode_arguments(json.dumps(more)).problem or "")
        assert "several calls" in (decode_arguments(more).problem or "")

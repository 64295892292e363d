"""Schemas as rows: what the table shows makes the schema again, and what it can't is untouched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.inspector import schema_rows as rows
from app.inspector.schema_json import NotJson, path_in, read_json, spot_of
from engine.graph.json_text import same_json

NAMES = st.text(min_size=1, max_size=6).filter(str.strip)
KINDS = st.sampled_from(("string", "integer", "number", "boolean"))


def described(schema: dict[str, Any], words: str) -> dict[str, Any]:
    return {**schema, "description": words} if words else schema


@st.composite
def objects(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    names = draw(st.lists(NAMES, unique=True, max_size=3))
    properties = {name: draw(fields(depth)) for name in names}
    required = [name for name in names if draw(st.booleans())]
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    return {**made, "additionalProperties": False}


@st.composite
def fields(draw: st.DrawFn, depth: int) -> dict[str, Any]:
    words = draw(st.text(max_size=5))
    shape = draw(st.sampled_from(("plain", "object", "array"))) if depth else "plain"
    if shape == "object":
        return described(draw(objects(depth - 1)), words)
    if shape == "array":
        items = draw(KINDS.map(lambda kind: {"type": kind}) | objects(depth - 1))
        return described({"type": "array", "items": items}, words)
    return described({"type": draw(KINDS)}, words)


def typed_in(found: list[rows.FieldRow]) -> dict[str, Any]:
    """The schema that a person makes who types the rows into an empty table."""
    schema: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    for number, row in enumerate(found):
        schema = rows.with_field(schema, row.parent, rows.unused_name(schema, row.parent))
        schema = rows.renamed(schema, rows.rows_of(schema)[number], row.name)
        schema = rows.with_kind(schema, rows.rows_of(schema)[number], row.kind)
        schema = rows.with_description(schema, rows.rows_of(schema)[number], row.description)
        schema = rows.with_required(schema, rows.rows_of(schema)[number], row.is_required)
    return schema


def sorted_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@given(objects())
def test_a_table_that_is_typed_in_anew_makes_the_same_schema(schema: dict[str, Any]) -> None:
    assert rows.why_json_only(schema) == ""
    found = rows.rows_of(schema)
    assert rows.OTHER not in {row.kind for row in found}
    assert sorted_json(typed_in(found)) == sorted_json(schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
STRANGE = st.one_of(
    st.fixed_dictionaries({"anyOf": st.lists(JSON, max_size=2)}),
    st.fixed_dictionaries({"type": st.just(["string", "null"])}),
    st.fixed_dictionaries({"type": st.just("array"), "items": st.booleans()}),
    st.fixed_dictionaries({"type": st.just("array"), "prefixItems": JSON}),
    st.fixed_dictionaries({"type": st.just("object"), "properties": st.lists(JSON)}),
    st.fixed_dictionaries({"type": st.just("object"), "required": st.just(["nobody"])}),
    st.booleans(),
    JSON,
)


@given(objects(), STRANGE, st.text(max_size=3))
def test_what_a_row_cannot_show_survives_every_edit_around_it(
    schema: dict[str, Any], strange: Any, words: str
) -> None:
    name = "strange"
    while name in schema["properties"]:
        name += "_"
    schema["properties"] = {"first": {"type": "string"}, name: strange, **schema["properties"]}
    before = json.dumps(schema)
    for number, row in enumerate(rows.rows_of(schema)):
        if row.kind != rows.OTHER and row.path[:2] != ("properties", name):
            changed = rows.with_description(schema, row, words)
            changed = rows.with_required(changed, rows.rows_of(changed)[number], False)
            changed = rows.without_field(changed, rows.rows_of(changed)[number])
            assert same_json(changed["properties"][name], strange)
    schema_now = rows.renamed(
        schema, next(row for row in rows.rows_of(schema) if row.name == name), name + "x"
    )
    assert same_json(schema_now["properties"][name + "x"], strange)
    assert json.dumps(schema) == before


@given(JSON)
def test_any_json_is_either_shown_or_said_to_be_json_only(value: Any) -> None:
    if not rows.why_json_only(value):
        assert [row.name for row in rows.rows_of(value) if not row.depth] == list(
            value.get("properties", {})
        )


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (True, "not an object"),
        ({"type": ["object", "null"]}, "its type is"),
        ({"oneOf": []}, "oneOf"),
        ({"$ref": "#/$defs/a"}, "$ref"),
        ({"type": "object", "patternProperties": {}}, "patternProperties"),
        ({"type": "object", "required": "a"}, "no list of names"),
        ({"type": "object", "required": ["a"]}, "“a”"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "further properties"),
    ],
)
def test_a_schema_that_is_no_table_says_why(schema: Any, why: str) -> None:
    assert why in rows.why_json_only(schema)


def test_a_group_keeps_its_fields_as_a_list_of_groups_and_back() -> None:
    schema = typed_in([])
    schema = rows.with_field(schema, (), "steps", rows.OBJECT)
    schema = rows.with_field(schema, ("properties", "steps"), "title")
    listed = rows.with_kind(schema, rows.rows_of(schema)[0], rows.OBJECTS)
    assert [row.name for row in rows.rows_of(listed)] == ["steps", "title"]
    assert rows.rows_of(listed)[0].kind == rows.OBJECTS
    assert rows.with_kind(listed, rows.rows_of(listed)[0], rows.OBJECT) == schema


def test_a_number_keeps_its_limits_as_an_integer_and_a_text_does_not() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "minimum": 1}}}
    (row,) = rows.rows_of(schema)
    assert row.more == "minimum 1"
    whole = rows.with_kind(schema, row, "integer")
    assert whole["properties"]["n"] == {"type": "integer", "minimum": 1}
    assert rows.with_kind(schema, row, "string")["properties"]["n"] == {"type": "string"}


def test_fields_are_moved_among_their_neighbours() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {}, "c": {}}}
    row = rows.rows_of(schema)[0]
    assert list(rows.moved(schema, row, 1)["properties"]) == ["b", "a", "c"]
    assert list(rows.moved(schema, row, -1)["properties"]) == ["a", "b", "c"]
    assert list(rows.moved(schema, row, 9)["properties"]) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  "a": 1,\n}', "Line 3, column 1"),
        ("", "Line 1, column 1"),
        ('{\n  "a": 1,\n  "a": 2\n}', "Line 3, column 3: “a” is there twice"),
        ('{"a": NaN}', "NaN is no number"),
        ("[" * 100 + "]" * 100, "deep"),
    ],
)
def test_text_that_is_no_json_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(NotJson) as caught:
        read_json(text)
    assert said in str(caught.value)


def test_the_place_in_a_sentence_is_found_in_the_text() -> None:
    text = '{\n  "properties": {\n    "a b": {\n      "type": 5\n    }\n  }\n}'
    path = path_in("5 is not valid under any of the given schemas at $.properties['a b'].type")
    assert path == ("properties", "a b", "type")
    spot = spot_of(text, path)
    assert spot is not None
    assert spot.line == 4
    assert spot_of(text, ("properties", "c")) is None
    assert path_in("it unfolds too far") == ()

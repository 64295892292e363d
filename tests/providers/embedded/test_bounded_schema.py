"""Schemas that hold a small model: everything ends, and what fits them fits the original."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from engine.vocabulary.tools import JsonObject
from providers.embedded.bounded_schema import ROOMY, TINY, Bounds, bound
from tests.support.bounded_samples import sample

JsonSchema = st.SearchStrategy[Any]
NAMES = st.sampled_from(["a", "b", "c_1", "Note"])


def strings() -> JsonSchema:
    return st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 60),
            "maxLength": st.integers(0, 400),
            "pattern": st.sampled_from(["^[a-z]+$", r"\d", "^(x|y)*$", "(?=a)", "a|b"]),
            "format": st.sampled_from(["date", "email", "uuid", "ipv4"]),
            "description": st.just("what it is"),
        },
    )


def numbers() -> JsonSchema:
    bounds = st.one_of(st.integers(-20, 20), st.floats(-5, 5).map(lambda x: round(x, 2)))
    return st.fixed_dictionaries(
        {"type": st.sampled_from(["number", "integer"])},
        optional={
            "minimum": bounds,
            "maximum": bounds,
            "exclusiveMinimum": bounds,
            "exclusiveMaximum": bounds,
            "multipleOf": st.sampled_from([1, 3, 0.5]),
        },
    )


def leaves() -> JsonSchema:
    constants = st.sampled_from([None, True, 1, 2.5, "x", "a longer one", [1], {"a": 1}])
    return st.one_of(
        strings(),
        numbers(),
        st.sampled_from([True, {}, {"type": "null"}, {"type": "boolean"}, {"type": "object"}]),
        st.sampled_from([{"type": ["string", "null"]}, {"type": ["integer", "array", "null"]}]),
        st.builds(lambda value: {"const": value}, constants),
        st.builds(lambda values: {"enum": values}, st.lists(constants, min_size=1, max_size=3)),
        st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}, {"$ref": "#"}]),
    )


def objects(inner: JsonSchema) -> JsonSchema:
    return st.fixed_dictionaries(
        {"type": st.just("object")},
        optional={
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "required": st.lists(NAMES, unique=True, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "_"]), inner, max_size=1),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(0, 3),
            "dependentRequired": st.just({"a": ["b"]}),
            "propertyNames": st.just({"maxLength": 3}),
            "unevaluatedProperties": st.just(False),
        },
    )


def arrays(inner: JsonSchema) -> JsonSchema:
    return st.fixed_dictionaries(
        {"type": st.just("array")},
        optional={
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "minItems": st.integers(0, 3),
            "maxItems": st.integers(0, 9),
            "uniqueItems": st.booleans(),
            "contains": inner,
        },
    )


def combined(inner: JsonSchema) -> JsonSchema:
    lists = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        *(st.builds(lambda parts, key=key: {key: parts}, lists) for key in ("anyOf", "oneOf")),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda base, options: {**base, "anyOf": options} if isinstance(base, dict) else base,
            inner,
            lists,
        ),
        st.builds(lambda base, other: {"allOf": [base], "not": other}, inner, inner),
        st.builds(lambda a, b, c: {"if": a, "then": b, "else": c}, inner, inner, inner),
    )


SCHEMAS = st.recursive(
    leaves(), lambda inner: objects(inner) | arrays(inner) | combined(inner), max_leaves=8
)
DOCUMENTS = st.builds(
    lambda root, one, two: {**root, "$defs": {"one": one, "two": two}},
    SCHEMAS.filter(lambda schema: isinstance(schema, dict)),
    SCHEMAS,
    SCHEMAS,
)


def unbounded_parts(schema: JsonObject, where: str = "#") -> list[str]:
    """Where a value of the schema could go on without an end."""
    if "enum" in schema:
        return []
    if "anyOf" in schema:
        return [x for part in schema["anyOf"] for x in unbounded_parts(part, where + "/anyOf")]
    match schema.get("type"):
        case "string":
            return [] if schema.keys() & {"maxLength", "pattern"} else [where]
        case "array":
            inner = [schema["items"]] if "items" in schema else schema["prefixItems"]
            found = [x for part in inner for x in unbounded_parts(part, where + "/items")]
            return found if "maxItems" in schema else [*found, where]
        case "object":
            assert schema["required"] == list(schema["properties"])
            assert schema["additionalProperties"] is False
            return [
                x
                for name, part in schema["properties"].items()
                for x in unbounded_parts(part, f"{where}/{name}")
            ]
        case "integer" | "number" | "boolean" | "null":
            return []
    return [where]


def is_valid(schema: JsonObject, value: Any) -> bool:
    try:
        return Draft202012Validator(schema).is_valid(value)
    except RecursionError:
        # References that go round in a circle, with nothing in between: no schema at all.
        return reject()


@given(DOCUMENTS, st.sampled_from([TINY, ROOMY]), st.integers(0, 999))
def test_what_fits_the_bounded_schema_fits_the_original(
    schema: JsonObject, bounds: Bounds, seed: int
) -> None:
    bounded = bound(schema, bounds)
    if bounded is schema:
        return
    assert unbounded_parts(bounded) == []
    assert "$ref" not in json.dumps(bounded)
    value = sample(bounded, Random(seed))

    fits = Draft202012Validator(bounded).is_valid(value)
    # Only what is beyond grammars may be left to the validator.
    assert fits or '"not"' in json.dumps(bounded)
    if fits:
        assert is_valid(schema, value)


def test_texts_and_arrays_get_an_end() -> None:
    schema = {
        "type": "object",
        "properties": {
            "risks": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string", "maxLength": 9000},
        },
        "required": ["risks", "note"],
    }

    for bounds in (TINY, ROOMY):
        bounded = bound(schema, bounds)
        properties = bounded["properties"]
        assert properties["risks"]["maxItems"] == bounds.items
        assert properties["risks"]["minItems"] == bounds.least_items
        assert properties["risks"]["items"]["maxLength"] == bounds.text
        assert properties["note"]["maxLength"] == bounds.text
        assert properties["note"]["minLength"] == 1


def test_own_limits_of_a_schema_are_kept() -> None:
    schema = {
        "type": "object",
        "properties": {
            "titles": {
                "type": "array",
                "items": {"type": "string", "minLength": 5, "maxLength": 12},
                "minItems": 6,
                "maxItems": 20,
            }
        },
        "required": ["titles"],
    }

    titles = bound(schema)["properties"]["titles"]

    assert (titles["minItems"], titles["maxItems"]) == (6, 6)
    assert (titles["items"]["minLength"], titles["items"]["maxLength"]) == (5, 12)


def test_optional_properties_are_dropped_unless_all_are_optional() -> None:
    text = {"type": "string"}
    properties = {"summary": text, "detail": text}

    some = bound({"type": "object", "properties": properties, "required": ["summary"]})
    none = bound({"type": "object", "properties": properties})

    assert list(some["properties"]) == ["summary"]
    assert list(none["properties"]) == none["required"] == ["summary", "detail"]


def test_an_open_object_gets_a_text_to_fill() -> None:
    assert list(bound({"type": "object"})["properties"]) == ["content"]
    closed = bound({"type": "object", "additionalProperties": False})
    assert closed["properties"] == {}


def test_references_are_written_out_and_descriptions_left_out() -> None:
    schema = {
        "type": "object",
        "title": "Plan",
        "properties": {"first": {"$ref": "#/$defs/step"}, "next": {"$ref": "#/$defs/step"}},
        "required": ["first", "next"],
        "$defs": {"step": {"type": "integer", "minimum": 1, "maximum": 5, "description": "..."}},
    }

    assert bound(schema)["properties"] == {
        "first": {"type": "integer", "minimum": 1, "maximum": 5},
        "next": {"type": "integer", "minimum": 1, "maximum": 5},
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["name", "children"],
    }

    bounded = bound(tree)

    assert unbounded_parts(bounded) == []
    innermost = bounded["properties"]["children"]["items"]["properties"]["children"]
    assert innermost["maxItems"] == 0


def test_a_choice_with_null_is_made_for_the_value() -> None:
    nullable = {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1, "maximum": 3}]}

    assert bound(nullable) == {"type": "integer", "minimum": 1, "maximum": 3}
    assert bound({"type": ["null", "boolean"]}) == {"type": "boolean"}


def test_fractions_with_limits_become_a_list() -> None:
    values = bound({"type": "number", "minimum": 0, "maximum": 1})["enum"]

    assert values[0] == 0
    assert values[-1] == 1
    assert 0.5 in values


def test_choices_that_do_not_fit_the_rest_are_taken_out() -> None:
    assert bound({"type": "string", "enum": ["low", 3, "high"]}) == {"enum": ["low", "high"]}


def test_patterns_are_rewritten_for_the_grammar() -> None:
    assert bound({"type": "string", "pattern": r"^\d+$"})["pattern"] == "^[0-9]{1,24}$"


def test_free_text_is_held_to_words_for_the_tiny_model_only() -> None:
    text = {"type": "string"}

    assert re.fullmatch(bound(text, TINY)["pattern"], "The upload starts again, from zero.")
    assert not re.fullmatch(bound(text, TINY)["pattern"], "user_123.png")
    assert "pattern" not in bound(text, ROOMY)


def test_what_cannot_be_bounded_comes_back_as_it_is() -> None:
    impossible = {"type": "string", "minLength": 5, "maxLength": 2}
    elsewhere = {"$ref": "https://example.org/schema.json"}

    assert bound(impossible) is impossible
    assert bound(elsewhere) is elsewhere

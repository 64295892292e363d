from __future__ import annotations

from typing import Any

import pytest

from engine.graph.schema_check import schema_error
from engine.graph.schema_cost import SchemaCost
from engine.run.schema import UncompilableSchema, compiled

EITHER = {"anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/pair"}]}
TREE = {
    "type": "object",
    "$defs": {
        "leaf": {"type": "object", "properties": {"below": EITHER, "name": {"type": "string"}}},
        "pair": {"type": "object", "properties": {"below": EITHER, "size": {"type": "integer"}}},
    },
    "properties": {"below": EITHER},
}


def nested(depth: int, leaf: Any) -> Any:
    value = leaf
    for _ in range(depth):
        value = {"below": value}
    return value


def doubling(levels: int) -> dict[str, Any]:
    steps = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(levels)}
    return {
        "type": "object",
        "$defs": {**steps, f"s{levels}": {"type": "string"}},
        "properties": {"x": {"$ref": "#/$defs/s0"}},
    }


def test_a_wrong_leaf_far_down_a_tree_of_forms_is_told_at_once() -> None:
    schema = compiled(TREE)
    wrong = nested(60, 5)
    assert not schema.is_valid(wrong)
    assert schema.problems(wrong) == (
        "does not fit; the schema offers too many forms within forms to say where",
    )
    assert schema.coerce(wrong) is wrong
    assert schema.is_valid(nested(60, {"name": "x"}))


def test_a_wrong_leaf_near_the_top_is_worded() -> None:
    (problem,) = compiled(TREE).problems(nested(3, 5))
    assert problem.startswith("below: does not fit the forms that 'anyOf' offers")


def test_references_that_multiply_make_a_schema_unusable() -> None:
    assert "unfold" in (schema_error(doubling(40)) or "")
    with pytest.raises(UncompilableSchema, match="unfold"):
        compiled(doubling(40))
    assert schema_error(doubling(10)) is None
    assert compiled(doubling(10)).is_valid({"x": "text"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"not": {"$ref": "#"}},
        {"if": {"$ref": "#"}, "then": {"$ref": "#/$defs/none"}},
        {"allOf": [{"$dynamicRef": "#here"}], "$dynamicAnchor": "here"},
        {"properties": "x", "anyOf": 5, "items": [1, {"$ref": "#/items/0"}], "$ref": 7},
        True,
        [],
    ],
)
def test_circles_and_nonsense_are_measured_too(schema: Any) -> None:
    cost = SchemaCost(schema)
    assert not cost.unfolds_too_far()
    for value in (5, {"a": [1, {"b": {}}]}, nested(50, [5])):
        assert cost.can_word(value)


def test_forms_that_come_back_to_themselves_are_not_worded() -> None:
    circle = SchemaCost({"type": "object", "anyOf": [{"$ref": "#"}, {"$ref": "#"}]})
    assert not circle.unfolds_too_far()
    assert not circle.can_word({})


def test_large_values_of_plain_forms_are_worded() -> None:
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": optional}}}
    assert SchemaCost(schema).can_word({"rows": ["x"] * 200_000})
    (problem,) = compiled(schema).problems({"rows": ["x"] * 1000 + [5]})
    assert problem.startswith("rows[1000]: ")


def test_a_long_chain_of_references_is_measured_or_refused() -> None:
    chain: dict[str, Any] = {f"s{n}": {"$ref": f"#/$defs/s{n + 1}"} for n in range(5000)}
    assert SchemaCost({"$defs": chain, "$ref": "#/$defs/s0"}).unfolds_too_far()


@pytest.mark.parametrize(
    ("name", "reference"),
    [("a b", "#/$defs/a%20b"), ("a/b~é", "#/$defs/a~1b~0%C3%A9"), ("n", "#n")],
)
def test_references_are_followed_however_they_are_written(name: str, reference: str) -> None:
    target = {"$anchor": "n", "anyOf": [{"type": "string"}] * 60_000}
    schema = {"$defs": {name: target}, "allOf": [{"$ref": reference}] * 2}
    assert SchemaCost(schema).unfolds_too_far()

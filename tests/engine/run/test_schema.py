import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.schema import UncompilableSchema, compiled

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=8,
)
_TYPE = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
_LEAF_SCHEMA: st.SearchStrategy[dict[str, Any]] = st.builds(
    lambda name: {"type": name}, _TYPE
) | st.just({})
_SCHEMA = st.recursive(
    _LEAF_SCHEMA,
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda fields, required: {
                "type": "object",
                "properties": fields,
                "required": required,
            },
            st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
            st.lists(st.sampled_from("abcd"), max_size=2, unique=True),
        )
        | st.builds(lambda forms: {"anyOf": forms}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=6,
)


def _field(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"field": schema}, "required": ["field"]}


def _coerced(schema: dict[str, Any], value: Any) -> Any:
    return compiled(_field(schema)).coerce({"field": value})["field"]


class TestCompiling:
    def test_the_same_schema_is_compiled_once_whatever_its_key_order(self) -> None:
        first = compiled({"type": "object", "required": ["a"]})
        assert compiled({"required": ["a"], "type": "object"}) is first

    def test_a_dict_object_is_recognised_again(self) -> None:
        schema = {"type": "integer", "minimum": 12}
        assert compiled(schema) is compiled(schema)

    def test_a_new_dict_at_the_address_of_an_old_one_is_not_mistaken_for_it(self) -> None:
        for limit in range(300):
            schema = {"type": "integer", "minimum": limit}
            assert compiled(schema).is_valid(limit)
            assert not compiled(schema).is_valid(limit - 1)

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"type": "strng"}, "type"),
            ({"properties": {"a": {"pattern": "("}}}, "regex"),
            ({"required": "a"}, "array"),
            ({"$ref": "#/$defs/missing"}, "missing"),
            ({"$schema": "http://nowhere.invalid/schema"}, "meta-schema"),
            (5, "object"),
            ({"enum": [object()]}, "not JSON"),
        ],
    )
    def test_what_does_not_compile_is_worded(self, schema: Any, words: str) -> None:
        with pytest.raises(UncompilableSchema, match=words):
            compiled(schema)

    @pytest.mark.parametrize("scheme", ["http", "https", "file"])
    def test_a_reference_to_elsewhere_is_refused_and_never_fetched(self, scheme: str) -> None:
        with pytest.raises(UncompilableSchema, match="never fetched"):
            compiled({"$ref": f"{scheme}://localhost/schema.json"})

    def test_definitions_inside_of_the_schema_are_followed(self) -> None:
        schema = compiled({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}})
        assert schema.is_valid(3)
        assert not schema.is_valid("3")


class TestProblems:
    def test_each_has_its_path_and_what_is_wanted(self) -> None:
        schema = _field({"type": "array", "items": {"enum": ["x", "y"]}})
        assert compiled(schema).problems({"field": ["x", "q"]}) == (
            'field[1]: the value is not one of "x" or "y"',
        )

    def test_a_valid_value_has_none(self) -> None:
        assert compiled(_field({"type": "string"})).problems({"field": "a"}) == ()

    def test_forms_are_told_one_by_one(self) -> None:
        schema = _field({"anyOf": [{"type": "integer"}, {"maxLength": 2}]})
        (problem,) = compiled(schema).problems({"field": "long"})
        assert 'not of type "integer"' in problem
        assert "longer than 2" in problem

    def test_none_is_longer_than_its_limit(self) -> None:
        (problem,) = compiled({"const": "long" * 500}).problems("other")
        assert len(problem) == 512
        assert problem.endswith("…")

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "integer"},
            {"const": 1},
            {"enum": [1]},
            {"maxLength": 1},
            {"pattern": "^$"},
            {"not": {"type": "string"}},
            {"anyOf": [{"type": "integer"}, {"type": "object"}]},
            {"format": "email", "type": "integer"},
        ],
    )
    def test_none_holds_the_value(self, schema: dict[str, Any]) -> None:
        assert "hunter2" not in "".join(compiled(_field(schema)).problems({"field": "hunter2"}))

    @pytest.mark.parametrize(
        "schema",
        [
            {"additionalProperties": False},
            {"unevaluatedProperties": False},
            {"additionalProperties": {"type": "integer"}},
            {"propertyNames": {"maxLength": 2}},
            {"patternProperties": {"^h": {"type": "array"}}},
            {"maxProperties": 0},
        ],
    )
    def test_none_holds_an_undeclared_field_name(self, schema: dict[str, Any]) -> None:
        problems = compiled(schema).problems({"hunter2": "hunter2"})
        assert problems
        assert "hunter2" not in "".join(problems)

    def test_text_that_is_not_unicode_is_invalid_and_worded(self) -> None:
        schema = compiled({"type": "string"})
        assert not schema.is_valid("\ud800")
        assert "Unicode" in schema.problems("\ud800")[0]

    def test_deep_nesting_is_judged_without_a_crash(self) -> None:
        value: Any = json.loads("[" * 900 + "]" * 900)
        schema = compiled({"enum": [1]})
        assert not schema.is_valid(value)
        assert "nested too deeply" in schema.problems(value)[0]


class TestCoercion:
    @pytest.mark.parametrize(
        ("schema", "value", "expected"),
        [
            ({"type": "integer"}, "5", 5),
            ({"type": "integer"}, "-12", -12),
            ({"type": "integer"}, "200000", 200000),
            ({"type": "number"}, "2.5", 2.5),
            ({"type": "number"}, "7", 7),
            ({"type": "number"}, "1e3", 1000.0),
            ({"type": "boolean"}, "true", True),
            ({"type": "boolean"}, "false", False),
            ({"type": ["integer", "null"]}, "null", None),
            ({"type": "array"}, '["a", 1]', ["a", 1]),
            ({"type": "object"}, '{"a": 1}', {"a": 1}),
            ({"type": "array", "items": {"type": "integer"}}, '["5", 6]', [5, 6]),
            ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "5", 5),
            ({"oneOf": [{"type": "array"}, {"type": "boolean"}]}, "[1]", [1]),
            (
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
                ["5", None, "6"],
                [5, None, 6],
            ),
        ],
    )
    def test_a_text_becomes_what_the_schema_wants_at_its_path(
        self, schema: dict[str, Any], value: Any, expected: Any
    ) -> None:
        result = _coerced(schema, value)
        assert result == expected
        assert type(result) is type(expected)

    @pytest.mark.parametrize(
        ("schema", "value"),
        [
            ({"type": "integer"}, "20.5"),
            ({"type": "integer"}, "1e3"),
            ({"type": "integer"}, "02139"),
            ({"type": "integer"}, "five"),
            ({"type": "integer"}, ""),
            ({"type": "integer"}, "9" * 5000),
            ({"type": "number"}, "NaN"),
            ({"type": "number"}, "0x10"),
            ({"type": "boolean"}, "True"),
            ({"type": "boolean"}, "yes"),
            ({"type": "array"}, "a, b"),
            ({"type": "array"}, "[1, 2"),
            ({"type": "array"}, "[NaN]"),
            ({"type": "array"}, "[" * 5000 + "]" * 5000),
            ({"type": "array"}, "[" * 200 + "]" * 200),
            ({"type": "array"}, '{"a": 1}'),
            ({"type": "object"}, "[1]"),
            ({"type": "string"}, 5),
            ({"type": "null"}, "None"),
            ({"anyOf": [{"type": "integer", "maximum": 3}, {"type": "null"}]}, "5"),
        ],
    )
    def test_what_does_not_spell_it_stays(self, schema: dict[str, Any], value: Any) -> None:
        assert _coerced(schema, value) == value

    def test_brackets_within_texts_do_not_count_as_depth(self) -> None:
        spelled = ["[" * 300, "]" * 300, '\\"{']
        assert _coerced({"type": "array"}, json.dumps(spelled)) == spelled

    def test_values_that_are_valid_stay_although_they_look_like_others(self) -> None:
        schema = {
            "type": "object",
            "properties": {
                "edits": {"type": "array", "items": {"type": "object"}},
                "note": {"type": "string"},
                "zip": {"type": "string"},
            },
        }
        value = {"edits": '[{"old_text":"a"}]', "note": "[1]", "zip": "02139"}
        assert compiled(schema).coerce(value) == {
            "edits": [{"old_text": "a"}],
            "note": "[1]",
            "zip": "02139",
        }

    def test_the_value_itself_is_not_changed_and_the_rest_is_shared(self) -> None:
        schema = {"properties": {"n": {"type": "array", "items": {"type": "integer"}}}}
        value: dict[str, Any] = {"n": ["1", 2, "3"], "rest": {"deep": []}}
        result = compiled(schema).coerce(value)
        assert result["n"] == [1, 2, 3]
        assert value["n"] == ["1", 2, "3"]
        assert result["rest"] is value["rest"]

    def test_one_form_of_a_union_is_mended_as_a_whole(self) -> None:
        form = {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}},
            "required": ["a", "b"],
        }
        assert _coerced({"anyOf": [{"type": "null"}, form]}, {"a": "1", "b": "true"}) == {
            "a": 1,
            "b": True,
        }

    def test_many_hopeless_texts_cost_little(self) -> None:
        schema = {"type": "array", "items": {"anyOf": [{"type": "integer", "maximum": 0}]}}
        value = ["5"] * 1_000
        assert _coerced(schema, value) == value

    @given(schema=_SCHEMA, value=_JSON)
    def test_a_valid_value_is_never_changed(self, schema: dict[str, Any], value: Any) -> None:
        judge = compiled(schema)
        if judge.is_valid(value):
            assert judge.coerce(value) is value

    @given(schema=_SCHEMA, value=_JSON)
    def test_only_texts_are_replaced_and_twice_is_as_once(
        self, schema: dict[str, Any], value: Any
    ) -> None:
        before = json.dumps(value)
        result = compiled(schema).coerce(value)
        assert json.dumps(value) == before
        assert compiled(schema).coerce(result) == result
        _assert_only_texts_differ(value, result)


def _assert_only_texts_differ(before: Any, after: Any) -> None:
    if isinstance(before, str):
        return
    assert type(after) is type(before)
    if isinstance(before, dict):
        assert list(after) == list(before)
        for key in before:
            _assert_only_texts_differ(before[key], after[key])
    elif isinstance(before, list):
        assert len(after) == len(before)
        for old, new in zip(before, after, strict=True):
            _assert_only_texts_differ(old, new)
    else:
        assert after == before


class TestNamesThatLookLikeNumbers:
    def test_values_under_them_are_coerced(self) -> None:
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}
        value = {"0": "5", "01": "6", "+7": "8", "-1": "9", "x": "10"}
        assert compiled(schema).coerce(value) == {"0": 5, "01": 6, "+7": 8, "-1": 9, "x": 10}

    def test_two_names_of_one_number_are_left_alone(self) -> None:
        schema = {"type": "object", "additionalProperties": {"type": "integer"}}
        value = {"1": "5", "01": 6}
        assert compiled(schema).coerce(value) == value
        assert compiled(schema).problems(value)

    def test_entries_of_lists_below_them_are_coerced(self) -> None:
        rows = {"type": "array", "items": {"type": "integer"}}
        schema = {"type": "object", "additionalProperties": rows}
        assert compiled(schema).coerce({"3": [1, "2"]}) == {"3": [1, 2]}


_ROWS: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "minItems": 20, "items": {"type": "integer"}}},
    "required": ["rows"],
}


class TestLargeValues:
    def test_they_are_judged_and_not_looked_into(self) -> None:
        schema = compiled(_ROWS)
        assert schema.problems({"rows": [1] * 100_000}) == ()
        wrong = {"rows": ["1"] * 100_000}
        assert schema.coerce(wrong) is wrong
        (problem, *more) = schema.problems(wrong)
        assert problem.startswith("rows[0]")
        assert len(more) == 7

    def test_what_is_wrong_further_on_is_told_without_a_place(self) -> None:
        (problem,) = compiled(_ROWS).problems({"rows": [1] * 100_000 + ["1"]})
        assert "too large to say where" in problem

    def test_objects_with_very_many_names_are_not_looked_into(self) -> None:
        schema = compiled({"type": "object", "additionalProperties": {"type": "integer"}})
        (problem,) = schema.problems({f"n{at}": "x" for at in range(50_000)})
        assert "too large to say where" in problem

    @pytest.mark.parametrize("text", ["[" * 200_000, '["[",' * 100_000])
    def test_long_texts_full_of_brackets_are_no_lists(self, text: str) -> None:
        assert _coerced({"type": "array"}, text) == text


def test_a_text_does_not_spell_an_infinity() -> None:
    assert _coerced({"type": "number"}, "1e999") == "1e999"

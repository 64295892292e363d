import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.completion_protocol import interpret
from engine.vocabulary.errors import (
    PRINTED_CALL,
    MalformedSubmit,
    ModelCallError,
)
from engine.vocabulary.messages import (
    Completed,
    InputRequest,
    ReasoningPart,
    Usage,
)
from engine.vocabulary.tools import (
    HARNESS_TOOLS,
    SUBMIT_TOOL,
    JsonObject,
)
from tests.support.model_turns import (
    OPEN,
    SUMMARY,
    call,
    kind_of,
    rejected,
    request,
    submit,
    turn,
)


class TestSubmit:
    def test_the_proper_envelope(self) -> None:
        usage, thoughts = Usage(prompt_tokens=3), (ReasoningPart("text", "hm"),)
        outcome = submit(
            {"output": {"summary": "x"}, "assistant_message": " Done. "},
            text="Words beside it.",
            usage=usage,
            reasoning=thoughts,
        )
        assert outcome == Completed({"summary": "x"}, "Done.", thoughts, usage)

    def test_the_words_of_the_turn_stand_in_for_a_missing_message(self) -> None:
        outcome = submit({"output": {"summary": "x"}, "assistant_message": None}, text="Words.")
        assert outcome.assistant_message == "Words."

    def test_messages_are_filtered(self) -> None:
        said = {"output": {"summary": "x"}, "assistant_message": "Done. <tool_call>{}"}
        assert submit(said).assistant_message == "Done."

    @pytest.mark.parametrize(
        ("schema", "arguments", "output"),
        [
            # fields without an envelope
            (SUMMARY, {"summary": "x"}, {"summary": "x"}),
            (SUMMARY, {"summary": "x", "assistant_message": "Hi"}, {"summary": "x"}),
            (OPEN, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
            (OPEN, {"output": [1]}, {"output": [1]}),
            ({"properties": {"output": {"type": "string"}}}, {"output": "x"}, {"output": "x"}),
            (
                {"properties": {"output": {"type": "string"}, "n": {}}},
                {"output": '{"n": 1}', "n": 2},
                {"output": '{"n": 1}', "n": 2},
            ),
            # nothing but a message
            (SUMMARY, {"assistant_message": " All well. "}, {"summary": "All well."}),
            (OPEN, {"assistant_message": "All well."}, {"content": "All well."}),
            (
                {"properties": {"a": {}, "summary": {}}},
                {"assistant_message": "All well."},
                {"summary": "All well."},
            ),
            (
                {"properties": {"a": {}, "b": {}}},
                {"assistant_message": "All well."},
                {"a": "All well."},
            ),
            (
                {"properties": {"summary": {}, "b": {}}, "required": ["b", "summary"]},
                {"assistant_message": "All well."},
                None,
            ),
            # an output that was encoded twice
            (SUMMARY, {"output": '{"summary": "x"}'}, {"summary": "x"}),
            (OPEN, {"output": '{"a": 1}'}, {"a": 1}),
            ({"type": "array"}, {"output": "[1, 2]"}, [1, 2]),
            ({"type": "array"}, {"output": [1, 2]}, [1, 2]),
        ],
    )
    def test_other_envelopes(self, schema: JsonObject, arguments: JsonObject, output: Any) -> None:
        if output is None:
            assert kind_of(rejected(arguments, schema)) == "schema_violation"
        else:
            assert submit(arguments, schema).output == output

    def test_a_salvaged_message_is_not_said_as_well(self) -> None:
        assert submit({"assistant_message": "All well."}).assistant_message is None

    @pytest.mark.parametrize("inside", [True, False])
    def test_fields_of_a_missing_object_are_regrouped(self, inside: bool) -> None:
        schema = {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "user": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                    "required": ["name"],
                },
            },
            "required": ["title", "user"],
        }
        flat = {"title": "t", "name": "n", "age": 5}
        arguments: JsonObject = {"output": flat} if inside else flat
        assert submit(arguments, schema).output == {"title": "t", "user": {"name": "n", "age": 5}}

    def test_regrouping_needs_all_that_is_required(self) -> None:
        part = {"properties": {"name": {}, "age": {}}, "required": ["name"]}
        schema = {"properties": {"user": part}, "required": ["user"]}
        assert kind_of(rejected({"output": {"age": 5}}, schema)) == "schema_violation"
        assert kind_of(rejected({"age": 5}, schema)) == "wrong_envelope"

    def test_fields_that_fit_as_they_are_stay_where_they_are(self) -> None:
        part = {"properties": {"name": {"type": "string"}}}
        schema = {"properties": {"name": {"type": "string"}, "user": part}}
        assert submit({"name": "n"}, schema).output == {"name": "n"}

    @pytest.mark.parametrize(
        ("arguments", "kind"),
        [
            ({}, "wrong_envelope"),
            ({"assistant_message": None}, "wrong_envelope"),
            ({"assistant_message": "  "}, "wrong_envelope"),
            ({"assistant_message": 5}, "wrong_envelope"),
            ({"result": {"summary": "x"}}, "wrong_envelope"),
            ({"summary": "x", "other": 1}, "wrong_envelope"),
            ({"output": {"summary": 5}}, "schema_violation"),
            ({"output": {}}, "schema_violation"),
            ({"output": {"summary": "x", "other": 1}}, "schema_violation"),
            ({"output": "just text"}, "schema_violation"),
            ({"output": None}, "schema_violation"),
            ({"output": ["x"]}, "schema_violation"),
        ],
    )
    def test_what_does_not_fit(self, arguments: JsonObject, kind: str) -> None:
        error = rejected(arguments)
        assert kind_of(error) == kind
        assert error.candidate is not None
        assert json.loads(error.candidate.raw_arguments) == arguments
        assert error.candidate.output_schema is SUMMARY
        assert error.candidate.is_repairable

    def test_arguments_that_are_no_json(self) -> None:
        broken = call(
            SUBMIT_TOOL, None, raw_arguments="{hunter2", arguments_error="not JSON at column 2"
        )
        with pytest.raises(ModelCallError) as caught:
            interpret(turn(broken, usage=Usage(total_tokens=9)), request())
        error = caught.value
        assert error.failure == MalformedSubmit(
            "not JSON at column 2", "invalid_json", Usage(total_tokens=9)
        )
        assert error.candidate is not None
        assert error.candidate.raw_arguments == "{hunter2"
        assert "hunter2" not in f"{error!r} {error} {error.candidate!r}"

    def test_the_text_of_the_wire_is_kept_for_the_repair(self) -> None:
        wire = call(SUBMIT_TOOL, {"a": 1}, raw_arguments="{'a': 1}", provider_call_id="c1")
        with pytest.raises(ModelCallError) as caught:
            interpret(turn(wire), request())
        assert caught.value.candidate is not None
        assert caught.value.candidate.raw_arguments == "{'a': 1}"
        assert caught.value.candidate.provider_call_id == "c1"

    def test_the_detail_names_the_place_and_has_a_limit(self) -> None:
        schema = {
            "properties": {f"field_{n}": {"type": "integer"} for n in range(100)},
            "type": "object",
        }
        error = rejected({"output": {f"field_{n}": [] for n in range(100)}}, schema)
        assert isinstance(error.failure, MalformedSubmit)
        assert 'field_0: the value is not of type "integer"' in error.failure.detail
        assert len(error.failure.detail) == 512

    def test_values_are_coerced_where_they_are_invalid(self) -> None:
        schema = {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "zip": {"type": "string"}},
        }
        assert submit({"output": {"n": "5", "zip": "02139"}}, schema).output == {
            "n": 5,
            "zip": "02139",
        }
        for wrong in ("20.5", "1e3"):
            assert kind_of(rejected({"output": {"n": wrong}}, schema)) == "schema_violation"

    @pytest.mark.parametrize("part", [{"type": "nonsense"}, {"required": [[]]}, 5])
    def test_a_schema_that_does_not_compile_is_not_applied(self, part: Any) -> None:
        schema = {"type": "object", "properties": {"a": part}}
        assert submit({"output": {"b": 1}}, schema).output == {"b": 1}

    def test_a_broken_part_of_a_schema_does_not_break_the_reading(self) -> None:
        part = {"properties": {"b": {}}, "required": [[], {}]}
        assert submit({"b": 1}, {"properties": {"a": part}}).output == {"a": {"b": 1}}

    @given(
        output=st.dictionaries(
            st.text(max_size=4),
            st.none() | st.integers() | st.text(max_size=4) | st.lists(st.integers(), max_size=2),
            max_size=4,
        ),
        message=st.none() | st.text(alphabet="ab c", max_size=6),
    )
    def test_a_proper_envelope_is_taken_as_it_is(
        self, output: JsonObject, message: str | None
    ) -> None:
        outcome = submit({"output": output, "assistant_message": message}, OPEN)
        assert outcome.output is output

    @given(
        secret=st.text(alphabet="qwxyz0123456789", min_size=7, max_size=19).map("q".__add__),
        place=st.sampled_from(["key", "value", "nested", "raw"]),
    )
    def test_raw_arguments_stay_in_the_candidate(self, secret: str, place: str) -> None:
        made: dict[str, JsonObject | None] = {
            "key": {secret: 1, "summary": 5},
            "value": {"output": {"summary": [secret]}},
            "nested": {"output": {"summary": {secret: secret}, secret: secret}},
            "raw": None,
        }
        wire = call(SUBMIT_TOOL, made[place], raw_arguments=f"{{{secret}")
        with pytest.raises(ModelCallError) as caught:
            interpret(turn(wire), request())
        error = caught.value
        assert secret not in f"{error!r} {error} {error.failure!r} {error.candidate!r}"


_WORDS = st.sampled_from(
    ["output", "assistant_message", "type", "object", "properties", "required", "a", "b"]
)
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=15,
)
_ANY_OBJECT = st.dictionaries(_WORDS, _ANY_JSON, max_size=4)


@given(arguments=_ANY_OBJECT, schema=_ANY_OBJECT, name=st.sampled_from(sorted(HARNESS_TOOLS)))
def test_whatever_a_model_sends_has_an_outcome_or_a_failure(
    arguments: JsonObject, schema: JsonObject, name: str
) -> None:
    result: object
    try:
        result = interpret(turn(call(name, arguments)), request(schema))
    except ModelCallError as error:
        result = error.failure
    assert isinstance(result, Completed | InputRequest | MalformedSubmit)


@pytest.mark.parametrize(
    "arguments",
    [
        {"output": {"output": {"summary": "x"}, "assistant_message": "Done."}},
        {"output": {"output": {"output": {"summary": "x"}}}, "assistant_message": "Done."},
        {"arguments": {"output": {"summary": "x"}, "assistant_message": "Done."}},
        {"name": SUBMIT_TOOL, "arguments": '{"output": {"summary": "x"}}'},
        {"parameters": {"summary": "x"}},
        {"output": '{"summary": "x"}', "assistant_message": "Done."},
        {"summary": "x"},
    ],
)
def test_an_envelope_that_is_doubled_missing_or_a_text_is_seen_through(
    arguments: JsonObject,
) -> None:
    assert submit(arguments).output == {"summary": "x"}


def test_an_output_that_looks_like_an_envelope_stays_as_it_is() -> None:
    nested = {"output": {"summary": "x"}, "assistant_message": "inner"}
    assert submit({"output": nested}, OPEN).output == nested
    declared = {"type": "object", "properties": {"arguments": {"type": "object"}}}
    assert submit({"arguments": {"a": 1}}, declared).output == {"arguments": {"a": 1}}


def test_a_submit_that_was_printed_goes_to_no_overseer() -> None:
    printed = call(SUBMIT_TOOL, None, arguments_error="printed", repairs=(PRINTED_CALL,))
    with pytest.raises(ModelCallError) as caught:
        interpret(turn(printed), request())
    assert caught.value.failure == MalformedSubmit("printed", PRINTED_CALL)
    assert caught.value.candidate is None

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.completion_protocol import interpret
from engine.vocabulary.errors import (
    CallFailure,
    EmptyTurn,
    MalformedSubmit,
    MixedToolTurn,
    ModelCallError,
    TruncatedOutput,
)
from engine.vocabulary.messages import (
    Completed,
    InputRequest,
    MessageTurn,
    ModelTurn,
    ReasoningPart,
    ToolCallsTurn,
    TranscriptView,
    Usage,
    WireCall,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    HARNESS_TOOLS,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    JsonObject,
    ToolCall,
    ToolConfig,
    ToolDefinition,
)

SUMMARY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}
OPEN = {"type": "object"}


def request(schema: JsonObject | None = None, **changes: Any) -> AgentRequest:
    fields: dict[str, Any] = {
        "workflow_id": "w",
        "run_id": "r",
        "node_id": "node",
        "node_label": "Node",
        "model": "some-model",
        "provider_id": "some-provider",
        "system_messages": (),
        "task_prompt": "Work.",
        "input": {"upstream": []},
        "output_schema": SUMMARY if schema is None else schema,
        "transcript": TranscriptView(),
        "available_tools": tuple(
            ToolDefinition(name, "", {"type": "object"}) for name in ("read", "list_todos", "write")
        ),
        "allow_user_input": True,
    }
    return AgentRequest(**{**fields, **changes})


def call(name: str, arguments: JsonObject | None, **details: Any) -> WireCall:
    return WireCall(name, arguments, **details)


def turn(*calls: WireCall, **details: Any) -> ModelTurn:
    return ModelTurn(calls=calls, **{"finish_reason": "tool_calls", **details})


def submit(arguments: JsonObject, schema: JsonObject | None = None, **details: Any) -> Completed:
    outcome = interpret(turn(call(SUBMIT_TOOL, arguments), **details), request(schema))
    assert isinstance(outcome, Completed)
    return outcome


def failure_of(finished: ModelTurn, asked: AgentRequest | None = None) -> CallFailure:
    with pytest.raises(ModelCallError) as caught:
        interpret(finished, asked or request())
    return caught.value.failure


def rejected(arguments: JsonObject, schema: JsonObject | None = None) -> ModelCallError:
    with pytest.raises(ModelCallError) as caught:
        interpret(turn(call(SUBMIT_TOOL, arguments)), request(schema))
    return caught.value


def kind_of(error: ModelCallError) -> str:
    assert isinstance(error.failure, MalformedSubmit)
    assert error.candidate is not None
    assert error.candidate.kind == error.failure.kind
    return error.failure.kind


class TestCutOffTurns:
    @pytest.mark.parametrize("finish_reason", ["length", "LENGTH", "Length"])
    def test_the_limit_was_hit(self, finish_reason: str) -> None:
        usage = Usage(prompt_tokens=5)
        cut = turn(
            call("write", None, raw_arguments='{"path":"a","content":"very long'),
            call("read", {"path": "b"}),
            call("read", {"path": "c"}),
            finish_reason=finish_reason,
            usage=usage,
        )
        assert failure_of(cut) == TruncatedOutput("length", ("read", "write"), usage)

    def test_a_whole_submit_does_not_count_when_the_limit_was_hit(self) -> None:
        cut = turn(call(SUBMIT_TOOL, {"output": {"summary": "x"}}), finish_reason="length")
        with pytest.raises(ModelCallError) as caught:
            interpret(cut, request())
        assert caught.value.candidate is None
        assert caught.value.failure == TruncatedOutput("length", (SUBMIT_TOOL,))

    def test_words_alone_can_be_cut_off_too(self) -> None:
        assert failure_of(ModelTurn("I think", finish_reason="length")) == TruncatedOutput("length")

    def test_arguments_without_an_end_are_told_from_a_broken_stream(self) -> None:
        unreadable = call("write", None, raw_arguments='{"path')
        ended = turn(unreadable, finish_reason="stop", truncated=True)
        broken = turn(unreadable, finish_reason="", truncated=True)
        assert failure_of(ended) == TruncatedOutput("unterminated", ("write",))
        assert failure_of(broken) == TruncatedOutput("stream", ("write",))

    def test_the_arguments_are_not_told(self) -> None:
        cut = turn(call("write", None, raw_arguments='{"content":"hunter2'), truncated=True)
        assert "hunter2" not in repr(failure_of(cut))


class TestWords:
    def test_text_without_a_call_is_a_message(self) -> None:
        thoughts = (ReasoningPart("text", "hm"),)
        usage = Usage(completion_tokens=2)
        said = ModelTurn(" Hello. ", reasoning=thoughts, usage=usage)
        assert interpret(said, request()) == MessageTurn("Hello.", thoughts, usage)

    @pytest.mark.parametrize(
        "text", ['{"summary": "x"}', '```json\n{"output": {"summary": "x"}}\n```', '"x"', "5"]
    )
    def test_json_in_a_text_is_no_submit(self, text: str) -> None:
        assert interpret(ModelTurn(text), request()) == MessageTurn(text)

    @pytest.mark.parametrize("text", ["", " \n", '<tool_call>{"name":"read"}</tool_call>'])
    def test_nothing_usable_is_an_empty_turn(self, text: str) -> None:
        empty = ModelTurn(text, usage=Usage(total_tokens=1), finish_reason="stop")
        failure = failure_of(empty)
        assert isinstance(failure, EmptyTurn)
        assert failure.usage == Usage(total_tokens=1)
        assert "some-model" in failure.message
        assert "stop" in failure.message

    def test_printed_markup_is_filtered(self) -> None:
        said = ModelTurn("Let me look.\n<tool_call>{}</tool_call>")
        assert interpret(said, request()) == MessageTurn("Let me look.")


class TestMixedTurns:
    @pytest.mark.parametrize(
        "names",
        [
            (SUBMIT_TOOL, "write"),
            ("write", SUBMIT_TOOL),
            (SUBMIT_TOOL, SUBMIT_TOOL),
            (SUBMIT_TOOL, ASK_QUESTION_TOOL),
            (REQUEST_INPUT_TOOL, "read"),
        ],
    )
    def test_a_harness_tool_stands_alone(self, names: tuple[str, ...]) -> None:
        mixed = turn(*(call(name, {"output": {"summary": "x"}}) for name in names))
        assert failure_of(mixed) == MixedToolTurn(names)


class TestToolCalls:
    def test_calls_keep_their_order_and_the_providers_ids(self) -> None:
        usage = Usage(prompt_tokens=1)
        outcome = interpret(
            turn(
                call("read", {"path": "a"}, provider_call_id="c1"),
                call("write", {}, provider_call_id="c2"),
                text="Looking.",
                usage=usage,
            ),
            request(),
        )
        assert outcome == ToolCallsTurn(
            (ToolCall("", "read", {"path": "a"}, "c1"), ToolCall("", "write", {}, "c2")),
            "Looking.",
            (),
            usage,
        )

    def test_presence_of_calls_counts_not_the_finish_reason(self) -> None:
        outcome = interpret(turn(call("read", {}), finish_reason="stop"), request())
        assert isinstance(outcome, ToolCallsTurn)

    def test_unreadable_arguments_are_an_error_of_that_call_alone(self) -> None:
        outcome = interpret(
            turn(
                call("read", {"path": "a"}),
                call("write", None, raw_arguments="{hunter2", arguments_error="not JSON at 2"),
                call("read", None, raw_arguments="[hunter2]"),
            ),
            request(),
        )
        assert isinstance(outcome, ToolCallsTurn)
        first, second, third = outcome.calls
        assert first.arguments_error is None
        assert (second.arguments, second.arguments_error) == ({}, "not JSON at 2")
        assert third.arguments_error == "the arguments are not a JSON object"
        assert "hunter2" not in repr(outcome)

    @pytest.mark.parametrize(
        ("printed", "name"),
        [
            ("read", "read"),
            ("functions.read", "read"),
            ("list_todos</arg_value>", "list_todos"),
            ("functions.read<|channel|>", "read"),
            (" read ", "read"),
            ("reed", "reed"),
            ("functions.reed", "functions.reed"),
            ("Read", "Read"),
            ("reader", "reader"),
            ("read" + " " * 50_000 + "x", "read" + " " * 50_000 + "x"),
        ],
    )
    def test_decoration_is_stripped_only_down_to_an_offered_name(
        self, printed: str, name: str
    ) -> None:
        outcome = interpret(turn(call(printed, {})), request())
        assert isinstance(outcome, ToolCallsTurn)
        assert [made.name for made in outcome.calls] == [name]

    def test_a_decorated_submit_is_a_submit(self) -> None:
        arguments = {"output": {"summary": "x"}}
        outcome = interpret(turn(call(f"functions.{SUBMIT_TOOL}", arguments)), request())
        assert outcome == Completed({"summary": "x"})


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


QUESTION = {
    "id": "scope",
    "header": "Scope",
    "question": "How wide?",
    "options": [
        {"label": "Narrow", "description": "Less"},
        {"label": "Wide", "description": "More"},
    ],
}


def asked(name: str, arguments: JsonObject | None, **changes: Any) -> InputRequest:
    outcome = interpret(turn(call(name, arguments)), request(**changes))
    assert isinstance(outcome, InputRequest)
    return outcome


class TestQuestions:
    def test_a_free_text_question(self) -> None:
        outcome = asked(REQUEST_INPUT_TOOL, {"assistant_message": " Which one? "})
        assert outcome == InputRequest("Which one?")

    def test_a_structured_question_is_its_own_message(self) -> None:
        outcome = asked(ASK_QUESTION_TOOL, {"questions": [QUESTION]})
        assert outcome.assistant_message == "How wide?"
        assert outcome.structured_input is not None
        assert outcome.structured_input.questions[0].options[1].label == "Wide"

    def test_several_questions_get_a_sentence(self) -> None:
        outcome = asked(ASK_QUESTION_TOOL, {"questions": [QUESTION, {**QUESTION, "id": "b"}]})
        assert outcome.assistant_message.endswith(".")

    def test_prose_beside_the_structure_is_kept(self) -> None:
        arguments = {"assistant_message": "Please say.", "questions": [QUESTION]}
        assert asked(ASK_QUESTION_TOOL, arguments).assistant_message == "Please say."

    def test_structure_gives_no_prose_where_it_is_not_allowed(self) -> None:
        config = ToolConfig(allow_structured_user_input=False)
        outcome = asked(ASK_QUESTION_TOOL, {"questions": [QUESTION]}, tool_config=config)
        assert outcome.assistant_message == ""
        assert outcome.structured_input is not None

    @pytest.mark.parametrize("name", [REQUEST_INPUT_TOOL, ASK_QUESTION_TOOL])
    def test_unreadable_arguments_are_a_question_without_content(self, name: str) -> None:
        assert asked(name, None) == InputRequest()

    def test_missing_fields_become_empty_texts(self) -> None:
        outcome = asked(ASK_QUESTION_TOOL, {"questions": [{"options": [{}, "Yes"]}, 5]})
        assert outcome.structured_input is not None
        first, second = outcome.structured_input.questions
        assert (first.id, first.header, first.question) == ("", "", "")
        assert [option.label for option in first.options] == ["", "Yes"]
        assert second.options == ()

    def test_it_is_returned_even_if_it_was_not_offered(self) -> None:
        question = {"assistant_message": "May I?"}
        assert asked(REQUEST_INPUT_TOOL, question, allow_user_input=False) == InputRequest("May I?")

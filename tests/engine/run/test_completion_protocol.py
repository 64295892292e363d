from typing import Any

import pytest

from engine.run.completion_protocol import interpret
from engine.vocabulary.errors import (
    EmptyTurn,
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
    Usage,
)
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    JsonObject,
    ToolCall,
    ToolConfig,
)
from tests.support.model_turns import call, failure_of, request, turn


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
            ("functions.read:0", "read"),
            ("default_api.read", "read"),
            ("`read`", "read"),
            ("read()", "read"),
            ("read:zero", "read:zero"),
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

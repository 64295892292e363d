import json

import pytest

from engine.run import feedback
from engine.vocabulary.messages import (
    AssistantMessage,
    ResultItem,
    TranscriptItem,
    TranscriptView,
    UserMessage,
)
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SEAL_PLAN_TOOL,
    SUBMIT_TOOL,
    ToolAccessPolicy,
    ToolCall,
    ToolConfig,
    ToolResult,
)

EXECUTION, PLANNING = ToolAccessPolicy.EXECUTION, ToolAccessPolicy.PLANNING
BOTH = ToolConfig()
NO_CHOICES = ToolConfig(allow_structured_user_input=False)
NO_FREE_TEXT = ToolConfig(allow_free_text_user_input=False)
WROTE = ResultItem(ToolResult("1", "write", "Created a.md"))
FAILED_WRITE = ResultItem(ToolResult("1", "write", "no", is_error=True))
NARRATION = "Now I'll write the report to disk."


def text_nudge(
    text: str,
    *transcript: TranscriptItem,
    interactive: bool = False,
    policy: ToolAccessPolicy = EXECUTION,
    config: ToolConfig = BOTH,
    can_write: bool = True,
) -> str:
    return feedback.nudge_for_text_turn(
        text,
        list(transcript),
        interactive=interactive,
        policy=policy,
        tool_config=config,
        can_write=can_write,
    )


def empty_nudge(*transcript: TranscriptItem, interactive: bool = False) -> str:
    return feedback.nudge_for_empty_turn(
        list(transcript), interactive=interactive, policy=EXECUTION, tool_config=BOTH
    )


class TestNarratedWrites:
    @pytest.mark.parametrize(
        "text",
        [
            "I'll write the summary now.",
            "Writing the file…",
            "LET ME WRITE that down",
            "I\u2019ll write it",
            "Creating a new module",
        ],
    )
    def test_talk_of_writing_is_noticed(self, text: str) -> None:
        assert feedback.is_narrated_write(text)

    @pytest.mark.parametrize("text", ["", "The plan has three parts.", "Reading the file."])
    def test_other_talk_is_not(self, text: str) -> None:
        assert not feedback.is_narrated_write(text)


class TestNudgeAfterText:
    def test_an_autonomous_node_hears_that_nobody_is_there(self) -> None:
        nudge = text_nudge("What do you think?")
        assert "Nobody reads" in nudge
        assert SUBMIT_TOOL in nudge
        assert REQUEST_INPUT_TOOL not in nudge

    def test_an_interactive_node_hears_how_to_ask(self) -> None:
        nudge = text_nudge("What do you think?", interactive=True)
        assert REQUEST_INPUT_TOOL in nudge
        assert ASK_QUESTION_TOOL in nudge

    def test_only_the_ways_of_asking_that_are_allowed_are_named(self) -> None:
        nudge = text_nudge("Well?", interactive=True, config=NO_CHOICES)
        assert REQUEST_INPUT_TOOL in nudge
        assert ASK_QUESTION_TOOL not in nudge
        neither = ToolConfig(allow_structured_user_input=False, allow_free_text_user_input=False)
        assert "answer from the user" not in text_nudge("Well?", interactive=True, config=neither)

    def test_a_narrated_write_is_told_to_write_now(self) -> None:
        nudge = text_nudge(NARRATION)
        assert "nothing was written" in nudge
        assert text_nudge(NARRATION, FAILED_WRITE) == nudge

    def test_after_a_write_it_is_told_to_edit_in_parts(self) -> None:
        assert "one part at a time" in text_nudge(NARRATION, WROTE)

    def test_a_write_of_long_ago_does_not_count(self) -> None:
        later = [AssistantMessage("hm")] * 40
        assert text_nudge(NARRATION, WROTE, *later) == text_nudge(NARRATION)

    def test_while_planning_it_names_the_draft_and_the_seal(self) -> None:
        first = text_nudge(NARRATION, policy=PLANNING)
        then = text_nudge(NARRATION, WROTE, policy=PLANNING)
        assert first != then
        for nudge in (first, then):
            assert "run://PLAN.md" in nudge
            assert SEAL_PLAN_TOOL in nudge

    def test_a_node_that_cannot_write_is_not_told_to(self) -> None:
        assert text_nudge(NARRATION, can_write=False) == text_nudge("Hello.")


class TestNudgeAfterNothing:
    def test_it_says_that_the_turn_was_empty(self) -> None:
        assert "empty" in empty_nudge()
        assert "Nobody reads" in empty_nudge()
        assert ASK_QUESTION_TOOL in empty_nudge(interactive=True)

    def test_after_a_narrated_write_it_is_about_writing(self) -> None:
        assert "nothing was written" in empty_nudge(AssistantMessage(NARRATION))

    def test_it_goes_on_being_about_writing_after_such_a_nudge(self) -> None:
        first = empty_nudge(AssistantMessage(NARRATION))
        assert empty_nudge(UserMessage(first)) == first
        assert empty_nudge(UserMessage(text_nudge(NARRATION))) == first

    def test_only_the_last_eight_items_count(self) -> None:
        later = [AssistantMessage("hm")] * 8
        assert empty_nudge(AssistantMessage(NARRATION), *later) == empty_nudge()

    def test_a_view_of_a_transcript_will_do(self) -> None:
        view = TranscriptView([AssistantMessage(NARRATION)])
        nudge = feedback.nudge_for_empty_turn(
            view, interactive=False, policy=EXECUTION, tool_config=BOTH
        )
        assert "nothing was written" in nudge


class TestProtocolFeedback:
    def test_a_malformed_submit_gets_the_problem_and_the_schema(self) -> None:
        schema = {"type": "object", "required": ["summary"]}
        text = feedback.malformed_submit("summary is missing", schema)
        assert "summary is missing" in text
        assert json.dumps(schema, indent=2) in text
        assert SUBMIT_TOOL in text

    def test_mixed_tools_names_the_calls_and_the_tools_that_stand_alone(self) -> None:
        text = feedback.mixed_tools(
            (SUBMIT_TOOL, "write"), BOTH, interactive=True, conversation=False
        )
        assert "write" in text
        assert REQUEST_INPUT_TOOL in text
        assert ASK_QUESTION_TOOL in text

    @pytest.mark.parametrize(
        ("config", "interactive", "conversation", "named"),
        [
            (BOTH, False, False, []),
            (NO_CHOICES, True, False, [REQUEST_INPUT_TOOL]),
            (NO_FREE_TEXT, True, False, [ASK_QUESTION_TOOL]),
            (BOTH, False, True, [ASK_QUESTION_TOOL]),
        ],
    )
    def test_mixed_tools_names_only_what_the_node_has(
        self, config: ToolConfig, interactive: bool, conversation: bool, named: list[str]
    ) -> None:
        text = feedback.mixed_tools(
            ("read", SUBMIT_TOOL), config, interactive=interactive, conversation=conversation
        )
        asking = [name for name in (REQUEST_INPUT_TOOL, ASK_QUESTION_TOOL) if name in text]
        assert asking == named

    @pytest.mark.parametrize(
        ("reason", "words"),
        [("length", "limit"), ("stream", "connection"), ("unterminated", "middle")],
    )
    def test_truncation_says_which_and_names_each_tool_once(self, reason: str, words: str) -> None:
        text = feedback.truncated(reason, ("write", "bash", "write"))
        assert words in text
        assert "bash, write" in text
        assert "smaller pieces" in text

    def test_truncated_words_name_no_calls(self) -> None:
        assert "calls did not run" not in feedback.truncated("length", ())

    def test_an_invalid_question_hears_the_problem_and_the_ways_that_are_allowed(self) -> None:
        both = feedback.invalid_question("question 1: 'header' is too long", BOTH)
        assert "question 1: 'header' is too long" in both
        assert "'assistant_message'" in both
        assert "'questions'" in both
        free = feedback.invalid_question("structured questions are not available", NO_CHOICES)
        assert REQUEST_INPUT_TOOL in free
        assert ASK_QUESTION_TOOL not in free
        assert REQUEST_INPUT_TOOL not in feedback.invalid_question("x", NO_FREE_TEXT)

    def test_an_unsealed_plan_hears_what_comes_first(self) -> None:
        assert SEAL_PLAN_TOOL in feedback.UNSEALED_PLAN
        assert "run://PLAN.md" in feedback.UNSEALED_PLAN


class TestResults:
    @pytest.mark.parametrize(
        "content",
        [
            feedback.NOT_RUN,
            feedback.NOT_COMPLETED,
            feedback.INTERRUPTED_CALL,
            feedback.UNCERTAIN_CALL,
            feedback.invalid_write(ToolCall("1", "write", {"path": "a"})),
            feedback.unavailable_tool("reed", ["read", "write"]),
        ],
    )
    def test_errors_are_objects_with_an_error(self, content: str) -> None:
        assert list(json.loads(content)) == ["error"]

    def test_unreadable_arguments_say_what_is_wrong_with_them(self) -> None:
        call = ToolCall("1", "bash", {}, arguments_error="not JSON at column 12")
        content = json.loads(feedback.invalid_arguments(call))["error"]
        assert content.startswith("[invalid_args] bash")
        assert "column 12" in content

    def test_an_unknown_tool_gets_the_names_on_offer(self) -> None:
        assert "read, write" in feedback.unavailable_tool("reed", ["read", "write"])
        assert "none" in feedback.unavailable_tool("reed", [])

    def test_a_denial_carries_its_reason_and_forbids_repetition(self) -> None:
        assert "too risky" in feedback.denied_by_person("bash", " too risky ")
        assert "Reason" not in feedback.denied_by_person("bash", None)
        assert "same call" in feedback.denied_by_person("bash", None)
        assert "only read" in feedback.read_only_denial("write")

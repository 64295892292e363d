"""What the engine makes of each kind of reply, and how often it puts up with it."""

from __future__ import annotations

import pytest

from engine.run.state import NodePhase
from engine.vocabulary.errors import (
    PRINTED_CALL,
    EmptyTurn,
    MalformedSubmit,
    MixedToolTurn,
    TransientFailure,
    TruncatedOutput,
)
from engine.vocabulary.events import NodeAwaitingInput, NodeErrored
from engine.vocabulary.messages import (
    AssistantMessage,
    InputRequest,
    MessageTurn,
    Question,
    QuestionOption,
    Reasoning,
    ReasoningPart,
    StructuredInput,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import ASK_QUESTION_TOOL, REQUEST_INPUT_TOOL, SUBMIT_TOOL, ToolResult
from tests.support.engine_driver import ASKING, Reply, World, calls, done, workflow


def one_node(*replies: Reply, **keys: object) -> World:
    flow = workflow(nodes=["a"], defaults=keys)
    return World(flow, {"a": list(replies)}, tools=("read", "write")).start()


def last_feedback(world: World) -> str:
    """The corrective message at the end of the latest request's transcript."""
    item = world.requests[-1].transcript[-1]
    assert isinstance(item, UserMessage)
    return item.content


def structured(*, options: int = 2, header: str = "Scope") -> StructuredInput:
    choices = tuple(QuestionOption(f"Option {i}", f"Number {i}") for i in range(options))
    return StructuredInput((Question("scope", header, "How far?", choices),))


def test_plain_text_of_an_autonomous_node_is_nudged_and_then_it_completes() -> None:
    world = one_node(MessageTurn("I am thinking."), done())

    assert isinstance(world.outcome, RunCompleted)
    transcript = list(world.requests[1].transcript)
    assert transcript[0] == AssistantMessage("I am thinking.")
    assert isinstance(transcript[1], UserMessage)


def test_the_eleventh_text_turn_in_a_row_fails_an_autonomous_node() -> None:
    world = one_node(*[MessageTurn(f"Thought {i}") for i in range(11)])

    assert len(world.requests) == 11
    assert [r.node_id for r in world.needs.retryables] == ["a"]


def test_a_tool_call_starts_the_count_of_text_turns_over() -> None:
    talk = [MessageTurn("Hm.")]
    world = one_node(*talk * 9, calls(("read", {"path": "x"})), *talk * 10, done())

    assert isinstance(world.outcome, RunCompleted)


def test_an_interactive_node_over_the_text_cap_asks_a_person() -> None:
    world = one_node(*[MessageTurn("Well.")] * 11, **ASKING)

    assert [p.node_id for p in world.needs.inputs] == ["a"]
    assert world.needs.inputs[0].question


def test_an_interactive_workflow_node_that_talks_is_nudged_not_paused() -> None:
    world = one_node(MessageTurn("What do you want?"), done(), **ASKING)

    assert isinstance(world.outcome, RunCompleted)
    assert not world.events_of(NodeAwaitingInput)


def test_narrated_writing_is_told_to_write_now() -> None:
    world = one_node(MessageTurn("I'll write the file now."), done())
    other = one_node(MessageTurn("Interesting question."), done())

    assert "write" in last_feedback(world).lower()
    assert last_feedback(world) != last_feedback(other)


def test_narrated_writing_after_a_successful_write_is_told_to_go_on_in_pieces() -> None:
    world = one_node(
        calls(("write", {"path": "x", "content": "1"})),
        MessageTurn("Let me write the rest."),
        done(),
        tools={"approvalMode": "yolo"},
    )
    fresh = one_node(MessageTurn("Let me write the rest."), done())

    assert last_feedback(world) != last_feedback(fresh)


def test_a_conversation_turn_ends_with_plain_text_and_waits() -> None:
    world = one_node(MessageTurn("Hello, what can I do?"), conversationMode=True)

    assert world.needs.inputs[0].question == "Hello, what can I do?"
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    ("failure", "names"),
    [
        (MixedToolTurn((SUBMIT_TOOL, "read")), [SUBMIT_TOOL]),
        (TruncatedOutput("length", ("write",)), ["write"]),
        (MalformedSubmit("'summary' is missing", "schema_violation"), ["summary"]),
        (EmptyTurn("nothing came"), [SUBMIT_TOOL]),
    ],
)
def test_each_protocol_failure_is_explained_three_times_and_then_fails_the_node(
    failure: Reply, names: list[str]
) -> None:
    world = one_node(failure, done())
    assert isinstance(world.outcome, RunCompleted)
    for name in names:
        assert name in last_feedback(world)

    world = one_node(*[failure] * 4)

    assert len(world.requests) == 4
    assert world.engine.phase("a") is NodePhase.FAILED
    assert len(world.events_of(NodeErrored)) == 1


def test_mixed_turn_feedback_names_the_harness_tools_that_the_node_has() -> None:
    mixed = MixedToolTurn((SUBMIT_TOOL, "read"))
    silent = last_feedback(one_node(mixed, done()))
    asking = last_feedback(one_node(mixed, done(), **ASKING))

    assert REQUEST_INPUT_TOOL not in silent
    assert REQUEST_INPUT_TOOL in asking
    assert ASK_QUESTION_TOOL in asking


def test_a_text_turn_does_not_reset_the_count_of_mixed_turns() -> None:
    mixed = MixedToolTurn((SUBMIT_TOOL, "read"))
    world = one_node(mixed, mixed, mixed, MessageTurn("Sorry."), mixed)

    assert world.engine.phase("a") is NodePhase.FAILED


def test_truncation_feedback_never_holds_arguments() -> None:
    world = one_node(TruncatedOutput("length", ("write", "bash", "write")), done())

    text = last_feedback(world)
    assert text.index("bash") < text.index("write")


def test_a_submit_that_is_printed_is_asked_for_again_twice() -> None:
    printed = MalformedSubmit("it was printed", PRINTED_CALL)
    assert isinstance(one_node(printed, printed, done()).outcome, RunCompleted)

    world = one_node(*[printed] * 3)
    assert len(world.requests) == 3
    assert [r.node_id for r in world.needs.retryables] == ["a"]


def test_malformed_submit_feedback_shows_the_schema() -> None:
    world = one_node(MalformedSubmit("not an object", "wrong_envelope"), done())

    assert '"summary"' in last_feedback(world)
    assert "not an object" in last_feedback(world)


def test_an_interactive_node_over_the_empty_cap_asks_and_keeps_its_tools() -> None:
    world = one_node(*[EmptyTurn("nothing")] * 4, **ASKING)

    assert world.needs.inputs[0].node_id == "a"
    assert all(r.allow_user_input for r in world.requests)
    assert REQUEST_INPUT_TOOL in world.requests[-1].offered_harness_tools


def test_an_empty_turn_after_narrated_writing_gets_the_write_nudge() -> None:
    after_talk = one_node(MessageTurn("Writing the report."), EmptyTurn("nothing"), done())
    plain = one_node(EmptyTurn("nothing"), done())

    assert last_feedback(after_talk) != last_feedback(plain)
    assert "write" in last_feedback(after_talk).lower()


def test_a_question_pauses_the_node_and_the_answer_goes_on() -> None:
    world = one_node(InputRequest("Which colour?"), done(), **ASKING)
    pause = world.needs.inputs[0]
    assert (pause.question, pause.label) == ("Which colour?", "A")
    told = world.events_of(NodeAwaitingInput)[0]
    assert (told.pause_id, told.question) == (pause.pause_id, "Which colour?")

    world.apply(world.engine.on_human_input("a", "Blue", 0, pause_id=pause.pause_id))

    assert isinstance(world.outcome, RunCompleted)
    expected: list[TranscriptItem] = [AssistantMessage("Which colour?"), UserMessage("Blue")]
    assert list(world.requests[-1].transcript) == expected


def test_two_questions_in_a_row_pause_twice() -> None:
    world = one_node(InputRequest("First?"), InputRequest("Second?"), done(), **ASKING)
    for answer in ("one", "two"):
        world.apply(world.engine.on_human_input("a", answer, 0))

    assert isinstance(world.outcome, RunCompleted)
    assert [e.question for e in world.events_of(NodeAwaitingInput)] == ["First?", "Second?"]


def test_an_autonomous_node_that_asks_is_told_that_nobody_is_there() -> None:
    world = one_node(InputRequest("Anyone?"), done())

    assert isinstance(world.outcome, RunCompleted)
    assert isinstance(world.requests[1].transcript[-1], UserMessage)


def test_an_interactive_node_may_submit_without_asking() -> None:
    assert isinstance(one_node(done(), **ASKING).outcome, RunCompleted)


def test_a_structured_question_is_carried_by_the_pause_and_a_checkpoint() -> None:
    world = one_node(InputRequest("How far?", structured()), done(), **ASKING)
    assert world.needs.inputs[0].structured_input == structured()

    again = world.restored().start()

    assert again.needs == world.needs


def test_prose_only_is_shown_where_structured_questions_are_off() -> None:
    world = one_node(
        InputRequest("How far?", structured()),
        tools={"allowStructuredUserInput": False},
        **ASKING,
    )

    assert world.needs.inputs[0].structured_input is None


def test_a_structured_only_question_where_they_are_off_is_sent_back() -> None:
    world = one_node(
        InputRequest("", structured()),
        done(),
        tools={"allowStructuredUserInput": False},
        **ASKING,
    )

    assert isinstance(world.outcome, RunCompleted)
    assert REQUEST_INPUT_TOOL in last_feedback(world)


@pytest.mark.parametrize(
    "question",
    [structured(options=1), structured(header="Much too long a header"), StructuredInput(())],
)
def test_a_question_that_breaks_the_rules_is_sent_back(question: StructuredInput) -> None:
    world = one_node(InputRequest("Fine prose.", question), done(), **ASKING)

    assert isinstance(world.outcome, RunCompleted)
    assert not world.events_of(NodeAwaitingInput)


def test_the_fourth_invalid_question_fails_the_node_without_a_pause() -> None:
    world = one_node(*[InputRequest("  ")] * 4, **ASKING)

    assert world.engine.phase("a") is NodePhase.FAILED
    assert not world.events_of(NodeAwaitingInput)


def test_tool_progress_resets_the_count_of_invalid_questions() -> None:
    bad = InputRequest(" ")
    world = one_node(bad, bad, bad, calls(("read", {"path": "x"})), bad, bad, bad, done(), **ASKING)

    assert isinstance(world.outcome, RunCompleted)


def test_a_pause_gives_all_budgets_back() -> None:
    mixed = MixedToolTurn((SUBMIT_TOOL, "read"))
    world = one_node(
        mixed, mixed, mixed, InputRequest("Ok?"), mixed, mixed, mixed, done(), **ASKING
    )
    world.apply(world.engine.on_human_input("a", "yes", 0))

    assert isinstance(world.outcome, RunCompleted)


def test_a_transient_failure_waits_as_long_as_the_policy_says() -> None:
    world = World(workflow(nodes=["a"]), {"a": [TransientFailure("busy")]}, manual=True).start()
    world.reply("a", TransientFailure("busy"))

    wait = world.timers["a"] - world.now
    assert 1.1 <= wait <= 1.5
    assert world.outcome is None


def test_retry_after_is_honoured() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    world.reply("a", TransientFailure("slow down", retry_after_s=20))

    assert world.timers["a"] - world.now >= 20


def test_model_attempts_count_up_and_the_streak_ends_with_a_success() -> None:
    busy = TransientFailure("busy")
    world = one_node(busy, busy, busy, calls(("read", {"path": "x"})), busy, busy, busy, done())

    assert isinstance(world.outcome, RunCompleted)
    attempts = [request.model_attempt for request in world.requests]
    assert attempts == [1, 2, 3, 4, 4, 5, 6, 7]


def test_one_transient_failure_too_many_fails_the_node() -> None:
    world = one_node(*[TransientFailure("busy")] * 4)

    assert world.engine.phase("a") is NodePhase.FAILED
    assert world.needs.retryables[0].error.startswith("transient:")


def test_a_node_in_backoff_holds_nobody_back() -> None:
    world = World(workflow([("b", "c")], nodes=["a"]), manual=True).start()
    world.reply("a", TransientFailure("busy"))
    world.reply("b", done())

    assert set(world.calls) == {"c"}


def test_max_attempts_of_zero_means_no_second_try() -> None:
    flow = workflow(nodes=["a"], settings={"retry_policy": {"max_attempts": 0, "backoff_ms": 1}})
    world = World(flow, {"a": [TransientFailure("busy")]}).start()

    assert world.engine.phase("a") is NodePhase.FAILED


def test_reasoning_is_kept_in_front_of_what_it_led_to() -> None:
    thought = (ReasoningPart("opaque", provider_id="anthropic", data={"signature": "x"}),)
    turn = calls(("read", {"path": "x"}), text="Looking.")
    world = one_node(type(turn)(turn.calls, turn.assistant_message, thought), done())

    transcript = list(world.requests[1].transcript)
    assert transcript[:2] == [Reasoning(thought), AssistantMessage("Looking.")]


def test_the_view_of_a_request_does_not_change_when_the_node_goes_on() -> None:
    world = one_node(calls(("read", {"path": "x"})), done())

    assert len(world.requests[0].transcript) == 0
    assert len(world.requests[1].transcript) == 2
    assert isinstance(world.requests[1].transcript[-1].result, ToolResult)  # type: ignore[union-attr]

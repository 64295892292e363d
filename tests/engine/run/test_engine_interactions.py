"""What people do to a run while it is on: at any time, and never to its harm."""

from __future__ import annotations

import pytest

from engine.run.state import NodePhase
from engine.vocabulary.errors import (
    LiveMessagesDisabled,
    NodeNotActive,
    NodeNotRetryable,
    NoNodeAwaiting,
    PermanentFailure,
    StalePause,
    TransientFailure,
    UnknownMessage,
    UnknownNode,
    WrongNode,
)
from engine.vocabulary.events import ChatMessage, NodeAwaitingInput, NodeInterrupted
from engine.vocabulary.inputs import (
    HumanAnswered,
    MessageEdited,
    MessageQueued,
    MessageWithdrawn,
    RetryAsked,
    Stopped,
    TimerFired,
)
from engine.vocabulary.messages import InputRequest, ResultItem, UserMessage
from engine.vocabulary.report import RunCancelled, RunCompleted
from tests.support.engine_driver import ASKING, Reply, World, calls, done, workflow

READ = ("read", {"path": "x"})


def asking(*ids: str) -> World:
    """Nodes that each wait for an answer."""
    script: dict[str, list[Reply]] = {n: [InputRequest(f"{n}?"), done()] for n in ids}
    return World(workflow(nodes=ids, defaults=ASKING), script).start()


def test_parallel_questions_are_listed_together_and_answered_one_by_one() -> None:
    world = asking("a", "b")
    assert [pending.node_id for pending in world.needs.inputs] == ["a", "b"]

    world.apply(world.engine.on_human_input("b", "yes", 0))

    assert world.engine.phase("b") is NodePhase.DONE
    assert [pending.node_id for pending in world.needs.inputs] == ["a"]
    assert len(world.events_of(NodeAwaitingInput)) == 2


def test_a_question_is_told_while_others_still_work() -> None:
    world = World(workflow(nodes=["a", "b"], defaults=ASKING), manual=True).start()
    step = world.reply("a", InputRequest("a?"))

    assert any(isinstance(event, NodeAwaitingInput) for event in step.events)
    assert world.outcome is None
    world.apply(world.engine.on_human_input("a", "yes", 0))
    assert set(world.calls) == {"a", "b"}


def test_an_answer_to_the_wrong_node_names_the_right_one_and_changes_nothing() -> None:
    world = World(
        workflow(nodes=["a", "b"], defaults=ASKING), {"a": [InputRequest("a?")]}, manual=True
    ).start()
    world.reply("a", InputRequest("a?"))
    before = world.engine.checkpoint()

    with pytest.raises(WrongNode) as caught:
        world.engine.on_human_input("b", "?", 0)
    assert (caught.value.expected, caught.value.got) == ("a", "b")
    with pytest.raises(UnknownNode):
        world.engine.on_human_input("zzz", "?", 0)
    with pytest.raises(StalePause):
        world.engine.on_human_input("a", "?", 0, pause_id="older")
    assert world.engine.checkpoint() == before


def test_an_answer_that_nobody_waits_for_is_refused() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()

    with pytest.raises(NoNodeAwaiting):
        world.engine.on_human_input("a", "?", 0)


def test_the_second_answer_to_a_pause_is_stale() -> None:
    world = World(
        workflow(nodes=["a"], defaults=ASKING), {"a": [InputRequest("a?")]}, manual=True
    ).start()
    world.reply("a", InputRequest("a?"))
    pause_id = world.needs.inputs[0].pause_id
    world.apply(world.engine.on_human_input("a", "one", 0, pause_id=pause_id))

    with pytest.raises(StalePause):
        world.engine.on_human_input("a", "two", 0, pause_id=pause_id)


def test_a_failed_node_is_retried_with_its_transcript_and_all_its_budgets() -> None:
    world = World(
        workflow(nodes=["a"]), {"a": [calls(READ), PermanentFailure("down"), done()]}
    ).start()

    world.apply(world.engine.retry_node("a", 0))

    assert isinstance(world.outcome, RunCompleted)
    assert world.requests[-1].model_attempt == 2
    assert len(world.requests[-1].transcript) == 2


def test_a_retry_with_a_message_ends_with_that_message() -> None:
    world = World(workflow(nodes=["a"]), {"a": [PermanentFailure("down"), done()]}).start()

    world.apply(world.engine.retry_node("a", 0, message="Use the other file."))

    assert world.requests[-1].transcript[-1] == UserMessage("Use the other file.")
    assert world.events_of(ChatMessage)[-1].content == "Use the other file."


def test_only_failed_and_interrupted_nodes_can_be_retried() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()

    for node in ("a", "b"):
        with pytest.raises(NodeNotRetryable):
            world.engine.retry_node(node, 0)


def test_the_attempt_counter_saturates() -> None:
    world = World(workflow(nodes=["a"]), {"a": [PermanentFailure("x"), done()]}).start()
    world.engine.state_of("a").retries = 255

    world.apply(world.engine.retry_node("a", 0))

    assert world.requests[-1].model_attempt == 256


def test_an_interrupted_call_is_cancelled_and_its_late_reply_ignored() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True).start()
    call = world.calls["a"]
    world.apply(world.engine.mark_node_interrupted("a", 0))

    assert world.cancelled == ["a"]
    assert [event.node_id for event in world.events_of(NodeInterrupted)] == ["a"]
    late = world.engine.on_ai_complete("a", call.call, done(), 0)
    assert (late.effects, late.events) == ((), ())
    world.reply("b", done())
    assert [(r.node_id, r.interrupted) for r in world.needs.retryables] == [("a", True)]


def test_interrupting_closes_open_calls_with_errors_and_twice_is_once() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    world.reply("a", calls(READ, ("write", {"path": "x", "content": ""})))
    batch = world.batches["a"]
    world.apply(world.engine.mark_node_interrupted("a", 0))
    before = world.engine.checkpoint()
    transcript = world.engine.state_of("a").transcript
    results = [item.result for item in transcript if isinstance(item, ResultItem)]
    assert [result.is_error for result in results] == [True, True]

    world.apply(world.engine.mark_node_interrupted("a", 0))
    assert world.engine.checkpoint() == before
    assert world.engine.on_tool_results("a", batch.batch_id, (), 0).effects == ()


def test_an_interrupted_node_runs_again_after_a_retry_with_what_it_had() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    world.reply("a", calls(READ))
    world.finish_tools("a")
    world.apply(world.engine.mark_node_interrupted("a", 0))

    world.apply(world.engine.retry_node("a", 0))

    assert len(world.calls["a"].request.transcript) == 2
    world.reply("a", done())
    assert isinstance(world.outcome, RunCompleted)


@pytest.mark.parametrize("state", ["idle", "waiting", "done"])
def test_a_node_that_is_not_at_work_cannot_be_interrupted(state: str) -> None:
    world = World(workflow([("a", "b")], defaults=ASKING), manual=True).start()
    if state == "waiting":
        world.reply("a", InputRequest("?"))
    elif state == "done":
        world.reply("a", done())

    with pytest.raises(NodeNotActive):
        world.engine.mark_node_interrupted("b" if state == "idle" else "a", 0)


def message(text: str, node: str = "a", *, skill: str | None = None) -> MessageQueued:
    return MessageQueued(node, f"m-{text}", text, 0, skill_prompt=skill)


def working() -> World:
    """A node with a running tool that takes messages."""
    world = World(workflow(nodes=["a"], defaults=ASKING), manual=True).start()
    world.reply("a", calls(READ))
    return world


def test_a_live_message_is_delivered_before_the_next_model_call() -> None:
    world = working()
    world.apply(world.engine.feed(message("Look at y too.")))
    assert not world.events_of(ChatMessage)

    world.finish_tools("a")

    assert world.calls["a"].request.transcript[-1] == UserMessage("Look at y too.")
    assert world.events_of(ChatMessage)[-1].content == "Look at y too."


def test_a_queued_message_can_be_edited_and_withdrawn_until_it_is_delivered() -> None:
    world = working()
    for text in ("one", "two"):
        world.engine.feed(message(text))
    world.engine.feed(MessageEdited("m-one", "uno", 0))
    world.engine.feed(MessageWithdrawn("m-two", 0))
    world.finish_tools("a")

    said = [i.content for i in world.calls["a"].request.transcript if isinstance(i, UserMessage)]
    assert said == ["uno"]
    for late in (MessageEdited("m-one", "x", 0), MessageWithdrawn("m-two", 0)):
        with pytest.raises(UnknownMessage):
            world.engine.feed(late)


def test_a_message_that_came_while_the_node_was_about_to_ask_is_the_answer() -> None:
    world = World(workflow(nodes=["a"], defaults=ASKING), manual=True).start()
    world.engine.feed(message("Blue, by the way."))
    world.reply("a", InputRequest("Which colour?"))

    assert world.calls["a"].request.transcript[-1] == UserMessage("Blue, by the way.")
    assert world.outcome is None


def test_a_message_that_came_too_late_is_said_to_be_undelivered() -> None:
    world = World(workflow(nodes=["a"], defaults=ASKING), manual=True).start()
    world.engine.feed(message("Blue, by the way."))
    world.reply("a", done())

    (told,) = world.events_of(ChatMessage)
    assert (told.role, told.node_id) == ("system", "a")
    assert told.content.endswith(": Blue, by the way.")
    assert isinstance(world.outcome, RunCompleted)


def test_a_message_answers_a_waiting_node_and_retries_a_failed_one() -> None:
    world = asking("a")
    world.apply(world.engine.feed(message("Blue")))
    assert isinstance(world.outcome, RunCompleted)

    world = World(workflow(nodes=["a"]), {"a": [PermanentFailure("x"), done()]}).start()
    world.apply(world.engine.feed(message("Again")))
    assert isinstance(world.outcome, RunCompleted)


def test_messages_that_cannot_be_taken_leave_the_run_alone() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()
    before = world.engine.checkpoint()

    with pytest.raises(LiveMessagesDisabled):
        world.engine.feed(message("x"))
    with pytest.raises(NodeNotActive):
        world.engine.feed(message("x", "b"))
    with pytest.raises(UnknownNode):
        world.engine.feed(message("x", "zzz"))
    assert world.engine.checkpoint() == before


def test_a_skill_prompt_is_added_to_the_system_prompt_once() -> None:
    world = working()
    for text in ("one", "two"):
        world.engine.feed(message(text, skill="Write tests first."))
    world.finish_tools("a")

    system = "\n".join(world.calls["a"].request.system_messages)
    assert system.count("Write tests first.") == 1


def test_a_run_in_backoff_can_be_stopped_and_a_late_timer_is_ignored() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    world.reply("a", TransientFailure("busy"))
    world.apply(world.engine.feed(Stopped(0)))

    assert isinstance(world.outcome, RunCancelled)
    assert world.engine.feed(TimerFired("a", 9e9)).effects == ()


def test_a_failed_and_a_waiting_sibling_do_not_disturb_each_other() -> None:
    flow = workflow(nodes=["a", "b"], defaults=ASKING)
    script: dict[str, list[Reply]] = {
        "a": [PermanentFailure("x"), done()],
        "b": [InputRequest("?"), done()],
    }
    world = World(flow, script).start()
    assert (len(world.needs.inputs), len(world.needs.retryables)) == (1, 1)

    world.apply(world.engine.feed(RetryAsked("a", 0)))

    assert len(world.events_of(NodeAwaitingInput)) == 1
    assert [pending.node_id for pending in world.needs.inputs] == ["b"]
    world.apply(world.engine.feed(HumanAnswered("b", "ok", 0)))
    assert isinstance(world.outcome, RunCompleted)

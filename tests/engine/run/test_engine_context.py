"""Requests that would not fit their model are compacted; what a service refuses is cut once."""

from __future__ import annotations

from collections.abc import Sequence

from engine.run.compaction import room_in
from engine.run.token_estimate import estimate_item
from engine.vocabulary.errors import ContextTooLong, TransientFailure
from engine.vocabulary.events import ContextCompacted, NodeErrored
from engine.vocabulary.messages import (
    MessageTurn,
    ResultItem,
    ToolCallsTurn,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ToolCall, ToolResult
from tests.support.engine_driver import ASKING, World, calls, done, workflow
from tests.support.subagent_runs import ask, declare

WINDOW = 6_000
PAGE = "The quick brown fox jumps over the lazy dog and looks for another one.\n" * 60
REFUSED = ContextTooLong("prompt is too long: 9000 tokens > 6000 maximum")


def read(at: int) -> ToolCallsTurn:
    """A call that reads a page."""
    return calls(("read", {"path": f"page-{at}.txt"}))


def page(call: ToolCall) -> ToolResult:
    """A long result, other for each path."""
    return ToolResult(call.id, call.name, f"{call.arguments.get('path')}\n{PAGE}")


def reading(turns: int, window: int | None = WINDOW, **keys: object) -> World:
    """A node that reads many pages, then submits."""
    return World(
        workflow(nodes=["a"], agents={"a": keys}),
        {"a": [*map(read, range(turns)), done()]},
        tool_results=page,
        context_window=lambda model: window if model == "scripted" else None,
    )


def tokens(items: Sequence[TranscriptItem]) -> int:
    """The estimated tokens of a conversation."""
    return sum(map(estimate_item, items))


def results(request: AgentRequest) -> list[str]:
    """The contents of all results in a request."""
    return [i.result.content for i in request.transcript if isinstance(i, ResultItem)]


def test_every_request_fits_and_the_last_results_are_whole() -> None:
    world = reading(14).start()
    assert world.events_of(ContextCompacted)
    for number, request in enumerate(world.requests):
        assert tokens(request.transcript) < room_in(WINDOW)
        assert len(results(request)) == number
        if number:
            assert results(request)[-1].startswith(f"page-{number - 1}.txt\n")
    first = results(world.requests[-1])[0]
    assert first.startswith("[put aside to save context: ")
    assert "page-0.txt" in first


def test_the_whole_of_each_result_is_with_the_host_before_it_is_left_out() -> None:
    world = reading(14).start()
    short = [text for text in results(world.requests[-1]) if text.startswith("[put aside")]
    assert len(short) == len(world.put_aside) > 3
    for line in short:
        artifact = line.partition("artifact:")[2].split()[0]
        assert PAGE in world.put_aside[artifact]
    # The transcript itself has lost nothing.
    assert all(PAGE in result.content for result in world.results())


def test_what_was_compacted_is_told_and_adds_up() -> None:
    world = reading(14).start()
    told = world.events_of(ContextCompacted)
    for event in told:
        assert event.node_id == "a"
        assert event.after < room_in(WINDOW) < event.before
    assert sum(event.items for event in told) == len(world.put_aside)


def test_beginnings_stay_equal_between_compactions() -> None:
    world = reading(30, 16_000).start()
    changed = sum(
        list(later.transcript)[: len(earlier.transcript)] != list(earlier.transcript)
        for earlier, later in zip(world.requests, world.requests[1:], strict=False)
    )
    assert changed == len(world.events_of(ContextCompacted))
    assert 0 < changed < 8


def test_equal_states_give_equal_requests_also_after_a_restore() -> None:
    world = reading(12)
    world.manual = True
    world.start()
    for at in range(10):
        world.reply("a", read(at))
        world.finish_tools("a")
    again = world.restored().start()
    assert list(again.requests[-1].transcript) == list(world.requests[-1].transcript)
    # What the program that ended had not put aside yet is put aside now.
    assert again.put_aside == world.put_aside
    for one in (world, again):
        one.reply("a", read(11))
        one.finish_tools("a")
    assert list(again.requests[-1].transcript) == list(world.requests[-1].transcript)


def test_nothing_is_compacted_where_the_window_is_unknown_or_large() -> None:
    for window in (None, 1_000_000):
        world = reading(14, window).start()
        assert not world.events_of(ContextCompacted)
        assert not world.put_aside
        assert list(world.requests[-1].transcript) == world.engine.state_of("a").transcript


def test_what_people_and_the_model_say_is_never_left_out() -> None:
    question = MessageTurn("Which of the pages do you mean? " * 20)
    world = World(
        workflow(nodes=["a"], agents={"a": {**ASKING, "conversationMode": True}}),
        {"a": [*map(read, range(5)), question, *map(read, range(9)), done()]},
        tool_results=page,
        context_window=lambda model: WINDOW,
    ).start()
    pause = world.needs.inputs[0].pause_id
    answer = "The seventh one, as I said before. " * 20
    world.apply(world.engine.on_human_input("a", answer, world.now, pause_id=pause))
    said = [i.content for i in world.requests[-1].transcript if isinstance(i, UserMessage)]
    assert answer in said
    assert world.requests[-1].task_prompt == "Do your part."
    assert world.events_of(ContextCompacted)


def refusing(*replies: object, turns: int = 8, window: int | None = None) -> World:
    """A node whose service refuses a request after some turns."""
    return World(
        workflow(nodes=["a"]),
        {"a": [*map(read, range(turns)), *replies]},  # type: ignore[list-item]
        tool_results=page,
        context_window=lambda model: window,
    ).start()


def test_a_refusal_compacts_more_sharply_and_goes_again_once() -> None:
    world = refusing(REFUSED, done())
    assert len(world.requests) == 10
    (told,) = world.events_of(ContextCompacted)
    assert told.after <= told.before * 0.6
    assert tokens(world.requests[-1].transcript) < tokens(world.requests[-2].transcript) * 0.6
    assert world.put_aside
    assert results(world.requests[-1])[-1].startswith("page-7.txt\n")
    assert world.engine.is_over


def test_a_second_refusal_fails_the_node_in_clear_words() -> None:
    world = refusing(REFUSED, REFUSED)
    (failed,) = world.events_of(NodeErrored)
    assert "prompt is too long: 9000 tokens > 6000 maximum" in failed.error
    assert "larger context window than 'scripted'" in failed.error
    assert len(world.requests) == 10


def test_with_nothing_to_leave_out_the_node_fails_at_once() -> None:
    world = refusing(REFUSED, turns=1)
    assert len(world.requests) == 2
    assert len(world.events_of(NodeErrored)) == 1


def test_after_a_turn_that_went_well_the_conversation_may_be_cut_again() -> None:
    world = refusing(REFUSED, *map(read, range(6)), REFUSED, TransientFailure("busy"), done())
    assert len(world.events_of(ContextCompacted)) == 2
    assert world.engine.is_over


def test_a_retry_of_a_failed_node_keeps_what_was_compacted() -> None:
    world = refusing(REFUSED, REFUSED, done())
    before = list(world.requests[-1].transcript)
    world.apply(world.engine.retry_node("a", world.now))
    assert list(world.requests[-1].transcript) == before
    assert world.engine.is_over


def test_a_subagents_conversation_is_compacted_like_a_nodes() -> None:
    call = calls(ask("a-subagent-1", "Read all."))
    world = World(
        workflow(nodes=["a"], defaults={"tools": {"approvalMode": "yolo"}}),
        {
            "a": [calls(declare("Reader")), call, call, done()],
            "a/a-subagent-1": [*map(read, range(9)), done(), *map(read, range(3)), done()],
        },
        tool_results=page,
        context_window=lambda model: WINDOW,
    ).start()
    told = world.events_of(ContextCompacted)
    assert told
    assert {event.node_id for event in told} == {"a/a-subagent-1"}
    # Another call of it begins with a conversation of its own.
    last = [r for r in world.requests if r.node_id == "a/a-subagent-1"][-1]
    assert all(PAGE in content for content in results(last))

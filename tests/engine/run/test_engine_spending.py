"""Limits on what a run uses up: warned of, asked about, raised or not, and never at work's cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.budget_answers import read_verdict
from engine.run.state import NodePhase
from engine.vocabulary.errors import StalePause, TransientFailure, UnclearAnswer
from engine.vocabulary.events import (
    Aborted,
    NodeAwaitingInput,
    NodeCompleted,
    NodeErrored,
)
from engine.vocabulary.inputs import HumanAnswered, MessageQueued, Started
from engine.vocabulary.messages import ToolCallsTurn, Usage, UserMessage
from engine.vocabulary.report import PendingInput, RunCancelled, RunCompleted
from engine.vocabulary.spending import (
    Allowance,
    BudgetDecided,
    BudgetWarning,
    SpendingLimits,
    amount_text,
)
from engine.vocabulary.tools import ToolCall
from tests.support.engine_driver import Reply, World, calls, done, workflow
from tests.support.subagent_runs import ask, declare

YOLO = {"tools": {"approvalMode": "yolo"}}


def read(tokens: int = 100, cost: float | None = 0.01) -> ToolCallsTurn:
    """A tool turn that costs something."""
    usage = Usage(tokens - 10, 10, tokens, cost=cost)
    return ToolCallsTurn((ToolCall("", "read", {"path": "a"}),), usage=usage)


def limited(nodes: str = "a", **limits: Allowance) -> World:
    """Nodes that take some turns each, in a run with limits."""
    last = done(usage=Usage(90, 10, 100, cost=0.01))
    script: dict[str, list[Reply]] = {node: [*[read()] * 6, last] for node in nodes}
    return World(
        workflow(nodes=list(nodes), defaults=YOLO), script, limits=SpendingLimits(**limits)
    ).start()


def pending(world: World) -> PendingInput:
    """The one thing that the run waits for."""
    (asked,) = world.needs.inputs
    return asked


def answer(world: World, text: str, pause_id: str | None = None) -> None:
    """Answer the open question."""
    asked = pending(world)
    step = world.engine.feed(
        HumanAnswered(asked.node_id, text, world.now, pause_id=pause_id or asked.pause_id)
    )
    world.apply(step)


@pytest.mark.parametrize(
    ("limit", "measure", "spent"),
    [
        (Allowance(tokens=250), "tokens", 300),
        (Allowance(cost=0.025), "cost", 0.03),
        (Allowance(turns=3), "turns", 3),
    ],
)
@pytest.mark.parametrize("scope", ["run", "node"])
def test_a_used_up_limit_is_asked_about_before_the_next_call(
    limit: Allowance, measure: str, spent: float, scope: str
) -> None:
    world = limited("a", **{scope: limit})
    asked = pending(world)
    assert len(world.requests) == 3
    assert asked.budget is not None
    assert (asked.budget.scope, asked.budget.measure) == (scope, measure)
    assert asked.budget.spent == pytest.approx(spent)
    assert asked.budget.limit == getattr(limit, measure)
    assert asked.pause_id
    assert "Go on with more, or stop?" in asked.question
    (event,) = world.events_of(NodeAwaitingInput)
    assert (event.pause_id, event.budget) == (asked.pause_id, asked.budget)
    # All three turns were paid for and are there.
    assert len(world.results()) == 3


def test_going_on_allows_as_much_again_and_the_model_hears_nothing_of_it() -> None:
    world = limited(run=Allowance(tokens=250))
    answer(world, "Continue")
    # 300 are used up, 550 are allowed now.
    second = pending(world)
    assert len(world.requests) == 6
    assert second.budget is not None
    assert second.budget.limit == 550
    (told,) = world.events_of(BudgetDecided)
    assert (told.verdict, told.limit, told.node_id) == ("continued", 550, "a")
    answer(world, "continue 10,000")
    assert isinstance(world.outcome, RunCompleted)
    said = [i for request in world.requests for i in request.transcript]
    assert not any(isinstance(item, UserMessage) for item in said)


def test_stopping_a_node_fails_it_and_a_retry_asks_again() -> None:
    world = limited(nodes="ab", node=Allowance(turns=7))
    assert isinstance(world.outcome, RunCompleted)
    world = limited(node=Allowance(turns=2))
    first = pending(world)
    answer(world, "Stop")
    (failed,) = world.events_of(NodeErrored)
    assert "limit of 2 turns" in failed.error
    assert world.engine.phase("a") is NodePhase.FAILED
    world.apply(world.engine.retry_node("a", world.now))
    again = pending(world)
    assert again.pause_id != first.pause_id
    answer(world, "continue 100")
    assert isinstance(world.outcome, RunCompleted)
    assert len(world.requests) == 7


def test_stopping_a_run_leaves_it_so_that_it_can_go_on() -> None:
    world = limited(nodes="ab", run=Allowance(turns=5))
    asked = pending(world)
    answer(world, "Stop")
    assert isinstance(world.outcome, RunCancelled)
    assert world.events_of(Aborted)
    again = world.restored().start()
    assert pending(again).pause_id == asked.pause_id
    answer(again, "continue 100")
    assert isinstance(again.outcome, RunCompleted)
    assert len(again.events_of(NodeCompleted)) == 2


def test_all_nodes_that_wait_for_the_runs_limit_ask_one_question() -> None:
    world = limited(nodes="abc", run=Allowance(turns=4))
    asked = world.events_of(NodeAwaitingInput)
    assert {event.node_id for event in asked} == {"a", "b", "c"}
    assert len({event.pause_id for event in asked}) == 1
    pause = pending(world).pause_id
    # Whoever answers it, all go on.
    world.apply(world.engine.on_human_input("c", "continue 100", world.now, pause_id=pause))
    assert isinstance(world.outcome, RunCompleted)
    assert {event.node_id for event in world.events_of(BudgetDecided)} == {"a", "b", "c"}


def test_a_nodes_limit_holds_back_nobody_else() -> None:
    world = World(
        workflow([("a", "c")], nodes=["a", "b", "c"], defaults=YOLO),
        {"a": [read(), done()], "b": [*[read()] * 5, done()], "c": [done()]},
        limits=SpendingLimits(node=Allowance(turns=3)),
    ).start()
    assert {event.node_id for event in world.events_of(NodeCompleted)} == {"a", "c"}
    assert pending(world).node_id == "b"


def test_a_subagents_use_counts_to_its_node_and_it_is_the_one_that_waits() -> None:
    helper = "a/a-subagent-1"
    world = World(
        workflow(nodes=["a"], defaults=YOLO),
        {
            "a": [calls(declare("Ann")), calls(ask("a-subagent-1")), done()],
            helper: [*[read()] * 4, done()],
        },
        limits=SpendingLimits(node=Allowance(turns=4)),
    ).start()
    asked = pending(world)
    assert asked.node_id == helper
    assert asked.budget is not None
    assert (asked.budget.node_id, asked.budget.spent) == ("a", 4)
    again = world.restored().start()
    assert pending(again).pause_id == asked.pause_id
    answer(again, "Continue")
    assert isinstance(again.outcome, RunCompleted)


def test_stopping_at_a_subagents_pause_fails_the_node() -> None:
    world = World(
        workflow(nodes=["a"], defaults=YOLO),
        {
            "a": [calls(declare("Ann")), calls(ask("a-subagent-1")), done()],
            "a/a-subagent-1": [read()] * 4,
        },
        limits=SpendingLimits(node=Allowance(turns=4)),
    ).start()
    answer(world, "Stop")
    assert world.engine.phase("a") is NodePhase.FAILED
    assert len(world.events_of(NodeErrored)) == 1


def test_a_warning_comes_once_for_each_scope_and_measure() -> None:
    world = limited(
        warn_run=Allowance(tokens=150, turns=2), warn_node=Allowance(cost=0.035), nodes="a"
    )
    assert isinstance(world.outcome, RunCompleted)
    warned = world.events_of(BudgetWarning)
    told = [(e.scope, e.measure, round(e.spent, 4), e.limit) for e in warned]
    assert told == [
        ("run", "tokens", 200, 150),
        ("run", "turns", 2, 2),
        ("node", "cost", 0.04, 0.035),
    ]


def test_the_time_of_work_counts_and_waiting_for_a_person_does_not() -> None:
    world = World(
        workflow(nodes=["a"], defaults=YOLO),
        {"a": [done()]},
        manual=True,
        limits=SpendingLimits(node=Allowance(seconds=60), warn_run=Allowance(seconds=50)),
    ).start()
    for _ in range(2):
        assert not world.events_of(BudgetWarning)
        world.now += 20
        world.reply("a", read())
        world.now += 20
        world.finish_tools("a")
    assert [event.spent for event in world.events_of(BudgetWarning)] == [60]
    limit = pending(world).budget
    assert limit is not None
    assert (limit.spent, limit.limit) == (80, 60)
    world.now += 100_000
    answer(world, "continue")
    spent = world.engine.state_of("a").spent
    assert spent is not None
    assert spent.seconds == 80
    again = world.restored()
    again.now += 100_000
    again.start()
    restored = again.engine.state_of("a").spent
    assert restored is not None
    assert restored.seconds == 80


def test_what_nobody_has_counted_is_not_guessed() -> None:
    world = World(
        workflow(nodes=["a"], defaults=YOLO),
        {"a": [*[calls(("read", {}))] * 5, done()]},
        limits=SpendingLimits(run=Allowance(tokens=1, cost=0.0001)),
    ).start()
    assert isinstance(world.outcome, RunCompleted)


def test_a_call_that_failed_for_a_passing_reason_is_no_turn_but_its_tokens_count() -> None:
    failed = TransientFailure("busy", usage=Usage(50, 0, 50))
    world = World(
        workflow(nodes=["a"], defaults=YOLO),
        {"a": [failed, failed, read(), done()]},
        limits=SpendingLimits(run=Allowance(turns=2), warn_run=Allowance(tokens=150)),
    ).start()
    assert isinstance(world.outcome, RunCompleted)
    assert [event.spent for event in world.events_of(BudgetWarning)] == [200]


@pytest.mark.parametrize("text", ["", "what?", "stop and continue", "Read it to me"])
def test_an_unclear_answer_is_refused_and_changes_nothing(text: str) -> None:
    world = limited(run=Allowance(turns=2))
    before = world.engine.checkpoint()
    with pytest.raises(UnclearAnswer):
        world.engine.on_human_input("a", text, world.now)
    with pytest.raises(UnclearAnswer):
        world.engine.feed(MessageQueued("a", "m1", text, world.now, skill_prompt="Be quick."))
    with pytest.raises(StalePause):
        world.engine.on_human_input("a", "continue", world.now, pause_id="other")
    assert world.engine.checkpoint() == before


def test_a_run_that_is_continued_with_a_message_goes_past_the_limit_and_delivers_it() -> None:
    world = limited(run=Allowance(turns=2))
    answer(world, "stop")
    again = world.restored()
    message = MessageQueued("a", "m1", "Mind the details.", again.now)
    again.apply(again.engine.feed(Started(again.now, message)))
    said = [i.content for i in again.requests[-1].transcript if isinstance(i, UserMessage)]
    assert said == ["Mind the details."]


@given(
    st.sampled_from(["run", "node"]),
    st.integers(1, 9),
    st.integers(1, 900),
    st.lists(st.sampled_from(["continue", "continue 7", "yes", "go on"]), max_size=40),
)
def test_however_often_it_pauses_no_turn_is_made_twice_or_lost(
    scope: str, turns: int, tokens: int, answers: list[str]
) -> None:
    world = limited("ab", **{scope: Allowance(turns=turns, tokens=tokens)})
    for text in answers:
        if not isinstance(world.outcome, RunCompleted):
            asked = world.needs.inputs[0]
            world.apply(world.engine.on_human_input(asked.node_id, text, world.now))
    for node in "ab":
        made = [request for request in world.requests if request.node_id == node]
        assert len(made) <= 7
        assert [len(request.transcript) for request in made] == [2 * n for n in range(len(made))]
    if isinstance(world.outcome, RunCompleted):
        assert len(world.requests) == 14


def test_equal_inputs_give_equal_runs_with_limits_too() -> None:
    def played() -> World:
        world = limited(nodes="ab", run=Allowance(turns=4))
        answer(world, "continue 100")
        return world

    one, other = played(), played()
    assert one.events == other.events
    assert one.engine.checkpoint() == other.engine.checkpoint()


@pytest.mark.parametrize(
    ("text", "goes_on", "more"),
    [
        ("Continue", True, None),
        ("Limit: Continue", True, None),
        ("y", True, None),
        ("continue 5000", True, 5000),
        ("12,000", True, 12_000),
        ("0.5 more", True, 0.5),
        ("Stop", False, None),
        ("no", False, None),
    ],
)
def test_answers_as_people_give_them(text: str, goes_on: bool, more: float | None) -> None:
    assert read_verdict(text) == (goes_on, more)


def test_amounts_are_said_in_their_units() -> None:
    assert amount_text("tokens", 12_345) == "12,345 tokens"
    assert amount_text("cost", 0.5) == "$0.5"
    assert amount_text("seconds", 61.4) == "61 seconds"
    assert amount_text("turns", 3) == "3 turns"

"""A run that broke off goes on: what had ended counts, and a person settles what nobody knows."""

from __future__ import annotations

import pytest

from engine.run.feedback import SETTLED_AS_DONE, SETTLED_AS_SKIPPED
from engine.run.state import NodePhase
from engine.vocabulary.errors import NotUncertain
from engine.vocabulary.events import ToolCallSettled, ToolCallUncertain, ToolCompleted
from engine.vocabulary.inputs import NodeInterruptAsked, Started, Stopped, UncertainSettled
from engine.vocabulary.recovery import (
    CallEvidence,
    FileEvidence,
    KnownEnd,
    Sign,
    UncertainChoice,
)
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import FileChangeOp, FileChangeRecord, ToolEffects, ToolResult
from tests.support.engine_driver import World, calls, done, workflow

READ = ("read", {"path": "x"})
WRITE = ("write", {"path": "x", "content": "1"})
FLOW = workflow([("a", "b")], defaults={"tools": {"approvalMode": "yolo"}})


def cut_off(*wanted: tuple[str, dict[str, str]]) -> tuple[World, list[str]]:
    """A run whose program ended while node `a` made these calls; the calls by their ids."""
    world = World(FLOW, manual=True).start()
    world.reply("a", calls(*wanted))
    return world, [admitted.call.id for admitted in world.batches["a"].calls]


def taken_up(
    world: World,
    ends: tuple[KnownEnd, ...] = (),
    evidence: tuple[CallEvidence, ...] | None = (),
) -> World:
    again = world.restored()
    again.apply(again.engine.feed(Started(again.now, ends=ends, evidence=evidence)))
    return again


def settle(world: World, call_id: str, choice: UncertainChoice) -> None:
    world.apply(world.engine.feed(UncertainSettled(call_id, choice, world.now)))


def running(world: World) -> list[str]:
    return [admitted.call.id for admitted in world.batches["a"].calls]


def test_a_call_that_had_ended_is_not_repeated_and_what_it_did_counts() -> None:
    world, (read, write) = cut_off(READ, WRITE)
    change = FileChangeRecord("x", FileChangeOp.CREATE, 1)
    end = KnownEnd(ToolResult(write, "write", "written"), ToolEffects((change,)))

    again = taken_up(world, (end,))
    assert running(again) == [read]
    again.finish_tools("a")
    assert [result.content for result in again.results()][1] == "written"
    again.reply("a", done())

    assert "x" in repr(again.calls["b"].request.input)


def test_a_writing_call_that_had_not_begun_runs() -> None:
    world, (write,) = cut_off(WRITE)

    again = taken_up(world)

    assert running(again) == [write]
    assert not again.engine.waiting().uncertain


def test_where_nobody_looked_every_writing_call_is_uncertain() -> None:
    world, (read, write) = cut_off(READ, WRITE)

    again = taken_up(world, evidence=None)

    assert running(again) == [read]
    assert [call.call_id for call in again.engine.waiting().uncertain] == [write]


def test_a_person_is_shown_the_evidence() -> None:
    world, (write,) = cut_off(WRITE)
    evidence = CallEvidence(write, Sign.CHANGED, (FileEvidence("/x", "1", "2"),))

    again = taken_up(world, evidence=(evidence,))

    (told,) = again.events_of(ToolCallUncertain)
    (asked,) = again.engine.waiting().uncertain
    assert told.call == asked
    assert asked.evidence == evidence
    assert (asked.node_id, asked.path, asked.tool_call.name) == ("a", ("a",), "write")
    assert not again.batches
    assert not again.calls


@pytest.mark.parametrize(
    ("choice", "content", "is_error"),
    [
        (UncertainChoice.DONE, SETTLED_AS_DONE, False),
        (UncertainChoice.SKIP, SETTLED_AS_SKIPPED, True),
    ],
)
def test_a_call_that_a_person_settled_has_a_result(
    choice: UncertainChoice, content: str, is_error: bool
) -> None:
    world, (write,) = cut_off(WRITE)
    again = taken_up(world, evidence=None)

    settle(again, write, choice)

    assert [(r.content, r.is_error) for r in again.results()] == [(content, is_error)]
    assert again.events_of(ToolCallSettled) == [ToolCallSettled("a", write, "write", choice)]
    assert [event.tool_call_id for event in again.events_of(ToolCompleted)] == [write]
    assert again.engine.phase("a") is NodePhase.CALLING


def test_a_call_that_is_to_be_redone_runs_once_more() -> None:
    world, (write,) = cut_off(WRITE)
    again = taken_up(world, evidence=None)

    settle(again, write, UncertainChoice.REDO)
    assert running(again) == [write]
    again.finish_tools("a")

    assert [result.is_error for result in again.results()] == [False]


def test_what_comes_after_an_uncertain_call_waits_for_it() -> None:
    world, (first, second) = cut_off(WRITE, WRITE)

    again = taken_up(world, evidence=(CallEvidence(first),))

    assert not again.batches
    settle(again, first, UncertainChoice.SKIP)
    assert running(again) == [second]


def test_a_call_is_settled_once() -> None:
    world, (write,) = cut_off(WRITE)
    again = taken_up(world, evidence=None)
    settle(again, write, UncertainChoice.DONE)

    with pytest.raises(NotUncertain):
        settle(again, write, UncertainChoice.REDO)
    with pytest.raises(NotUncertain):
        settle(again, "nobody", UncertainChoice.REDO)


def test_an_uncertain_call_stays_one_through_stops_and_further_kills() -> None:
    world, (write,) = cut_off(WRITE)
    again = taken_up(world, evidence=(CallEvidence(write, Sign.UNTOUCHED),))

    killed = taken_up(again, evidence=(CallEvidence(write, Sign.CHANGED),))
    (asked,) = killed.engine.waiting().uncertain
    assert asked.evidence.sign is Sign.CHANGED

    killed.apply(killed.engine.feed(Stopped(killed.now)))
    later = taken_up(killed)
    (asked,) = later.engine.waiting().uncertain
    assert asked.evidence.sign is Sign.CHANGED

    settle(later, write, UncertainChoice.DONE)
    later.reply("a", done())
    later.reply("b", done())
    assert isinstance(later.outcome, RunCompleted)


def test_interrupting_its_node_leaves_no_call_without_a_result() -> None:
    world, (write,) = cut_off(WRITE)
    again = taken_up(world, evidence=None)

    again.apply(again.engine.feed(NodeInterruptAsked("a", again.now)))

    assert not again.engine.waiting().uncertain
    (result,) = again.results()
    assert result.call_id == write
    assert result.is_error
    assert "unknown" in result.content

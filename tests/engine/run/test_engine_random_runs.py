"""Tools, decisions, rules and subagents in any order: what must hold however a run goes."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.run.state import NodePhase
from engine.vocabulary.effects import RunTools, Step
from engine.vocabulary.events import ToolApprovalRequested
from engine.vocabulary.inputs import (
    EngineInput,
    NodePatched,
    RuntimePatch,
    Started,
    Stopped,
)
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    ResultItem,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.tools import (
    ApprovalMode,
)
from tests.support.open_work import OpenWork
from tests.support.random_runs import (
    MODES,
    actors_of,
    check,
    finish,
    new_engine,
    play,
    restored_from,
    wander,
)


def said(items: list[TranscriptItem]) -> list[Any]:
    """A transcript without the ids that differ between two ways to the same end."""
    told: list[Any] = []
    for item in items:
        match item:
            case CallItem(call):
                told.append(("call", call.name, call.arguments))
            case ResultItem(result):
                told.append(("result", result.tool_name, result.content, result.is_error))
            case AssistantMessage(content) | UserMessage(content):
                told.append(content)
    return told


@settings(max_examples=80)
@given(st.data())
def test_any_schedule_keeps_calls_and_results_paired_and_can_be_replayed(
    data: st.DataObject,
) -> None:
    engine, _, fed, steps = play(data, 60)

    recorded = msgspec.json.decode(msgspec.json.encode(fed), type=list[EngineInput])
    again = new_engine()
    assert [again.feed(one) for one in recorded] == steps
    assert again.checkpoint() == engine.checkpoint()


@settings(max_examples=80)
@given(st.data())
def test_a_run_that_is_restored_at_any_point_goes_on_as_it_would_have(data: st.DataObject) -> None:
    engine, open_work, _, _ = play(data, 40)
    if engine.is_over:
        return
    stored = engine.checkpoint()
    uncertain = bool(open_work.batches)
    restored, work_of_restored = restored_from(stored), OpenWork()
    assert restored.checkpoint() == stored
    work_of_restored.note(restored.feed(Started(2)))
    check(restored, work_of_restored)

    finish(restored, work_of_restored)
    finish(engine, open_work)

    ends, others = actors_of(restored), actors_of(engine)
    assert ends.keys() == others.keys()
    assert all(state.phase is NodePhase.DONE for state in ends.values())
    if not uncertain:
        for actor_id, state in ends.items():
            assert said(state.transcript) == said(others[actor_id].transcript)
            assert state.output == others[actor_id].output


@settings(max_examples=100)
@given(st.data())
def test_a_run_that_is_stopped_at_any_point_goes_on_another_day(data: st.DataObject) -> None:
    engine, open_work, _, _ = play(data, 40)
    if engine.is_over:
        return
    kept = [p for p in engine.waiting().approvals if "/".join(p.path) not in open_work.batches]
    open_work.note(engine.feed(Stopped(1)))
    assert not open_work.actors
    check(engine, open_work)

    restored, work_of_restored = restored_from(engine.checkpoint()), OpenWork()
    step = restored.feed(Started(2))
    work_of_restored.note(step)
    told = [e.request for e in step.events if isinstance(e, ToolApprovalRequested)]
    assert sorted(told, key=repr) == sorted(kept, key=repr)
    finish(restored, work_of_restored)

    assert all(state.phase is NodePhase.DONE for state in actors_of(restored).values())


@settings(max_examples=60)
@given(st.data())
def test_a_node_that_becomes_read_only_changes_nothing_from_then_on(data: st.DataObject) -> None:
    engine, open_work, _, _ = play(data, 25)
    if engine.is_over:
        return
    for node in MODES:
        patch = RuntimePatch(approval_mode=ApprovalMode.READ_ONLY)
        open_work.note(engine.feed(NodePatched(node, patch, 1)))
    before = {call.call.id for batch in open_work.batches.values() for call in batch.calls}
    before |= {
        call.call.id
        for state in actors_of(engine).values()
        for call in (state.turn.calls if state.turn is not None else ())
    }

    def take(given_input: EngineInput, step: Step) -> None:
        for effect in step.effects:
            if isinstance(effect, RunTools):
                new = [c.call.name for c in effect.calls if c.call.id not in before]
                assert set(new) <= {"read"}

    wander(data, engine, open_work, 30, take)

"""Any legal sequence of inputs: the table holds, nothing hangs, and a replay gives the same."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.run.state import NodePhase
from engine.run.transitions import TABLE
from engine.vocabulary.errors import (
    CallInterrupted,
    EmptyTurn,
    InteractionError,
    MalformedSubmit,
    MixedToolTurn,
    PermanentFailure,
    RequestFailure,
    TransientFailure,
    TruncatedOutput,
)
from engine.vocabulary.inputs import (
    CallsInspected,
    EngineInput,
    HumanAnswered,
    MessageQueued,
    ModelReplied,
    NodeInterruptAsked,
    RetryAsked,
    Started,
    Stopped,
    TimerFired,
    ToolDecided,
    ToolsFinished,
)
from engine.vocabulary.messages import CallItem, InputRequest, MessageTurn, ResultItem, Usage
from engine.vocabulary.tools import ToolResult
from tests.support.engine_driver import Catalog, Reply, SerialEntropy, calls, done, workflow
from tests.support.open_work import OpenWork

FLOW = workflow(
    [("a", "c"), ("b", "c"), ("c", "d")],
    agents={"b": {"requestUserInput": True}, "d": {"conversationMode": True}},
)
REPLIES: list[Reply] = [
    done("x", usage=Usage(3, 4, 7)),
    done("y"),
    calls(("read", {"path": "x"})),
    calls(("read", {"path": "x"}), ("write", {"path": "x", "content": "1"})),
    calls(("write", {"path": "x"}), ("nothing", {})),
    MessageTurn("Hm."),
    InputRequest("Which?"),
    InputRequest(""),
    EmptyTurn("empty"),
    MixedToolTurn(("read",)),
    MalformedSubmit("no", "wrong_envelope"),
    TruncatedOutput("length", ("write",)),
    TransientFailure("busy"),
    PermanentFailure("no"),
    RequestFailure("bad"),
    CallInterrupted(),
]


def new_engine(flow: Workflow = FLOW) -> InteractiveEngine:
    return InteractiveEngine(
        flow, run_id="run", entropy=SerialEntropy(), catalog=Catalog("read", "write")
    )


def next_input(data: st.DataObject, open_work: OpenWork, engine: InteractiveEngine) -> EngineInput:
    nodes = st.sampled_from("abcd")
    choices: list[Any] = []
    choices += [("reply", node) for node in sorted(open_work.calls)] * 4
    choices += [("tools", node) for node in sorted(open_work.batches)] * 4
    choices += [("inspect", node) for node in sorted(open_work.inspections)] * 4
    choices += [("timer", node) for node in sorted(open_work.timers)] * 2
    choices += [("decide", p.approval_id) for p in engine.waiting().approvals] * 2
    choices += [("answer", ""), ("retry", ""), ("interrupt", ""), ("message", "")]
    kind, name = data.draw(st.sampled_from(choices))
    match kind:
        case "reply":
            call = open_work.calls.pop(name)
            return ModelReplied(name, call.call, data.draw(st.sampled_from(REPLIES)), 1)
        case "tools":
            batch = open_work.batches.pop(name)
            some = batch.calls[: data.draw(st.integers(0, len(batch.calls)))]
            results = tuple(ToolResult(c.call.id, c.call.name, "r") for c in some)
            return ToolsFinished(name, batch.batch_id, results, 1)
        case "inspect":
            return CallsInspected(name, open_work.inspections.pop(name).batch_id, (), 1)
        case "timer":
            open_work.timers.pop(name)
            return TimerFired(name, 1)
        case "decide":
            return ToolDecided(name, data.draw(st.booleans()), 1)
        case "answer":
            return HumanAnswered(data.draw(nodes), "yes", 1)
        case "retry":
            return RetryAsked(data.draw(nodes), 1)
        case "interrupt":
            return NodeInterruptAsked(data.draw(nodes), 1)
        case _:
            return MessageQueued(data.draw(nodes), str(data.draw(st.integers(0, 9**9))), "m", 1)


def check(engine: InteractiveEngine, open_work: OpenWork, before: dict[str, NodePhase]) -> None:
    for node in "abcd":
        state = engine.state_of(node)
        at_work = state.phase in {NodePhase.CALLING, NodePhase.BACKOFF} or (
            state.turn is not None and (state.turn.batch_id or state.turn.inspection_id) != ""
        )
        assert at_work == (node in open_work.actors)
        called = [i.call.id for i in state.transcript if isinstance(i, CallItem)]
        answered = [i.result.call_id for i in state.transcript if isinstance(i, ResultItem)]
        open_calls = [c.call.id for c in state.turn.calls] if state.turn is not None else []
        assert called == answered + open_calls
    idle = not open_work.actors
    assert (open_work.finished is not None) == (idle or engine.is_over)


@settings(max_examples=80)
@given(st.data())
def test_any_sequence_of_inputs_keeps_the_table_and_can_be_replayed(data: st.DataObject) -> None:
    engine, open_work = new_engine(), OpenWork()
    fed: list[EngineInput] = [Started(1)]
    steps = [engine.feed(fed[0])]
    open_work.note(steps[0])
    for _ in range(data.draw(st.integers(0, 40))):
        if engine.is_over:
            break
        given_input = next_input(data, open_work, engine)
        before = {node: engine.phase(node) for node in "abcd"}
        stored = engine.checkpoint()
        try:
            step = engine.feed(given_input)
        except InteractionError:
            assert engine.checkpoint() == stored
            continue
        fed.append(given_input)
        steps.append(step)
        open_work.note(step)
        row = TABLE.get((before[getattr(given_input, "node_id", "a")], type(given_input)))
        if row is not None and hasattr(given_input, "node_id") and not engine.is_over:
            assert engine.phase(given_input.node_id) in row.leads_to
        check(engine, open_work, before)

    encoded = msgspec.json.encode(fed)
    again = new_engine()
    recorded = msgspec.json.decode(encoded, type=list[EngineInput])
    assert [again.feed(one) for one in recorded] == steps
    assert again.checkpoint() == engine.checkpoint()


@settings(max_examples=60)
@given(st.data())
def test_a_run_that_is_stopped_and_restored_anywhere_can_still_complete(
    data: st.DataObject,
) -> None:
    engine, open_work = new_engine(), OpenWork()
    open_work.note(engine.feed(Started(1)))
    for _ in range(data.draw(st.integers(0, 25))):
        if engine.is_over:
            break
        try:
            open_work.note(engine.feed(next_input(data, open_work, engine)))
        except InteractionError:
            continue
    if engine.is_over:
        return
    if data.draw(st.booleans()):
        engine.feed(Stopped(1))

    restored = InteractiveEngine.restore(
        engine.checkpoint(), FLOW, entropy=SerialEntropy(), catalog=Catalog("read", "write")
    )
    open_work = OpenWork()
    open_work.note(restored.feed(Started(2)))
    for _ in range(60):
        if restored.is_over:
            break
        open_work.note(restored.feed(helpful_input(open_work, restored)))

    assert all(restored.phase(node) is NodePhase.DONE for node in "abcd")


def helpful_input(open_work: OpenWork, engine: InteractiveEngine) -> EngineInput:
    """What somebody who wants the run to complete does next."""
    if open_work.calls:
        node, call = open_work.calls.popitem()
        return ModelReplied(node, call.call, done(), 2)
    if open_work.batches:
        node, batch = open_work.batches.popitem()
        return ToolsFinished(node, batch.batch_id, (), 2)
    if open_work.inspections:
        node, looked_up = open_work.inspections.popitem()
        return CallsInspected(node, looked_up.batch_id, (), 2)
    if open_work.timers:
        return TimerFired(open_work.timers.popitem()[0], 2)
    waiting = engine.waiting()
    if waiting.approvals:
        return ToolDecided(waiting.approvals[0].approval_id, False, 2)
    if waiting.inputs:
        return HumanAnswered(waiting.inputs[0].node_id, "go", 2)
    return RetryAsked(waiting.retryables[0].node_id, 2)

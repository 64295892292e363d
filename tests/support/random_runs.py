"""Runs with tools, decisions, rules and subagents in any order, and what must hold in all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from engine.graph.agents import CallableAgent
from engine.graph.node_config import NodeToolConfig
from engine.run.approval_policy import Verdict, call_digest, decide, tier_of_call
from engine.run.approval_rules import allows
from engine.run.interactive_engine import InteractiveEngine
from engine.run.state import NodePhase, NodeState
from engine.vocabulary.effects import NOTHING, CancelWork, RunTools, Step
from engine.vocabulary.errors import (
    CallInterrupted,
    EmptyTurn,
    InteractionError,
    MalformedSubmit,
    PermanentFailure,
    TransientFailure,
)
from engine.vocabulary.events import ToolApprovalRequested, ToolApproved
from engine.vocabulary.inputs import (
    CallsInspected,
    EngineInput,
    HumanAnswered,
    ModelReplied,
    NodeInterruptAsked,
    RetryAsked,
    Started,
    TimerFired,
    ToolDecided,
    ToolsFinished,
    UncertainSettled,
)
from engine.vocabulary.messages import (
    CallItem,
    MessageTurn,
    ResultItem,
    Usage,
)
from engine.vocabulary.recovery import UncertainChoice
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    ApprovalMode,
    ApprovalRule,
    CallInspection,
    ToolResult,
)
from tests.support.engine_driver import (
    SUMMARY_SCHEMA,
    Catalog,
    Reply,
    SerialEntropy,
    calls,
    done,
    workflow,
)
from tests.support.open_work import OpenWork

MODES = {"a": "yolo", "b": "write", "c": "always_ask", "d": "read_only"}
FLOW = workflow(
    [("a", "c"), ("b", "c"), ("b", "d")],
    agents={
        node: {"tools": {"approvalMode": mode}, "allowAllCallableAgents": True}
        for node, mode in MODES.items()
    },
)
AGENTS = {
    "careful": CallableAgent(
        id="careful",
        name="Careful",
        output_schema=SUMMARY_SCHEMA,
        tools=NodeToolConfig(approval_mode=ApprovalMode.ALWAYS_ASK),
    ),
    "bold": CallableAgent(
        id="bold",
        name="Bold",
        model="other",
        output_schema=SUMMARY_SCHEMA,
        tools=NodeToolConfig(approval_mode=ApprovalMode.YOLO),
    ),
}
READ = ("read", {"path": "x"})
WRITE = ("write", {"path": "x", "content": "1"})
BASH = ("bash", {"command": "make"})
LISTING = ("bash", {"command": "ls"})
DECLARE = (DECLARE_SUBAGENTS_TOOL, {"subagents": [{"name": "Ann", "purpose": "to count"}]})


def ask(subagent_id: str) -> tuple[str, dict[str, Any]]:
    return CALL_SUBAGENT_TOOL, {"subagent_id": subagent_id, "input": "Count."}


TOOL_TURNS: list[Reply] = [
    calls(READ, WRITE),
    calls(WRITE, BASH, READ),
    calls(LISTING, WRITE),
]
DELEGATIONS: list[Reply] = [
    calls(DECLARE),
    calls(DECLARE, ask("a-subagent-1"), ask("b-subagent-1")),
    calls(ask("careful"), ask("bold"), ask("careful")),
    calls(ask("bold")),
    calls(READ, ask("bold"), WRITE, ask("nobody")),
]
OTHERS: list[Reply] = [
    done("x", usage=Usage(3, 4, 7)),
    MessageTurn("Hm."),
    EmptyTurn("empty"),
    MalformedSubmit("no", "wrong_envelope"),
    TransientFailure("busy"),
    PermanentFailure("no"),
    CallInterrupted(),
]
OF_NODES = st.one_of(*map(st.sampled_from, (DELEGATIONS, DELEGATIONS, TOOL_TURNS, OTHERS)))
OF_SUBAGENTS = st.one_of(*map(st.sampled_from, (TOOL_TURNS, TOOL_TURNS, OTHERS, DELEGATIONS)))


def new_engine() -> InteractiveEngine:
    return InteractiveEngine(
        FLOW,
        run_id="run",
        entropy=SerialEntropy(),
        catalog=Catalog("read", "write", "bash"),
        agents=AGENTS,
    )


def restored_from(data: bytes) -> InteractiveEngine:
    return InteractiveEngine.restore(
        data, FLOW, entropy=SerialEntropy(), catalog=Catalog("read", "write", "bash")
    )


def actors_of(engine: InteractiveEngine) -> dict[str, NodeState]:
    state = engine._run.state
    return {**state.nodes, **state.subagents}


class Ledger:
    """What people were asked and said, kept apart from the engine."""

    def __init__(self) -> None:
        self.asked: dict[str, PendingApproval] = {}
        self.allowed: set[str] = set()
        self.rules: list[ApprovalRule] = []

    def note(self, given_input: EngineInput, step: Step) -> None:
        if isinstance(given_input, ToolDecided) and given_input.allow:
            self.allowed.add(given_input.approval_id)
            rule = self.asked[given_input.approval_id].rule
            if given_input.for_run and rule is not None:
                self.rules += rule.rules
        for event in step.events:
            if isinstance(event, ToolApprovalRequested):
                self.asked[event.request.approval_id] = event.request
            elif isinstance(event, ToolApproved) and event.approval_id not in self.allowed:
                assert allows(self.rules, self.asked[event.approval_id].tool_call)
        for effect in step.effects:
            if isinstance(effect, RunTools):
                for admitted in effect.calls:
                    self._check(effect, admitted.call.id)

    def _check(self, batch: RunTools, call_id: str) -> None:
        """Nothing runs but what the mode, a rule or a person allows, as it was shown to them."""
        admitted = next(a for a in batch.calls if a.call.id == call_id)
        call = admitted.call
        if admitted.is_bound:
            shown = [p for p in self.asked.values() if p.tool_call.id == call_id][-1]
            assert shown.approval_id in self.allowed
            assert admitted.digest == shown.digest
            assert (shown.node_id, shown.path) == (batch.path[0], batch.path)
            return
        assert admitted.digest == call_digest(batch.path, call.name, call.arguments)
        definition = Catalog("read", "write", "bash").definition(call.name)
        tier = tier_of_call(definition, call)
        order = ["read_only", "always_ask", "write", "yolo"]
        modes = [ApprovalMode(MODES[batch.path[0]])]
        if batch.path[1:] in {("careful",), ("bold",)}:
            modes.append(AGENTS[batch.path[1]].tools.effective().approval_mode)
        strictest = min(modes, key=order.index)
        assert decide(strictest, tier) is Verdict.AUTO_ALLOW or allows(self.rules, call)


def next_input(data: st.DataObject, open_work: OpenWork, engine: InteractiveEngine) -> EngineInput:
    choices: list[tuple[str, str]] = []
    for kind, actors in (
        ("reply", open_work.calls),
        ("tools", open_work.batches),
        ("inspect", open_work.inspections),
        ("timer", open_work.timers),
    ):
        choices += [(kind, actor) for actor in sorted(actors)] * 4
    choices += [("decide", p.approval_id) for p in engine.waiting().approvals] * 3
    choices += [("interrupt", actor) for actor in sorted(actors_of(engine))]
    choices += [("retry", node) for node in MODES] + [("answer", node) for node in MODES]
    kind, name = data.draw(st.sampled_from(choices))
    match kind:
        case "reply":
            call = open_work.calls.pop(name)
            replies = OF_SUBAGENTS if "/" in name else OF_NODES
            return ModelReplied(name, call.call, data.draw(replies), 1)
        case "tools":
            batch = open_work.batches.pop(name)
            some = batch.calls[: data.draw(st.integers(0, len(batch.calls)))]
            drifted = data.draw(st.booleans())
            results = [ToolResult(c.call.id, c.call.name, "r", drifted=drifted) for c in some]
            return ToolsFinished(name, batch.batch_id, tuple(results), 1)
        case "inspect":
            looked_up = open_work.inspections.pop(name)
            version = data.draw(st.sampled_from("12"))
            found = [CallInspection(call.id, (f"/x@{version}",)) for call in looked_up.calls]
            return CallsInspected(name, looked_up.batch_id, tuple(found), 1)
        case "timer":
            open_work.timers.pop(name)
            return TimerFired(name, 1)
        case "decide":
            allow, for_run = data.draw(st.booleans()), data.draw(st.booleans())
            return ToolDecided(name, allow, 1, for_run=for_run)
        case "interrupt":
            return NodeInterruptAsked(name, 1)
        case "retry":
            return RetryAsked(name, 1)
        case _:
            return HumanAnswered(name, "yes", 1)


def check(engine: InteractiveEngine, open_work: OpenWork) -> None:
    actors = actors_of(engine)
    for actor_id, state in actors.items():
        called = [i.call.id for i in state.transcript if isinstance(i, CallItem)]
        answered = [i.result.call_id for i in state.transcript if isinstance(i, ResultItem)]
        in_turn = [c.call.id for c in state.turn.calls] if state.turn is not None else []
        assert called == answered + in_turn, "each call has one result, in call order"
        assert (state.turn is not None) == (state.phase is NodePhase.TOOLS)
        if engine.is_over:
            continue
        moves = state.phase in {NodePhase.CALLING, NodePhase.BACKOFF} or (
            state.turn is not None and bool(state.turn.batch_id or state.turn.inspection_id)
        )
        assert moves == (actor_id in open_work.actors)
    for subagent_id, state in engine._run.state.subagents.items():
        delegation = state.delegation
        assert delegation is not None
        turn = actors[delegation.node_id].turn
        working = [
            c for c in (turn.calls if turn else ()) if c.actor_id == subagent_id and not c.result
        ]
        assert len(working) == (state.phase is not NodePhase.DONE)
    if not engine.is_over:
        assert (open_work.finished is not None) == (not open_work.actors)
        asked = {p.approval_id for p in engine.waiting().approvals}
        assert asked == set(engine._run.approvals)


def answers_that_come_too_late(before: OpenWork, step: Step) -> list[EngineInput]:
    """Answers to what a step cancelled, which may be on their way already."""
    late: list[EngineInput] = []
    for effect in step.effects:
        if not isinstance(effect, CancelWork):
            continue
        actor = effect.node_id
        if actor in before.calls:
            late.append(ModelReplied(actor, before.calls[actor].call, done(), 1))
        if actor in before.batches:
            late.append(ToolsFinished(actor, before.batches[actor].batch_id, (), 1))
        if actor in before.inspections:
            late.append(CallsInspected(actor, before.inspections[actor].batch_id, (), 1))
    return late


def play(
    data: st.DataObject, at_most: int
) -> tuple[InteractiveEngine, OpenWork, list[EngineInput], list[Step]]:
    """A run with up to so many inputs of any kind; gives what was taken and what came of it."""
    engine, open_work, ledger = new_engine(), OpenWork(), Ledger()
    fed: list[EngineInput] = [Started(1)]
    steps = [engine.feed(fed[0])]
    open_work.note(steps[0])

    def take(given_input: EngineInput, step: Step) -> None:
        fed.append(given_input)
        steps.append(step)
        ledger.note(given_input, step)

    wander(data, engine, open_work, at_most, take)
    return engine, open_work, fed, steps


def wander(
    data: st.DataObject,
    engine: InteractiveEngine,
    open_work: OpenWork,
    at_most: int,
    take: Callable[[EngineInput, Step], None],
) -> None:
    """Feed up to so many inputs of any kind, and show each that was taken with its step."""
    late: list[EngineInput] = []
    for _ in range(data.draw(st.integers(0, at_most))):
        if engine.is_over:
            break
        given_input = next_input(data, open_work, engine)
        stored = engine.checkpoint()
        try:
            step = engine.feed(given_input)
        except InteractionError:
            assert engine.checkpoint() == stored
            continue
        late += answers_that_come_too_late(open_work, step)
        open_work.note(step)
        take(given_input, step)
        check(engine, open_work)
        stored = engine.checkpoint()
        for answer in late[-3:]:
            assert engine.feed(answer) == NOTHING
        assert engine.checkpoint() == stored


def finish(engine: InteractiveEngine, open_work: OpenWork) -> None:
    """Everything goes well from here on, and every approval is denied."""
    for _ in range(400):
        if engine.is_over:
            break
        open_work.note(engine.feed(helpful_input(open_work, engine)))
        check(engine, open_work)
    assert engine.is_over


def helpful_input(open_work: OpenWork, engine: InteractiveEngine) -> EngineInput:
    if open_work.inspections:
        actor = min(open_work.inspections)
        return CallsInspected(actor, open_work.inspections.pop(actor).batch_id, (), 2)
    if open_work.batches:
        actor = min(open_work.batches)
        batch = open_work.batches.pop(actor)
        results = tuple(ToolResult(c.call.id, c.call.name, "fine") for c in batch.calls)
        return ToolsFinished(actor, batch.batch_id, results, 2)
    if open_work.timers:
        actor = min(open_work.timers)
        del open_work.timers[actor]
        return TimerFired(actor, 2)
    if open_work.calls:
        actor = min(open_work.calls)
        return ModelReplied(actor, open_work.calls.pop(actor).call, done(actor), 2)
    waiting = engine.waiting()
    if waiting.approvals:
        return ToolDecided(waiting.approvals[0].approval_id, False, 2)
    if waiting.uncertain:
        return UncertainSettled(waiting.uncertain[0].call_id, UncertainChoice.SKIP, 2)
    return RetryAsked(waiting.retryables[0].node_id, 2)

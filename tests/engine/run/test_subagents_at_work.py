"""Subagents at work: the rules of nodes hold for them, and their end is their caller's result."""

from __future__ import annotations

import pytest

from engine.graph.agents import CallableAgent
from engine.graph.node_config import NodeToolConfig
from engine.run.approval_policy import call_digest
from engine.run.state import NodePhase, SubagentStatus
from engine.run.subagents import Done, NeedAi, NeedDecision, NeedTools, step_of
from engine.vocabulary.effects import CallModel
from engine.vocabulary.errors import (
    EmptyTurn,
    LiveMessagesDisabled,
    MalformedSubmit,
    MixedToolTurn,
    NodeNotRetryable,
    PermanentFailure,
    TransientFailure,
    TruncatedOutput,
)
from engine.vocabulary.events import (
    NodeCompleted,
    NodeErrored,
    NodeQueued,
    SubagentCompleted,
    SubagentFailed,
    SubagentStarted,
    ToolApprovalRequested,
    ToolCallProposed,
    ToolCompleted,
    ToolStarted,
    UsageReported,
)
from engine.vocabulary.inputs import MessageQueued, Started
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    InputRequest,
    MessageTurn,
    ResultItem,
    Usage,
    UserMessage,
)
from engine.vocabulary.recovery import KnownEnd
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    ApprovalMode,
    FileChangeOp,
    FileChangeRecord,
    ReadRecord,
    ToolEffects,
    ToolResult,
)
from tests.support.engine_driver import Reply, calls, done
from tests.support.subagent_runs import (
    CAREFUL,
    COUNTER,
    HELPER,
    READ,
    SCHEMA,
    WRITE,
    answer,
    ask,
    declare,
    run,
    with_helper,
)


def test_calls_inside_are_recorded_before_their_results_and_told_under_the_actor() -> None:
    world = with_helper(calls(READ, WRITE, text="Looking."), done())

    items = world.engine.state_of(HELPER).transcript
    kinds = [type(item) for item in items]
    assert kinds == [UserMessage, AssistantMessage, CallItem, CallItem, ResultItem, ResultItem]
    proposed = [e for e in world.events_of(ToolCallProposed) if e.node_id == HELPER]
    assert [(e.label, e.tool_call.name) for e in proposed] == [("Ann", "read"), ("Ann", "write")]


def test_the_events_of_a_call_in_order() -> None:
    world = with_helper(done("x"))
    kinds = (ToolStarted, ToolCompleted, NodeQueued, NodeCompleted)
    subs = (SubagentStarted, SubagentCompleted)
    told = [
        (type(e).__name__, e.node_id)
        for e in world.events
        if isinstance(e, (*kinds, *subs)) and "Declare" not in repr(e)
    ][-7:]
    assert told == [
        ("ToolStarted", "a"),
        ("SubagentStarted", "a"),
        ("NodeQueued", HELPER),
        ("NodeCompleted", HELPER),
        ("SubagentCompleted", "a"),
        ("ToolCompleted", "a"),
        ("NodeCompleted", "a"),
    ]


def test_a_writing_call_of_a_subagent_is_asked_about_with_its_path() -> None:
    world = run(manual=True, agents=(CAREFUL,))
    world.reply("a", calls(ask("careful")))
    world.reply("a/careful", calls(READ, WRITE))
    assert [c.call.name for c in world.batches["a/careful"].calls] == ["read"]
    world.finish_inspection("a/careful")

    (event,) = world.events_of(ToolApprovalRequested)
    request = event.request
    assert (request.path, request.node_id, request.node_label) == (("a", "careful"), "a", "A")
    assert request.digest == call_digest(("a", "careful"), "write", WRITE[1])
    world.finish_tools("a/careful")
    assert world.needs.approvals == (request,)

    world.decide(request.approval_id)
    batch = world.batches["a/careful"]
    assert (batch.path, batch.calls[0].digest) == (("a", "careful"), request.digest)


@pytest.mark.parametrize(
    ("of_node", "of_agent", "happens"),
    [
        ("yolo", "yolo", "runs"),
        ("yolo", "write", "asks"),
        ("write", "yolo", "asks"),
        ("yolo", "read_only", "denied"),
        ("always_ask", "write", "asks"),
    ],
)
def test_the_stricter_mode_of_caller_and_agent_counts(
    of_node: str, of_agent: str, happens: str
) -> None:
    agent = CallableAgent(
        id="it",
        name="It",
        output_schema=SCHEMA,
        tools=NodeToolConfig(approval_mode=ApprovalMode(of_agent)),
    )
    world = run(manual=True, agents=(agent,), mode=of_node)
    world.reply("a", calls(ask("it")))
    if world.inspections:
        world.finish_inspection("a")
        approval_id = world.needs.approvals[0].approval_id
        world.decide(approval_id)
    world.reply("a/it", calls(WRITE))

    assert ("a/it" in world.batches) is (happens == "runs")
    assert ("a/it" in world.inspections) is (happens == "asks")
    assert ("a/it" in world.calls) is (happens == "denied")


def test_a_rule_of_the_run_holds_inside_subagents() -> None:
    world = run(mode="write", manual=True)
    world.reply("a", calls(WRITE, declare("Ann")))
    world.finish_inspection("a")
    for asked in world.needs.approvals:
        world.decide(asked.approval_id, for_run=True)
        if world.batches:
            world.finish_tools("a")
    world.reply("a", calls(ask("a-subagent-1")))
    world.finish_inspection("a")
    asked = world.needs.approvals[0]
    world.decide(asked.approval_id)
    world.reply(HELPER, calls(WRITE))
    assert HELPER in world.batches


def test_a_new_rule_admits_what_waits_inside_subagents() -> None:
    nodes = {"b": {"tools": {"approvalMode": "write"}}}
    world = run(manual=True, agents=(CAREFUL,), nodes=nodes, edges=(("z", "y"), ("b", "y")))
    world.reply("a", calls(ask("careful")))
    world.reply("a/careful", calls(WRITE))
    world.reply("b", calls(WRITE))
    for actor in ("a/careful", "b"):
        world.finish_inspection(actor)
    world.decide(world.asked[1].approval_id, for_run=True)

    (admitted,) = world.batches["a/careful"].calls
    assert admitted.digest == call_digest(("a", "careful"), "write", WRITE[1])


@pytest.mark.parametrize(
    "wrong",
    [
        MalformedSubmit("no", "wrong_envelope"),
        MixedToolTurn(("read",)),
        TruncatedOutput("length", ("write",)),
        EmptyTurn("empty"),
        MessageTurn("Hm."),
        InputRequest("Which?"),
        TransientFailure("busy"),
    ],
)
def test_the_budgets_of_nodes_hold_for_subagents(wrong: Reply) -> None:
    world = with_helper(wrong, done("x"))
    assert answer(world)["output"] == {"summary": "x"}

    world = with_helper(*[wrong] * 11)
    assert isinstance(world.outcome, RunCompleted)
    assert set(answer(world)) == {"error"}
    assert world.results()[-1].is_error
    (failed,) = world.events_of(SubagentFailed)
    assert (failed.node_id, failed.subagent_id) == ("a", "a-subagent-1")
    assert world.events_of(NodeErrored) == []


def test_a_subagent_has_fifty_turns() -> None:
    world = with_helper(*[calls(READ)] * 50)

    assert isinstance(world.outcome, RunCompleted)
    assert "50 turns" in answer(world)["error"]
    assert len([r for r in world.requests if r.node_id == HELPER]) == 50
    assert len(world.results(HELPER)) == 50


def test_a_call_that_is_made_again_after_a_backoff_is_no_turn_of_its_own() -> None:
    world = with_helper(TransientFailure("busy"), *[calls(READ)] * 49, done("x"))
    assert answer(world)["output"] == {"summary": "x"}


def test_a_subagent_that_failed_cannot_be_called_again_and_one_that_answered_can() -> None:
    script: dict[str, list[Reply]] = {
        "a": [
            calls(declare("Ann", "Bob")),
            calls(ask("a-subagent-1"), ask("a-subagent-2")),
            calls(ask("a-subagent-1"), ask("a-subagent-2")),
            done(),
        ],
        HELPER: [PermanentFailure("no")],
        "a/a-subagent-2": [done("1"), done("2")],
    }
    world = run(script)
    assert [r.is_error for r in world.results()] == [False, True, False, True, False]
    assert "cannot be called again: it is failed" in world.results()[3].content


def test_usage_counts_to_the_caller_and_in_the_report() -> None:
    script: dict[str, list[Reply]] = {
        "a": [calls(declare("Ann")), calls(ask("a-subagent-1")), done(usage=Usage(10, 1, 11))],
        HELPER: [done(usage=Usage(5, 2, 7))],
    }
    world = run(script)

    told = [(e.node_id, e.parent_id, e.model) for e in world.events_of(UsageReported)]
    assert told == [(HELPER, "a", "scripted"), ("a", None, "scripted")]
    assert isinstance(world.outcome, RunCompleted)
    assert world.outcome.report.usage == Usage(15, 3, 18)
    assert [output.node_id for output in world.outcome.report.outputs] == ["a"]


def test_what_a_subagent_changes_and_reads_counts_to_its_node() -> None:
    world = with_helper(manual=True, edges=(("a", "b"),))
    world.reply(HELPER, calls(READ))
    effects = ToolEffects(
        (FileChangeRecord("z.py", FileChangeOp.UPDATE, 1, batch_id="one"),),
        (ReadRecord("x", "outline"),),
        ("x",),
    )
    batch_id = world.batches.pop(HELPER).batch_id
    world.apply(world.engine.on_tool_results(HELPER, batch_id, (), 0, effects))
    world.reply(HELPER, done())
    world.reply("a", done())

    given = world.calls["b"].request.input
    assert given["changed_files"][0]["path"] == "z.py"
    assert given["reads"] == [{"path": "x", "outline": "outline"}]


def test_interrupting_a_subagent_is_an_error_for_its_caller_which_goes_on() -> None:
    world = with_helper(manual=True)
    world.reply(HELPER, calls(READ, WRITE))
    world.apply(world.engine.mark_node_interrupted(HELPER, 0))

    assert HELPER in world.cancelled
    assert "interrupted" in answer(world)["error"]
    assert [r.is_error for r in world.results(HELPER)] == [True, True]
    assert "a" in world.calls
    world.reply("a", calls(ask("a-subagent-1")))
    assert HELPER in world.calls
    with pytest.raises(LiveMessagesDisabled):
        world.engine.feed(MessageQueued(HELPER, "m", "Hello?", 0))
    with pytest.raises(NodeNotRetryable):
        world.engine.retry_node(HELPER, 0)


def test_interrupting_the_caller_ends_its_subagents_and_a_retry_may_call_them_again() -> None:
    world = with_helper(manual=True)
    world.reply(HELPER, calls(READ))
    world.apply(world.engine.mark_node_interrupted("a", 0))

    assert set(world.cancelled) == {"a", HELPER}
    assert world.needs.retryables[0].node_id == "a"
    assert world.results()[-1].is_error
    assert isinstance(step_of(world.engine.state_of(HELPER)), Done)
    assert len(world.events_of(SubagentFailed)) == 1
    world.apply(world.engine.retry_node("a", 0))
    world.reply("a", calls(ask("a-subagent-1")))
    world.reply(HELPER, done("x"))
    assert answer(world)["output"] == {"summary": "x"}


def test_a_pending_approval_of_a_subagent_is_withdrawn_with_its_caller() -> None:
    world = run(mode="always_ask", manual=True, agents=(COUNTER,))
    world.reply("a", calls(ask("counter")))
    world.finish_inspection("a")
    approval_id = world.needs.approvals[0].approval_id
    world.decide(approval_id)
    world.reply("a/counter", calls(READ))
    world.finish_inspection("a/counter")
    (asked,) = world.needs.approvals
    world.apply(world.engine.mark_node_interrupted("a", 0))
    assert asked not in world.engine.waiting().approvals
    assert "withdrawn" in world.engine._run.state.verdicts.values()


def test_what_a_subagent_needs_next_can_be_told_from_its_state() -> None:
    world = run(mode="write", manual=True, agents=(COUNTER,))
    world.reply("a", calls(ask("counter")))
    world.finish_inspection("a")
    approval_id = world.needs.approvals[0].approval_id
    world.decide(approval_id)
    actor = world.engine.state_of("a/counter")
    assert step_of(actor) == NeedAi()
    world.reply("a/counter", calls(READ, WRITE))
    called = tuple(i.call.id for i in actor.transcript if isinstance(i, CallItem))
    assert step_of(actor) == NeedTools(called)
    world.finish_tools("a/counter")
    world.finish_inspection("a/counter")
    (asked,) = world.needs.approvals
    assert step_of(actor) == NeedDecision((asked.approval_id,))
    world.decide(asked.approval_id, False)
    world.reply("a/counter", done("x"))
    assert step_of(actor) == Done('{"output": {"summary": "x"}, "message": null}', False)


@pytest.mark.parametrize("at", ["calling", "tools", "approval", "backoff"])
def test_a_run_restored_in_the_middle_of_a_subagent_goes_on_there(at: str) -> None:
    agent = CallableAgent(id="it", name="It", output_schema=SCHEMA)
    world = run(manual=True, agents=(agent,))
    world.reply("a", calls(ask("it")))
    if at == "backoff":
        world.reply("a/it", TransientFailure("busy"))
    elif at != "calling":
        world.reply("a/it", calls(READ if at == "tools" else WRITE))
    if at == "approval":
        world.finish_inspection("a/it")

    again = world.restored().start()
    if at == "approval":
        (asked,) = again.needs.approvals
        assert asked.path == ("a", "it")
        again.decide(asked.approval_id)
    if at in {"tools", "approval"}:
        again.finish_tools("a/it")
    request = again.calls["a/it"].request
    assert (request.output_schema, request.model) == (SCHEMA, "scripted")
    again.reply("a/it", done("x"))
    assert answer(again)["output"] == {"summary": "x"}
    again.reply("a", done())
    assert isinstance(again.outcome, RunCompleted)


def test_a_subagent_that_begins_while_a_run_is_recovered_is_called_once() -> None:
    world = run(manual=True, agents=(COUNTER,))
    world.reply("a", calls(WRITE, ask("counter")))
    again = world.restored()
    (admitted,) = world.batches["a"].calls
    end = KnownEnd(ToolResult(admitted.call.id, "write", "written"))
    again.apply(again.engine.feed(Started(again.now, ends=(end,))))

    assert [request.node_id for request in again.requests] == ["a/counter"]
    again.reply("a/counter", done("x"))
    assert [r.is_error for r in again.results()] == [False, False]


def test_a_failing_start_leaves_the_subagent_as_it_was() -> None:
    world = run({"a": [calls((CALL_SUBAGENT_TOOL, {"subagent_id": "counter"})), done()]})
    assert world.engine.phase("a") is NodePhase.DONE
    world = run(
        {"a": [calls((CALL_SUBAGENT_TOOL, {"subagent_id": "counter"})), done()]}, agents=(COUNTER,)
    )
    subagents = world.engine.state_of("a").subagents
    assert subagents is not None
    assert subagents["counter"].status is SubagentStatus.DECLARED


def test_a_subagent_backs_off_alone() -> None:
    world = with_helper(manual=True)
    step = world.reply(HELPER, TransientFailure("busy"))
    assert HELPER in world.timers
    assert step.events == ()
    step = world.fire(HELPER)
    assert [type(effect) for effect in step.effects] == [CallModel]
    assert world.calls[HELPER].request.model_attempt == 2

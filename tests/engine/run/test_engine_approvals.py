"""Asking about calls: looked up first, decided one by one, bound to what was shown."""

from __future__ import annotations

from typing import Any

import pytest

from engine.run.approval_policy import call_digest
from engine.run.state import NodePhase
from engine.vocabulary.effects import NOTHING, InspectCalls, RunTools
from engine.vocabulary.errors import AlreadyDecided, IllegalInput
from engine.vocabulary.events import (
    ToolApprovalRequested,
    ToolApproved,
)
from engine.vocabulary.inputs import (
    CallsInspected,
    NodePatched,
    RuntimePatch,
    Stopped,
    ToolsFinished,
)
from engine.vocabulary.messages import ResultItem
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    ApprovalRule,
    CallInspection,
    CallPreview,
    FileChangeOp,
    FilePreview,
    ToolResult,
    ToolTier,
)
from tests.support.asked_calls import MAKE, OTHER_WRITE, READ, WRITE, found, one_node, runs
from tests.support.engine_driver import ASKING, Reply, World, calls, done, workflow


def test_calls_to_be_asked_about_are_looked_up_together_and_then_announced() -> None:
    world = one_node(manual=True, inspect=found())
    step = world.reply("a", calls(READ, WRITE, MAKE))

    (looked_up,) = [effect for effect in step.effects if isinstance(effect, InspectCalls)]
    assert [call.name for call in looked_up.calls] == ["write", "bash"]
    assert looked_up.path == ("a",)
    assert [c.call.name for c in world.batches["a"].calls] == ["read"]
    assert world.asked == []

    world.finish_inspection("a")

    write, make = world.asked
    assert write.preview == CallPreview((FilePreview("x", FileChangeOp.UPDATE, "+1"),))
    assert write.digest == call_digest(("a",), "write", WRITE[1], ("/repo/x@1",))
    assert (write.path, write.node_id, write.node_label) == (("a",), "a", "A")
    assert write.rule is not None
    assert (write.rule.matches, make.tier) == ("write x", ToolTier.WRITE)
    assert "a" in world.batches


def test_what_a_person_allowed_runs_bound_to_what_they_were_shown() -> None:
    world = one_node(calls(READ, WRITE), done(), inspect=found())
    world.manual = True
    world.decide(world.asked[0].approval_id)

    (admitted,) = world.batches["a"].calls
    assert (admitted.is_bound, admitted.digest) == (True, world.asked[0].digest)
    assert [b.conversation_id for b in world.batches.values()] == ["a"]

    free = one_node(manual=True, mode="yolo")
    free.reply("a", calls(WRITE))
    (admitted,) = free.batches["a"].calls
    assert admitted.is_bound is False
    assert admitted.digest == call_digest(("a",), "write", WRITE[1])


@pytest.mark.parametrize(
    ("mode", "call", "reason"),
    [
        ("write", WRITE, "writes files"),
        ("write", ("apply_patch", {"patch": ""}), "writes files"),
        ("write", MAKE, "runs a command that is not a plain listing"),
        ("write", ("bash", {"command": "ls", "env": {"A": "1"}}), "variables of its own"),
        ("write", ("deploy", {}), "can change things"),
        ("always_ask", READ, "asks before every call"),
        ("always_ask", ("bash", {"command": "ls"}), "asks before every call"),
    ],
)
def test_a_request_says_why_it_asks(mode: str, call: Any, reason: str) -> None:
    world = one_node(
        calls(call), mode=mode, tools=("read", "write", "apply_patch", "bash", "deploy")
    )
    assert reason in world.asked[0].reason


def test_a_plain_listing_runs_unasked_and_a_chain_does_not() -> None:
    world = one_node(calls(("bash", {"command": "ls -la src"})), done())
    assert isinstance(world.outcome, RunCompleted)
    assert world.asked == []

    world = one_node(calls(("bash", {"command": "ls; rm x"})))
    assert [p.tier for p in world.asked] == [ToolTier.WRITE]


@pytest.mark.parametrize("command", ["ls", "make"])
def test_a_read_only_node_runs_no_command_at_all(command: str) -> None:
    world = one_node(calls(("bash", {"command": command})), done(), mode="read_only")
    assert isinstance(world.outcome, RunCompleted)
    assert world.executed == []
    assert world.results()[0].is_error


def test_while_a_plan_is_made_no_listing_runs_and_the_seal_makes_no_rule() -> None:
    flow = workflow(
        nodes=["a", "b"],
        settings={"planMode": {"evidenceSourceNodeId": "a"}},
        defaults={"tools": {"approvalMode": "yolo"}},
    )
    script: dict[str, list[Reply]] = {
        "a": [calls((SEAL_PLAN_TOOL, {}))],
        "b": [calls(("bash", {"command": "ls"}), OTHER_WRITE), done()],
    }
    world = World(flow, script, tools=("read", "write", "bash", SEAL_PLAN_TOOL)).start()

    assert [result.is_error for result in world.results("b")] == [True, True]
    (seal,) = world.asked
    assert (seal.tool_call.name, seal.rule, seal.reason) == (SEAL_PLAN_TOOL, None, "seals the plan")


def test_what_is_allowed_for_the_run_is_not_asked_again() -> None:
    world = one_node(calls(WRITE), calls(WRITE, OTHER_WRITE), done())
    world.decide(world.asked[0].approval_id, for_run=True)

    assert [p.tool_call.arguments["path"] for p in world.asked] == ["x", "y"]
    assert runs(world) == [("write", "x"), ("write", "x")]
    world.decide(world.asked[1].approval_id, allow=False)
    assert isinstance(world.outcome, RunCompleted)


def test_a_call_that_a_rule_allows_is_neither_looked_up_nor_bound() -> None:
    world = one_node(calls(WRITE))
    world.manual = True
    world.decide(world.asked[0].approval_id, for_run=True)
    world.finish_tools("a")
    step = world.reply("a", calls(WRITE))

    (batch,) = step.effects
    assert isinstance(batch, RunTools)
    assert batch.calls[0].is_bound is False
    assert batch.calls[0].digest == call_digest(("a",), "write", WRITE[1])


def test_a_new_rule_admits_what_waits_elsewhere_in_the_run() -> None:
    flow = workflow(nodes=["a", "b", "c"])
    script: dict[str, list[Reply]] = {
        "a": [calls(WRITE), done()],
        "b": [calls(MAKE, WRITE), done()],
        "c": [calls(OTHER_WRITE), done()],
    }
    world = World(flow, script).start()
    of_a, make, of_b, of_c = world.needs.approvals
    world.decide(of_a.approval_id, for_run=True)

    told = [event.approval_id for event in world.events_of(ToolApproved)]
    assert told == [of_a.approval_id, of_b.approval_id]
    assert [p.approval_id for p in world.needs.approvals] == [make.approval_id, of_c.approval_id]
    assert runs(world) == [("write", "x")]
    with pytest.raises(AlreadyDecided, match="allowed"):
        world.decide(of_b.approval_id)

    world.decide(make.approval_id)
    assert runs(world) == [("write", "x"), ("bash", None), ("write", "x")]


def test_what_a_rule_admits_elsewhere_is_bound_to_nothing_that_was_shown() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True, inspect=found()).start()
    for node in ("a", "b"):
        world.reply(node, calls(WRITE))
        world.finish_inspection(node)
    world.decide(world.asked[0].approval_id, for_run=True)

    (decided,), (by_rule,) = world.batches["a"].calls, world.batches["b"].calls
    assert (decided.is_bound, by_rule.is_bound) == (True, False)
    assert by_rule.digest == call_digest(("b",), "write", WRITE[1])


def test_no_rule_allows_anything_while_a_plan_is_made() -> None:
    flow = workflow(nodes=["a"], settings={"planMode": {"evidenceSourceNodeId": "a"}})
    world = World(flow, manual=True).start()
    note = ("write", {"path": "docs/notes.md", "content": "1"})
    world.engine._run.state.rules.append(ApprovalRule("write", "docs/notes.md"))
    world.reply("a", calls(note))
    world.finish_inspection("a")

    (asked,) = world.needs.approvals
    assert asked.rule is None


def test_a_rule_that_comes_while_a_call_is_looked_up_admits_it() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True).start()
    world.reply("a", calls(WRITE))
    world.finish_inspection("a")
    world.reply("b", calls(WRITE))
    world.decide(world.asked[0].approval_id, for_run=True)
    world.finish_inspection("b")

    assert len(world.asked) == 1
    assert world.batches["b"].calls[0].is_bound is False


def test_a_rule_lifts_no_read_only_mode() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True).start()
    world.reply("a", calls(WRITE))
    world.finish_inspection("a")
    world.reply("b", calls(WRITE))
    world.apply(
        world.engine.feed(NodePatched("b", RuntimePatch(approval_mode=ApprovalMode.READ_ONLY), 0))
    )
    world.decide(world.asked[0].approval_id, for_run=True)
    world.finish_inspection("b")
    world.finish_tools("a")

    assert "b" not in world.batches
    world.reply("a", done())
    assert [p.node_id for p in world.needs.approvals] == ["b"]


def test_a_denial_for_the_run_denies_this_call_only() -> None:
    world = one_node(calls(WRITE), calls(WRITE))
    world.decide(world.asked[0].approval_id, allow=False, for_run=True, reason="not now")
    assert len(world.asked) == 2
    assert "not now" in world.results()[0].content


def test_interrupting_a_node_whose_calls_are_looked_up_closes_them() -> None:
    world = one_node(manual=True)
    world.reply("a", calls(READ, WRITE))
    looked_up = world.inspections["a"]
    world.apply(world.engine.mark_node_interrupted("a", 0))

    assert (world.inspections, world.batches) == ({}, {})
    assert [result.is_error for result in world.results()] == [True, True]
    late = world.engine.feed(CallsInspected("a", looked_up.batch_id, (), 0))
    assert late == NOTHING
    assert world.engine.phase("a") is NodePhase.INTERRUPTED


@pytest.mark.parametrize("stopped", [True, False])
def test_what_was_being_looked_up_is_looked_up_again_after_a_restore(stopped: bool) -> None:
    world = one_node(manual=True, inspect=found("2"))
    world.reply("a", calls(WRITE))
    if stopped:
        world.apply(world.engine.feed(Stopped(0)))
        assert world.engine.phase("a") is NodePhase.TOOLS
    again = world.restored().start()

    assert "a" in again.inspections
    again.finish_inspection("a")
    (asked,) = again.needs.approvals
    assert asked.digest == call_digest(("a",), "write", WRITE[1], ("/repo/x@2",))
    again.decide(asked.approval_id)
    assert again.batches["a"].calls[0].is_bound


def test_a_pending_approval_is_the_same_after_a_kill_preview_and_rule_included() -> None:
    world = one_node(calls(WRITE), done(), inspect=found())
    (asked,) = world.needs.approvals
    again = world.restored().start()

    assert again.needs.approvals == (asked,)
    again.decide(asked.approval_id, for_run=True)
    assert runs(again) == [("write", "x")]
    assert isinstance(again.outcome, RunCompleted)


def test_rules_survive_a_restore() -> None:
    world = one_node(calls(WRITE), calls(READ, MAKE), calls(WRITE), done())
    world.decide(world.needs.approvals[0].approval_id, for_run=True)
    again = world.restored().start()
    again.decide(again.needs.approvals[0].approval_id)

    assert isinstance(again.outcome, RunCompleted)
    assert [name for name, _ in runs(again)] == ["bash", "write"]


def test_stopping_in_the_middle_of_a_batch_gives_every_call_a_result() -> None:
    world = one_node(manual=True)
    world.reply("a", calls(READ, READ))
    first, second = (c.call for c in world.batches["a"].calls)
    world.apply(world.engine.feed(Stopped(0)))
    late = ToolsFinished("a", "a#1", (ToolResult("t9", "read", "stray"),), 0)
    assert world.engine.feed(late).effects == ()

    again = world.restored().start()
    sent = [i.result for i in again.calls["a"].request.transcript if isinstance(i, ResultItem)]
    assert [result.call_id for result in sent] == [first.id, second.id]


def test_an_inspection_that_nobody_asked_for_is_the_drivers_fault() -> None:
    world = one_node(manual=True)
    world.reply("a", calls(WRITE))
    with pytest.raises(IllegalInput):
        world.engine.on_calls_inspected("a", "a#7", (), 0)


def test_calls_of_which_nothing_was_found_are_asked_about_all_the_same() -> None:
    world = one_node(manual=True)
    world.reply("a", calls(WRITE, MAKE))
    batch_id = world.inspections["a"].batch_id
    world.apply(world.engine.on_calls_inspected("a", batch_id, (CallInspection("other"),), 0))
    assert [p.preview for p in world.needs.approvals] == [None, None]


def test_an_approval_is_announced_while_other_nodes_work() -> None:
    world = World(workflow(nodes=["a", "b"], agents={"b": ASKING}), manual=True).start()
    world.reply("a", calls(WRITE))
    step = world.finish_inspection("a")

    assert [type(event) for event in step.events] == [ToolApprovalRequested]
    assert "b" in world.calls
    assert world.outcome is None

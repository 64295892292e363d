"""Tool turns: each call judged by itself, run in order, results back together."""

from __future__ import annotations

import pytest

from engine.run.state import NodePhase
from engine.vocabulary.errors import AlreadyDecided, IllegalInput, UnknownApproval
from engine.vocabulary.events import (
    ToolApprovalRequested,
    ToolApproved,
    ToolCallProposed,
    ToolCompleted,
    ToolDenied,
)
from engine.vocabulary.inputs import EditBatchReverted, NodePatched, RuntimePatch
from engine.vocabulary.messages import CallItem, ResultItem, ToolCallsTurn, UserMessage
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    ApprovalMode,
    FileChangeOp,
    FileChangeRecord,
    ReadRecord,
    ToolCall,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from tests.support.engine_driver import Reply, World, calls, done, workflow

READ = ("read", {"path": "x"})
WRITE = ("write", {"path": "x", "content": "1"})


def one_node(*replies: Reply, mode: str | None = None, manual: bool = False) -> World:
    tools = {"approvalMode": mode} if mode else {}
    flow = workflow(nodes=["a"], defaults={"tools": tools})
    return World(flow, {"a": list(replies)}, manual=manual).start()


def results(world: World) -> list[ToolResult]:
    transcript = world.engine.state_of("a").transcript
    return [item.result for item in transcript if isinstance(item, ResultItem)]


def ran(world: World) -> list[str]:
    return [call.name for call in world.executed]


def test_reading_calls_run_at_once_and_their_results_come_back_in_order() -> None:
    world = one_node(calls(READ, ("ls", {"path": "."}), READ), done())

    assert isinstance(world.outcome, RunCompleted)
    assert [result.tool_name for result in results(world)] == ["read", "ls", "read"]


def test_calls_have_our_own_ids_and_keep_the_providers() -> None:
    turn = ToolCallsTurn((ToolCall("", "read", {}, "call_1"), ToolCall("", "read", {}, "call_1")))
    world = one_node(turn, done())

    proposed = [event.tool_call for event in world.events_of(ToolCallProposed)]
    assert len({call.id for call in proposed}) == 2
    assert [call.provider_call_id for call in proposed] == ["call_1", "call_1"]


def test_a_writing_call_is_announced_when_it_arises_and_runs_once_allowed() -> None:
    world = one_node(calls(WRITE), done())
    request = world.events_of(ToolApprovalRequested)[0].request
    assert (request.node_id, request.tier, request.path) == ("a", ToolTier.WRITE, ("a",))
    assert request.tool_call.arguments == WRITE[1]
    assert world.needs.approvals == (request,)
    assert ran(world) == []

    world.apply(world.engine.on_tool_decision(request.approval_id, True, 0))

    assert isinstance(world.outcome, RunCompleted)
    assert ran(world) == ["write"]
    assert world.events_of(ToolApproved)[0].approval_id == request.approval_id


def test_calls_before_an_undecided_one_run_and_those_after_it_wait() -> None:
    world = one_node(calls(READ, WRITE, ("ls", {})), done())
    assert ran(world) == ["read"]

    world.apply(world.engine.on_tool_decision(world.needs.approvals[0].approval_id, True, 0))

    assert ran(world) == ["read", "write", "ls"]
    assert [r.tool_name for r in results(world)] == ["read", "write", "ls"]


def test_each_call_of_a_turn_is_decided_by_itself() -> None:
    world = one_node(calls(WRITE, ("bash", {"command": "rm x"})), done())
    first, second = world.needs.approvals
    assert first.digest != second.digest

    world.apply(world.engine.on_tool_decision(second.approval_id, False, 0, reason="too risky"))
    assert ran(world) == []
    world.apply(world.engine.on_tool_decision(first.approval_id, True, 0))

    assert ran(world) == ["write"]
    assert [result.is_error for result in results(world)] == [False, True]
    assert "too risky" in results(world)[1].content


def test_the_first_decision_counts_and_a_later_one_is_told_so() -> None:
    world = one_node(calls(WRITE), calls(WRITE), done())
    approval_id = world.needs.approvals[0].approval_id
    world.apply(world.engine.on_tool_decision(approval_id, True, 0))
    before = world.engine.checkpoint()

    with pytest.raises(AlreadyDecided, match="already decided: allowed"):
        world.engine.on_tool_decision(approval_id, False, 0)
    with pytest.raises(UnknownApproval):
        world.engine.on_tool_decision("nobody-asked", True, 0)
    assert world.engine.checkpoint() == before


def test_a_denial_with_a_reason_reaches_the_model() -> None:
    world = one_node(calls(WRITE), done())
    world.apply(
        world.engine.on_tool_decision(world.needs.approvals[0].approval_id, False, 0, reason="no")
    )

    assert isinstance(world.outcome, RunCompleted)
    assert "no" in results(world)[0].content
    assert world.events_of(ToolDenied)[0].tool_name == "write"


@pytest.mark.parametrize(
    ("mode", "reads_ask", "writes"),
    [
        ("yolo", False, "run"),
        ("write", False, "ask"),
        ("always_ask", True, "ask"),
        ("read_only", False, "denied"),
    ],
)
def test_the_four_approval_modes(mode: str, reads_ask: bool, writes: str) -> None:
    reading = one_node(calls(READ), done(), mode=mode)
    assert bool(reading.events_of(ToolApprovalRequested)) is reads_ask

    writing = one_node(calls(WRITE), done(), mode=mode)
    assert ran(writing) == (["write"] if writes == "run" else [])
    assert bool(writing.events_of(ToolApprovalRequested)) is (writes == "ask")
    assert bool(writing.events_of(ToolDenied)) is (writes == "denied")


def test_a_turn_of_denials_only_goes_straight_back_to_the_model() -> None:
    world = one_node(calls(WRITE, WRITE), done(), mode="read_only")

    assert isinstance(world.outcome, RunCompleted)
    assert [result.is_error for result in results(world)] == [True, True]


def test_a_patch_of_the_approval_mode_judges_the_next_turn() -> None:
    world = one_node(manual=True)
    world.engine.feed(NodePatched("a", RuntimePatch(approval_mode=ApprovalMode.YOLO), 0))
    world.reply("a", calls(WRITE))

    assert "a" in world.batches


def test_an_unknown_tool_is_an_error_result_that_lists_what_is_offered() -> None:
    world = one_node(calls(("reed", {"path": "x"}), READ), done())

    unknown, known = results(world)
    assert unknown.is_error
    assert "read" in unknown.content
    assert not known.is_error


def test_unreadable_arguments_are_an_error_for_that_call_alone() -> None:
    bad = ToolCall("", "read", {}, arguments_error="not valid JSON at column 12")
    world = one_node(ToolCallsTurn((bad, ToolCall("", "read", {"path": "x"}))), done())

    assert isinstance(world.outcome, RunCompleted)
    first, second = results(world)
    assert "column 12" in first.content
    assert (first.is_error, second.is_error) == (True, False)
    assert world.events_of(ToolCompleted)[0].is_error


def test_three_turns_in_a_row_with_unreadable_arguments_fail_the_node() -> None:
    bad = ToolCallsTurn((ToolCall("", "read", {}, arguments_error="broken"),))
    world = one_node(bad, bad, bad)
    assert world.engine.phase("a") is NodePhase.FAILED
    assert len(results(world)) == 3

    world = one_node(bad, bad, calls(READ), bad, bad, done())
    assert isinstance(world.outcome, RunCompleted)


def test_write_without_content_is_refused_with_a_hint_and_empty_content_is_fine() -> None:
    world = one_node(calls(("write", {"path": "x"})), done(), mode="yolo")
    assert "[invalid_args]" in results(world)[0].content
    assert isinstance(world.requests[1].transcript[-1], UserMessage)
    assert ran(world) == []

    world = one_node(calls(("write", {"path": "x", "content": ""})), done(), mode="yolo")
    assert ran(world) == ["write"]


def test_paths_inside_the_project_become_relative_before_anything_sees_them() -> None:
    flow = workflow(nodes=["a"])
    turn = calls(
        ("read", {"path": "/repo/src/x.py"}),
        ("find", {"paths": ["/repo", "/else/y"]}),
        ("bash", {"command": "make", "cwd": "/repo"}),
    )
    world = World(flow, {"a": [turn]}, tools=("read", "find", "bash"), project_root="/repo").start()

    arguments = [event.tool_call.arguments for event in world.events_of(ToolCallProposed)]
    assert arguments == [
        {"path": "src/x.py"},
        {"paths": [".", "/else/y"]},
        {"command": "make", "cwd": "."},
    ]


def test_short_results_are_filled_up_and_strangers_are_ignored() -> None:
    world = one_node(manual=True)
    world.reply("a", calls(READ, READ))
    batch = world.batches["a"]
    first = batch.calls[0].call
    given = (ToolResult(first.id, "read", "fine"), ToolResult("stranger", "read", "?"))

    world.apply(world.engine.on_tool_results("a", batch.batch_id, given, 0))

    assert [result.is_error for result in results(world)] == [False, True]
    assert "a" in world.calls


def test_results_for_a_batch_that_never_was_are_the_drivers_fault() -> None:
    world = one_node(manual=True)
    with pytest.raises(IllegalInput):
        world.engine.on_tool_results("a", "a#1", (), 0)


def test_changes_and_reads_reach_all_descendants() -> None:
    world = World(workflow([("a", "b"), ("b", "c")]), manual=True).start()
    world.reply("a", calls(READ))
    batch = world.batches["a"]
    effects = ToolEffects(
        (FileChangeRecord("z.py", FileChangeOp.UPDATE, 1, batch_id="one"),),
        (ReadRecord("x", "outline"),),
        ("x",),
    )
    world.apply(world.engine.on_tool_results("a", batch.batch_id, (), 0, effects))
    world.reply("a", done())
    world.reply("b", done())

    given = world.calls["c"].request.input
    assert given["changed_files"][0]["path"] == "z.py"
    assert given["reads"] == [{"path": "x", "outline": "outline"}]


def test_reverting_one_batch_forgets_its_records_only() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()
    world.reply("a", calls(READ))
    changes = tuple(
        FileChangeRecord(f"{batch}.py", FileChangeOp.UPDATE, 1, batch_id=batch)
        for batch in ("one", "two")
    )
    batch_id = world.batches["a"].batch_id
    world.apply(world.engine.on_tool_results("a", batch_id, (), 0, ToolEffects(changes)))
    world.engine.feed(EditBatchReverted("a", "one", 0))
    world.reply("a", done())

    changed = world.calls["b"].request.input["changed_files"]
    assert [entry["path"] for entry in changed] == ["two.py"]


def test_reads_of_what_an_ancestor_read_are_counted_as_redundant() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()
    for node in ("a", "b"):
        world.reply(node, calls(READ))
        effects = ToolEffects((), (ReadRecord("x"),), ("x",))
        batch_id = world.batches[node].batch_id
        world.apply(world.engine.on_tool_results(node, batch_id, (), 0, effects))
        world.reply(node, done())

    assert isinstance(world.outcome, RunCompleted)
    report = world.outcome.report
    assert (report.read_calls, report.redundant_reads) == (2, 1)


def test_a_tool_batch_of_one_node_and_a_model_call_of_another_overlap() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True).start()
    world.reply("a", calls(READ))

    assert "a" in world.batches
    assert "b" in world.calls


def test_every_call_in_a_transcript_has_exactly_one_result() -> None:
    world = one_node(calls(READ, WRITE, ("reed", {})), manual=True)
    world.reply("a", calls(READ, WRITE, ("reed", {})))
    world.apply(world.engine.mark_node_interrupted("a", 0))

    transcript = world.engine.state_of("a").transcript
    called = [item.call.id for item in transcript if isinstance(item, CallItem)]
    answered = [item.result.call_id for item in transcript if isinstance(item, ResultItem)]
    assert called == answered

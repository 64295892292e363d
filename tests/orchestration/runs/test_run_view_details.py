"""What a view shows of calls, messages, files and times."""

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.tools import (
    CallStatus,
    FileChangeOp,
    FileChangeRecord,
)
from orchestration.runs.view_values import EntryKind, NodeStatus, RunStatus, TraceStatus
from tests.support.view_events import (
    approval,
    chat_texts,
    feed,
    node_status,
    run_status,
    started,
    trace_of,
    view_of,
)


def test_a_tool_update_keeps_the_call_running_and_shows_the_latest_tail() -> None:
    view = view_of(
        [
            *started("a"),
            ev.ToolStarted("a", "c1", "bash", {"command": "ls"}),
            ev.ToolUpdated("a", "c1", "bash", "one"),
            ev.ToolUpdated("a", "c1", "bash", "two"),
        ]
    )
    call = view.tool_calls["a"]["c1"]
    assert (call.status, call.last_output, call.streaming) == (CallStatus.RUNNING, "two", True)
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL


def test_a_call_goes_from_proposed_over_approval_and_running_to_completed() -> None:
    view = view_of([*started("a"), ev.ToolCallProposed("a", "Alpha", approval().request.tool_call)])
    call = view.tool_calls["a"]["c1"]
    states = [call.status]
    for event in (
        approval(),
        ev.ToolApproved("p1", "a", "c1", "write"),
        ev.ToolStarted("a", "c1", "write", {}),
        ev.ToolCompleted("a", "c1", "write", "done"),
    ):
        feed(view, [event])
        states.append(call.status)
    assert states == [
        CallStatus.PROPOSED,
        CallStatus.AWAITING_APPROVAL,
        CallStatus.RUNNING,
        CallStatus.RUNNING,
        CallStatus.COMPLETED,
    ]
    assert call.intent == "save it"
    assert call.started_at is not None
    assert call.completed_at is not None
    assert node_status(view, "a") is NodeStatus.STARTED
    assert [entry.kind for entry in view.chat["a"]] == [EntryKind.TOOL_CALL, EntryKind.NOTICE]


def test_a_denied_call_is_blocked_with_its_reason() -> None:
    view = view_of([*started("a"), approval(), ev.ToolDenied("p1", "a", "c1", "write", "not now")])
    call = view.tool_calls["a"]["c1"]
    assert (call.status, call.last_output, call.is_error) == (CallStatus.BLOCKED, "not now", True)
    assert view.pending_approvals == {}
    assert node_status(view, "a") is NodeStatus.STARTED


def test_an_approval_that_is_announced_twice_waits_once() -> None:
    view = view_of([*started("a"), approval(), approval()])
    assert list(view.pending_approvals) == ["p1"]
    feed(view, [ev.ToolApproved("p1", "a", "c1", "write")])
    assert node_status(view, "a") is NodeStatus.STARTED


def test_with_two_approvals_open_the_node_waits_until_both_are_decided() -> None:
    view = view_of(
        [
            *started("a"),
            approval(number=1),
            approval(number=2),
            ev.ToolApproved("p1", "a", "c1", "write"),
        ]
    )
    assert node_status(view, "a") is NodeStatus.AWAITING_TOOL_APPROVAL
    assert run_status(view) is RunStatus.PAUSED
    feed(view, [ev.ToolStarted("a", "c1", "write", {})])
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    assert run_status(view) is RunStatus.RUNNING
    feed(view, [ev.ToolCompleted("a", "c1", "write", "ok")])
    assert node_status(view, "a") is NodeStatus.AWAITING_TOOL_APPROVAL


def test_while_one_of_two_parallel_calls_runs_the_node_runs_a_tool() -> None:
    view = view_of(
        [
            *started("a"),
            ev.ToolStarted("a", "c1", "read", {}),
            ev.ToolStarted("a", "c2", "read", {}),
            ev.ToolCompleted("a", "c1", "read", "x"),
        ]
    )
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    feed(view, [ev.ToolCompleted("a", "c2", "read", "boom", is_error=True)])
    assert node_status(view, "a") is NodeStatus.STARTED
    assert view.tool_calls["a"]["c2"].status is CallStatus.FAILED


def test_interrupting_a_node_closes_its_calls_and_approvals_but_not_those_of_others() -> None:
    view = view_of(
        [
            *started("a"),
            approval("a", 1),
            *started("b"),
            approval("b", 2),
            ev.NodeInterrupted("a", "Alpha"),
        ]
    )
    assert list(view.pending_approvals) == ["p2"]
    assert view.tool_calls["a"]["c1"].status is CallStatus.ABORTED
    assert view.tool_calls["b"]["c2"].status is CallStatus.AWAITING_APPROVAL


def test_streamed_text_is_raw_until_it_is_complete_and_then_without_tool_markup() -> None:
    view = view_of(
        [
            ev.ChatMessageDelta("a", "m", "assistant", "Hello <tool_"),
            ev.ChatMessageDelta("a", "m", "assistant", "call>x</tool_call>"),
        ]
    )
    entry = view.chat["a"][0]
    assert (entry.content, entry.streaming) == ("Hello <tool_call>x</tool_call>", True)
    feed(view, [ev.ChatMessageDelta("a", "m", "assistant", "", finalize=True)])
    assert (entry.content, entry.streaming) == ("Hello", False)


@pytest.mark.parametrize("text", ["<tool_call>x</tool_call>", "  \n", ""])
def test_a_message_with_nothing_to_read_disappears(text: str) -> None:
    view = view_of(
        [
            ev.ChatMessage("a", "user", "Go"),
            ev.ChatMessageDelta("a", "m", "assistant", text),
            ev.ChatMessageDelta("a", "m", "assistant", "", finalize=True),
        ]
    )
    assert chat_texts(view, "a") == [("user", "Go")]


def test_thinking_is_a_message_of_its_own() -> None:
    view = view_of(
        [
            ev.ChatMessageDelta("a", "t", "thinking", "hm"),
            ev.ChatMessageDelta("a", "m", "assistant", "yes"),
            ev.ChatMessageDelta("a", "t", "thinking", "m", finalize=True),
        ]
    )
    assert chat_texts(view, "a") == [("thinking", "hmm"), ("assistant", "yes")]


def test_prose_knows_how_long_after_the_one_before_it_came() -> None:
    view = view_of(
        [
            ev.ChatMessage("a", "user", "Go"),
            ev.ChatMessageDelta("a", "t", "thinking", "hm", finalize=True),
            ev.ChatMessageDelta("a", "m", "assistant", "a"),
            ev.ChatMessageDelta("a", "m", "assistant", "b", finalize=True),
            ev.ChatMessage("a", "user", "more"),
        ]
    )
    assert [entry.elapsed_s for entry in view.chat["a"]] == [None, None, 2.0, 1.0]


def test_changed_files_are_listed_for_the_run_and_for_the_node() -> None:
    record = FileChangeRecord("x.txt", FileChangeOp.CREATE, 1)
    view = view_of([ev.FileChanged("a", record)])
    assert view.changed_files == [record]
    assert view.changed_files_by_node == {"a": [record]}


def test_subagents_are_listed_with_their_latest_status() -> None:
    summary = ev.SubagentSummary("s1", "Scout", "looks", "declared")
    view = view_of([ev.SubagentsDeclared("a", (summary,)), ev.SubagentStarted("a", "s1")])
    assert view.subagents_by_node["a"]["s1"].status == "active"
    feed(view, [ev.SubagentFailed("a", "s1", "lost")])
    assert view.subagents_by_node["a"]["s1"].status == "failed"


def test_repairs_and_failed_calls_are_seen_in_the_trace_and_nowhere_else() -> None:
    view = view_of(
        [
            *started("a"),
            ev.AiInvokeFailed("a", "Alpha", "boom"),
            ev.OutputRepairStarted("a", "m"),
            ev.OutputRepairFailed("a", "no use"),
            ev.OutputRepairSucceeded("a", "m"),
        ]
    )
    assert view.last_error is None
    assert view.chat == {}
    assert node_status(view, "a") is NodeStatus.STARTED
    assert trace_of(view)[2:] == [
        ("a", TraceStatus.RUNNING, "Output repair: asking m"),
        ("a", TraceStatus.FAILED, "Output repair: no use"),
        ("a", TraceStatus.COMPLETED, "Output repair: repaired by m"),
    ]


def test_phases_are_rows_of_the_trace_and_model_time_adds_up() -> None:
    view = view_of(
        [
            ev.PhaseTimed("ai_invoke", "Alpha", 842, "a"),
            ev.PhaseTimed("ai_invoke", "Alpha", 2400, "a"),
            ev.PhaseTimed("tool_wait", "bash", 300, "a"),
        ]
    )
    assert [row.message for row in view.trace] == [
        "ai_invoke: Alpha · 842ms",
        "ai_invoke: Alpha · 2.4s",
        "tool_wait: bash · 300ms",
    ]
    assert view.timings["a"].model_ms == 3242

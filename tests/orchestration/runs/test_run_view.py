from collections.abc import Iterable
from weakref import WeakKeyDictionary

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import PendingApproval, RunReport
from engine.vocabulary.tools import (
    CallStatus,
    FileChangeOp,
    FileChangeRecord,
    ToolCall,
    ToolTier,
)
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_reducers import REDUCERS
from orchestration.runs.view_values import EntryKind, NodeStatus, RunStatus, TraceStatus

LABELS = {"a": "Alpha", "b": "Beta"}
CLOCK: WeakKeyDictionary[RunView, int] = WeakKeyDictionary()


def view_of(events: Iterable[ev.RunEvent], *, plan_source: str | None = None) -> RunView:
    view = RunView("run", "flow", LABELS, plan_source=plan_source)
    feed(view, events)
    return view


def feed(view: RunView, events: Iterable[ev.RunEvent]) -> RunView:
    for event in events:
        CLOCK[view] = CLOCK.get(view, 0) + 1
        view.apply(EventRecord(CLOCK[view], 100.0 + CLOCK[view], event))
    return view


def node_status(view: RunView, node_id: str) -> NodeStatus:
    return view.status_by_node[node_id]


def run_status(view: RunView) -> RunStatus:
    return view.status


def started(node_id: str) -> list[ev.RunEvent]:
    return [ev.NodeQueued(node_id, LABELS[node_id]), ev.NodeStarted(node_id, LABELS[node_id])]


def approval(node_id: str = "a", number: int = 1) -> ev.ToolApprovalRequested:
    call = ToolCall(f"c{number}", "write", {"path": "x", "_i": " save it "})
    return ev.ToolApprovalRequested(
        PendingApproval(f"p{number}", node_id, LABELS[node_id], call, ToolTier.WRITE, "d")
    )


def question(node_id: str = "a") -> ev.NodeAwaitingInput:
    return ev.NodeAwaitingInput(node_id, LABELS[node_id], "ctx", pause_id="q1", question="Why?")


def chat_texts(view: RunView, node_id: str) -> list[tuple[str, str]]:
    return [(entry.role, entry.content) for entry in view.chat.get(node_id, [])]


def trace_of(view: RunView) -> list[tuple[str, TraceStatus, str]]:
    return [(row.node_id, row.status, row.message) for row in view.trace]


def test_there_is_a_reducer_for_every_event() -> None:
    assert set(REDUCERS) == set(ev.RunEvent.__args__)


def test_a_new_run_is_running_and_its_nodes_idle() -> None:
    view = view_of([])
    assert run_status(view) is RunStatus.RUNNING
    assert view.status_by_node == {"a": NodeStatus.IDLE, "b": NodeStatus.IDLE}


def test_a_node_goes_from_queued_over_started_to_completed() -> None:
    view = view_of([ev.NodeQueued("a", "Alpha")])
    assert node_status(view, "a") is NodeStatus.QUEUED
    feed(view, [ev.NodeStarted("a", "Alpha")])
    assert node_status(view, "a") is NodeStatus.STARTED
    feed(view, [ev.NodeCompleted("a", "Alpha", {"x": 1})])
    assert node_status(view, "a") is NodeStatus.COMPLETED
    assert view.outputs == {"a": {"x": 1}}
    timing = view.timings["a"]
    assert (timing.queued_at, timing.started_at, timing.completed_at) == (101.0, 102.0, 103.0)
    assert [row.status for row in view.trace] == [
        TraceStatus.QUEUED,
        TraceStatus.RUNNING,
        TraceStatus.COMPLETED,
    ]
    assert view.trace[-1].output == {"x": 1}


def test_a_completed_node_shows_its_output_in_its_chat_and_null_shows_nothing() -> None:
    view = view_of(
        [ev.NodeCompleted("a", "Alpha", {"x": "ä\ud800"}), ev.NodeCompleted("b", "B", None)]
    )
    (entry,) = view.chat["a"]
    assert entry.kind is EntryKind.NODE_COMPLETED
    assert '"x"' in entry.content
    assert "b" not in view.chat


def test_usage_makes_a_context_window_and_adds_up() -> None:
    usage = Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15, cached_input_tokens=4)
    view = view_of(
        [
            ev.UsageReported("a", usage, "m1", 4096),
            ev.UsageReported("a", Usage(prompt_tokens=1), "m2"),
        ]
    )
    window = view.context_windows["a"]
    assert (window.model, window.usage.total_tokens, window.max_context_tokens) == (
        "m2",
        None,
        None,
    )
    assert (view.usage.tokens_in, view.usage.tokens_out, view.usage.tokens_cached) == (11, 5, 4)


def test_usage_that_nobody_reported_is_unknown_and_not_zero() -> None:
    usage = view_of(started("a")).usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached) == (None, None, None)


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


def test_a_question_waits_until_a_user_message_answers_it() -> None:
    view = view_of([*started("a"), question()])
    assert node_status(view, "a") is NodeStatus.AWAITING_INPUT
    assert view.pending_inputs["a"].question == "Why?"
    assert run_status(view) is RunStatus.PAUSED
    feed(view, [ev.ChatMessage("a", "user", "Because.")])
    assert view.pending_inputs == {}
    assert node_status(view, "a") is NodeStatus.STARTED
    assert run_status(view) is RunStatus.RUNNING


def test_an_entrypoint_message_changes_no_status() -> None:
    view = view_of([ev.ChatMessage("a", "user", "Go")])
    assert node_status(view, "a") is NodeStatus.IDLE
    assert chat_texts(view, "a") == [("user", "Go")]


def test_an_abort_stops_every_running_node_and_call_and_clears_what_waits() -> None:
    view = view_of(
        [
            *started("a"),
            ev.ToolStarted("a", "c1", "bash", {}),
            ev.ChatMessageDelta("b", "m1", "assistant", "half a sen"),
            *started("b"),
            ev.Aborted(),
        ]
    )
    assert view.status_by_node == {"a": NodeStatus.STOPPED, "b": NodeStatus.STOPPED}
    assert view.tool_calls["a"]["c1"].status is CallStatus.ABORTED
    assert [row.node_id for row in view.trace if row.status is TraceStatus.STOPPED] == ["a", "b"]
    assert (view.active, view.status) == (False, RunStatus.STOPPED)
    entry = view.chat["b"][0]
    assert (entry.content, entry.streaming) == ("half a sen", False)


def test_an_abort_leaves_nobody_waiting() -> None:
    view = view_of([*started("a"), question("a"), *started("b"), approval("b"), ev.Aborted()])
    assert view.pending_inputs == {}
    assert view.pending_approvals == {}
    assert view.tool_calls["b"]["c1"].status is CallStatus.ABORTED
    assert set(view.status_by_node.values()) == {NodeStatus.STOPPED}


def test_what_a_stop_interrupted_is_stopped_and_what_had_failed_stays_failed() -> None:
    view = view_of(
        [
            *started("a"),
            *started("b"),
            ev.NodeErrored("b", "Beta", "boom"),
            ev.NodeInterrupted("a", "Alpha"),
            ev.Aborted(),
        ]
    )
    assert view.status_by_node == {"a": NodeStatus.STOPPED, "b": NodeStatus.FAILED}
    assert list(view.retryables) == ["b"]
    assert run_status(view) is RunStatus.STOPPED


def test_events_after_the_end_change_nothing() -> None:
    view = view_of([*started("a"), ev.Aborted()])
    rows = len(view.trace)
    view.apply(EventRecord(99, 1.0, ev.NodeCompleted("a", "Alpha", 1)))
    view.apply(EventRecord(100, 1.0, ev.RunError("ignored")))
    assert view.outputs == {}
    assert (len(view.trace), view.last_error) == (rows, None)


def test_a_reopened_run_takes_events_again_and_keeps_its_chat() -> None:
    view = view_of([ev.ChatMessage("a", "user", "Go"), *started("a"), ev.Aborted()])
    view.reopen()
    assert view.active
    assert node_status(view, "a") is NodeStatus.IDLE
    feed(view, [*started("a"), ev.NodeCompleted("a", "Alpha", 1)])
    assert view.outputs == {"a": 1}
    assert chat_texts(view, "a")[0] == ("user", "Go")


@pytest.mark.parametrize(
    ("event", "status", "run_status"),
    [
        (ev.NodeInterrupted("a", "Alpha"), NodeStatus.INTERRUPTED, RunStatus.PAUSED),
        (ev.NodeErrored("a", "Alpha", "boom"), NodeStatus.FAILED, RunStatus.FAILED),
    ],
)
def test_an_interrupted_or_failed_node_can_be_retried_and_the_run_stays_active(
    event: ev.RunEvent, status: NodeStatus, run_status: RunStatus
) -> None:
    view = view_of([*started("a"), event])
    assert node_status(view, "a") is status
    assert "a" in view.retryables
    assert (view.active, view.status) == (True, run_status)


def test_a_failed_node_is_no_failed_run_while_something_waits_or_runs() -> None:
    view = view_of(
        [*started("a"), *started("b"), ev.NodeErrored("a", "Alpha", "boom"), question("b")]
    )
    assert run_status(view) is RunStatus.PAUSED
    feed(view, [ev.ChatMessage("b", "user", "yes")])
    assert run_status(view) is RunStatus.RUNNING
    feed(view, [ev.NodeCompleted("b", "Beta", 1)])
    assert run_status(view) is RunStatus.FAILED
    assert view.failed == {"a": "boom"}


def test_a_new_start_clears_the_last_error() -> None:
    view = view_of([*started("a"), ev.NodeErrored("a", "Alpha", "boom")])
    assert view.last_error == "Alpha: boom"
    feed(view, started("a"))
    assert not view.last_error
    assert view.failed == {}
    assert view.retryables == {}
    assert run_status(view) is RunStatus.RUNNING


def test_a_node_that_fails_for_good_ends_the_run_with_its_label_in_the_error() -> None:
    view = view_of([*started("a"), *started("b"), ev.NodeFailed("a", "Alpha", "no model")])
    assert view.last_error == "Alpha: no model"
    assert (view.active, view.status) == (False, RunStatus.FAILED)
    assert node_status(view, "b") is NodeStatus.STOPPED


def test_an_error_of_the_run_ends_it() -> None:
    view = view_of([*started("a"), ev.RunError("out of luck")])
    assert (view.active, view.status, view.last_error) == (False, RunStatus.FAILED, "out of luck")


def test_a_finished_run_keeps_its_report() -> None:
    report = RunReport("flow", ())
    view = view_of([ev.Finished(report)])
    assert (view.active, view.status, view.last_report) == (False, RunStatus.COMPLETED, report)


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


def test_the_plan_phase_changes_when_its_source_completes() -> None:
    view = view_of([*started("a")], plan_source="a")
    assert view.plan_phase == "planning"
    feed(view, [ev.NodeCompleted("a", "Alpha", {})])
    assert view.plan_phase == "execution"
    assert view_of([]).plan_phase is None


def test_statuses_are_snake_case() -> None:
    assert all(
        status == status.lower() and " " not in status and "-" not in status
        for status in (*NodeStatus, *RunStatus, *TraceStatus)
    )


EVENTS = st.sampled_from(
    [
        *started("a"),
        *started("b"),
        question("a"),
        question("b"),
        approval("a", 1),
        approval("a", 2),
        approval("b", 3),
        ev.ToolApproved("p1", "a", "c1", "write"),
        ev.ToolDenied("p2", "a", "c2", "write", "no"),
        ev.ToolStarted("a", "c1", "write", {}),
        ev.ToolCompleted("a", "c1", "write", "x"),
        ev.ChatMessage("a", "user", "x"),
        ev.ChatMessageDelta("a", "m", "assistant", "x"),
        ev.ChatMessageDelta("a", "m", "assistant", "", finalize=True),
        ev.NodeInterrupted("a", "Alpha"),
        ev.NodeErrored("a", "Alpha", "x"),
        ev.NodeCompleted("a", "Alpha", 1),
        ev.NodeCompleted("b", "Beta", 1),
        ev.Aborted(),
    ]
)


@given(st.lists(EVENTS, max_size=40))
def test_in_whatever_order_events_come_the_view_holds_together(events: list[ev.RunEvent]) -> None:
    view = view_of(events)
    busy = any(status.is_busy for status in view.status_by_node.values())
    if view.ended_as is None:
        assert (view.status is RunStatus.RUNNING) == (
            busy
            or not (view.pending_inputs or view.pending_approvals or view.failed or view.retryables)
        )
    else:
        assert not busy
        assert not view.pending_inputs
        assert not view.pending_approvals
    for request in view.pending_approvals.values():
        assert view.open_approvals[request.node_id] > 0
    assert sum(view.open_approvals.values()) == len(view.pending_approvals)

"""How a run and its nodes stand, event by event."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import RunReport
from engine.vocabulary.tools import (
    CallStatus,
)
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.view_reducers import REDUCERS
from orchestration.runs.view_values import EntryKind, NodeStatus, RunStatus, TraceStatus
from tests.support.view_events import (
    approval,
    chat_texts,
    feed,
    node_status,
    question,
    run_status,
    started,
    view_of,
)


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
    view.reopen(9.0)
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

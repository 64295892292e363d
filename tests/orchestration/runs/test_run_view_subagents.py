"""What a run's view tells of the subagents at work in it."""

from __future__ import annotations

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    CallStatus,
    EditBatch,
    FileChangeOp,
    FileChangeRecord,
    ToolCall,
    ToolTier,
)
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import NodeStatus, RunStatus, TodoItem
from tests.support.view_events import feed, node_status, run_status, started, trace_of, view_of

CALL = "openflow_call_subagent"
ACTOR = "a/s1"


def declared(*ids: str, node_id: str = "a") -> ev.SubagentsDeclared:
    return ev.SubagentsDeclared(
        node_id, tuple(ev.SubagentSummary(each, each.upper(), "helps", "declared") for each in ids)
    )


def called(view: RunView, subagent: str, call_id: str) -> None:
    actor = f"a/{subagent}"
    arguments = {"subagent_id": subagent, "input": "look"}
    feed(
        view,
        [
            ev.ToolCallProposed("a", "Alpha", ToolCall(call_id, CALL, arguments)),
            ev.ToolStarted("a", call_id, CALL, arguments),
            ev.SubagentStarted("a", subagent),
            ev.NodeQueued(actor, subagent.upper()),
            ev.NodeStarted(actor, subagent.upper()),
        ],
    )


def asks(subagent: str = "s1", call_id: str = "w1") -> ev.ToolApprovalRequested:
    call = ToolCall(call_id, "write", {"path": "x"})
    path = ("a", subagent)
    request = PendingApproval(f"p-{call_id}", "a", "Alpha", call, ToolTier.WRITE, "d", path)
    return ev.ToolApprovalRequested(request)


def ended(view: RunView, subagent: str, call_id: str) -> None:
    feed(
        view,
        [
            ev.NodeCompleted(f"a/{subagent}", subagent.upper(), {"summary": "done"}),
            ev.SubagentCompleted("a", subagent),
            ev.ToolCompleted("a", call_id, CALL, "{}"),
        ],
    )


@pytest.fixture
def view() -> RunView:
    found = view_of([*started("a"), declared("s1", "s2")])
    called(found, "s1", "c1")
    return found


def test_a_subagent_is_listed_under_its_node_and_has_a_status_of_its_own(view: RunView) -> None:
    assert [each.name for each in view.subagents_by_node["a"].values()] == ["S1", "S2"]
    assert view.subagents_by_node["a"]["s1"].status == "active"
    assert view.actors.status == {ACTOR: NodeStatus.STARTED}
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    ended(view, "s1", "c1")
    assert view.subagents_by_node["a"]["s1"].status == "completed"
    assert view.actors.status == {ACTOR: NodeStatus.COMPLETED}
    assert node_status(view, "a") is NodeStatus.STARTED
    assert view.outputs == {}
    assert set(view.status_by_node) == {"a", "b"}


def test_what_it_says_and_calls_is_kept_under_its_own_id(view: RunView) -> None:
    feed(
        view,
        [
            ev.ChatMessageDelta(ACTOR, "m1", "assistant", "I look", finalize=True),
            ev.ToolCallProposed(ACTOR, "S1", ToolCall("r1", "read", {"path": "x"})),
            ev.ToolStarted(ACTOR, "r1", "read", {"path": "x"}),
        ],
    )
    assert [entry.content for entry in view.chat[ACTOR]] == ["I look", ""]
    assert view.tool_calls[ACTOR]["r1"].status is CallStatus.RUNNING
    assert list(view.tool_calls["a"]) == ["c1"]
    assert view.actors.status[ACTOR] is NodeStatus.RUNNING_TOOL
    assert trace_of(view)[-1][0] == ACTOR
    assert view.trace[-1].node_label == "S1"
    feed(view, [ev.ToolCompleted(ACTOR, "r1", "read", "text", artifact_ids=("f1",))])
    assert view.tool_calls[ACTOR]["r1"].artifact_ids == ("f1",)
    assert view.actors.status[ACTOR] is NodeStatus.STARTED


def test_a_node_waits_only_when_all_its_subagents_wait(view: RunView) -> None:
    called(view, "s2", "c2")
    feed(view, [asks()])
    assert view.actors.status[ACTOR] is NodeStatus.AWAITING_TOOL_APPROVAL
    assert view.tool_calls[ACTOR]["w1"].status is CallStatus.AWAITING_APPROVAL
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    assert run_status(view) is RunStatus.RUNNING
    ended(view, "s2", "c2")
    assert node_status(view, "a") is NodeStatus.AWAITING_TOOL_APPROVAL
    assert run_status(view) is RunStatus.PAUSED
    assert [each.path for each in view.pending_approvals.values()] == [("a", "s1")]
    feed(view, [ev.ToolApproved("p-w1", ACTOR, "w1", "write")])
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    assert view.pending_approvals == {}


def test_the_node_s_own_tools_are_told_from_those_of_its_subagents(view: RunView) -> None:
    feed(view, [ev.ToolStarted("a", "r9", "read", {}), asks()])
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL
    feed(view, [ev.ToolCompleted("a", "r9", "read", "text")])
    assert node_status(view, "a") is NodeStatus.AWAITING_TOOL_APPROVAL


def test_a_subagent_that_fails_leaves_its_node_at_work(view: RunView) -> None:
    feed(view, [asks(), ev.SubagentFailed("a", "s1", "gave up")])
    assert view.subagents_by_node["a"]["s1"].status == "failed"
    assert view.actors.status[ACTOR] is NodeStatus.FAILED
    assert view.pending_approvals == {}
    assert view.tool_calls[ACTOR]["w1"].status is CallStatus.ABORTED
    assert node_status(view, "a") is NodeStatus.STARTED
    assert view.failed == {}


@pytest.mark.parametrize(
    "end", [ev.NodeInterrupted("a", "Alpha"), ev.NodeErrored("a", "Alpha", "no"), ev.Aborted()]
)
def test_what_ends_a_node_ends_its_subagents(view: RunView, end: ev.RunEvent) -> None:
    feed(view, [asks(), end])
    assert view.actors.status[ACTOR] is NodeStatus.STOPPED
    assert view.pending_approvals == {}
    assert view.tool_calls[ACTOR]["w1"].status is CallStatus.ABORTED
    assert not node_status(view, "a").is_busy


def test_a_subagent_may_be_called_again(view: RunView) -> None:
    ended(view, "s1", "c1")
    called(view, "s1", "c2")
    assert view.actors.status[ACTOR] is NodeStatus.STARTED
    assert node_status(view, "a") is NodeStatus.RUNNING_TOOL


def test_a_subagent_that_nobody_declared_is_known_by_its_id() -> None:
    view = view_of([*started("a"), ev.SubagentStarted("a", "x")])
    assert view.subagents_by_node["a"]["x"].name == "x"
    assert view.actors.status == {"a/x": NodeStatus.STARTED}


def test_its_tokens_count(view: RunView) -> None:
    feed(view, [ev.UsageReported(ACTOR, Usage(prompt_tokens=5, completion_tokens=2), "m")])
    assert (view.usage.tokens_in, view.usage.tokens_out) == (5, 2)


def test_a_call_that_has_to_be_asked_about_again_is_no_longer_at_work(view: RunView) -> None:
    feed(view, [asks(), ev.ToolApproved("p-w1", ACTOR, "w1", "write")])
    feed(view, [ev.ToolStarted(ACTOR, "w1", "write", {}), asks()])
    assert view.actors.status[ACTOR] is NodeStatus.AWAITING_TOOL_APPROVAL
    assert view.tool_calls[ACTOR]["w1"].status is CallStatus.AWAITING_APPROVAL


def todo(call_id: str, *items: object, is_error: bool = False) -> list[ev.RunEvent]:
    name = "openflow_update_todo_list"
    return [
        ev.ToolStarted("a", call_id, name, {"todos": list(items)}),
        ev.ToolCompleted("a", call_id, name, "1/2", is_error=is_error),
    ]


def test_the_latest_accepted_list_of_things_to_do_is_kept() -> None:
    first = {"content": " Look ", "status": "in_progress"}
    view = view_of([*started("a"), *todo("t1", first, {"content": "Fix", "status": "pending"})])
    assert view.todos == {"a": (TodoItem("Look", "in_progress"), TodoItem("Fix", "pending"))}
    feed(view, todo("t2", {"content": "No", "status": "?"}, is_error=True))
    assert [each.content for each in view.todos["a"]] == ["Look", "Fix"]
    feed(view, todo("t3", 5, {"content": "Look", "status": "completed"}))
    assert view.todos["a"] == (TodoItem("Look", "completed"),)


def test_a_reverted_batch_takes_its_changes_with_it() -> None:
    records = [
        FileChangeRecord(path, FileChangeOp.UPDATE, 1, batch_id=batch)
        for path, batch in (("x", "b1"), ("y", "b2"))
    ]
    batches = [EditBatch(each, "a", "c", "edit", 1, ()) for each in ("b1", "b2")]
    view = view_of(
        [
            *started("a"),
            *(ev.FileChanged("a", record) for record in records),
            *(ev.EditBatchRecorded("a", batch) for batch in batches),
        ]
    )
    view.forget_batch("b1")
    assert [each.path for each in view.changed_files] == ["y"]
    assert [each.path for each in view.changed_files_by_node["a"]] == ["y"]
    assert [each.batch_id for each in view.edit_batches] == ["b2"]

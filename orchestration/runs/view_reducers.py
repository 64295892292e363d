"""What each event does to a run's projection: one small function a type, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.vocabulary import events as ev
from engine.vocabulary.reconfiguration import NodeReconfigured
from engine.vocabulary.report import Retryable
from engine.vocabulary.spending import BudgetDecided, BudgetWarning
from engine.vocabulary.tools import CALL_SUBAGENT_TOOL
from orchestration.runs.actor_board import actor_id
from orchestration.runs.pauses import caller_of, pending_of
from orchestration.runs.todo_lists import TODO_TOOL, todo_items
from orchestration.runs.view_state import ViewState
from orchestration.runs.view_values import NodeStatus, RunStatus, TraceStatus

WAITING = (NodeStatus.AWAITING_INPUT, NodeStatus.AWAITING_TOOL_APPROVAL)
SETTLED_BY_CALLS = (NodeStatus.RUNNING_TOOL, NodeStatus.AWAITING_TOOL_APPROVAL)


def _node_queued(view: ViewState, event: ev.NodeQueued, time: float) -> None:
    node_id = event.node_id
    if view.retryables:
        _forget_failure(view, node_id)
    view.set_status(node_id, NodeStatus.QUEUED)
    view.trace_log.note((time, event))


def _node_started(view: ViewState, event: ev.NodeStarted, time: float) -> None:
    node_id = event.node_id
    if view.retryables:
        _forget_failure(view, node_id)
    if view.pending_inputs or view.pending_approvals or view.uncertain_calls:
        _forget_waits(view, node_id)
    view.last_error = None
    view.set_status(node_id, NodeStatus.STARTED)
    view.trace_log.note((time, event))


def _chat_message(view: ViewState, event: ev.ChatMessage, time: float) -> None:
    node_id = event.node_id
    view.chats.say(node_id, event.role, event.content, time)
    if event.role == "user" and view.pending_inputs.pop(node_id, None) is not None:
        view.settle_status(node_id)


def _chat_message_delta(view: ViewState, event: ev.ChatMessageDelta, time: float) -> None:
    view.chats.stream(event.node_id, event.message_id, event.role, event.delta, time)
    if event.finalize:
        view.chats.finalize(event.node_id, event.message_id, time)


def _node_awaiting_input(view: ViewState, event: ev.NodeAwaitingInput, time: float) -> None:
    node_id = event.node_id
    view.pending_inputs[node_id] = pending_of(event)
    view.set_status(node_id, NodeStatus.AWAITING_INPUT)
    view.trace_log.note((time, event))


def _tool_call_proposed(view: ViewState, event: ev.ToolCallProposed, time: float) -> None:
    call = event.tool_call
    if view.calls.propose(event.node_id, call):
        view.chats.mark_call(event.node_id, call.id, time)
        if call.repairs:
            view.trace_log.note((time, event))


def _tool_approval_requested(view: ViewState, event: ev.ToolApprovalRequested, time: float) -> None:
    request = event.request
    if request.approval_id in view.pending_approvals:
        return
    caller, call = caller_of(request), request.tool_call
    view.pending_inputs.pop(caller, None)
    view.pending_approvals[request.approval_id] = request
    view.open_approvals[caller] = view.open_approvals.get(caller, 0) + 1
    if view.calls.propose(caller, call):
        view.chats.mark_call(caller, call.id, time)
    if view.calls.await_approval(call.id) and view.running_tools.get(caller):
        view.running_tools[caller] -= 1
    view.settle_status(caller)
    view.chats.notice(caller, f"{call.name} needs approval", time, call.id)
    view.trace_log.note((time, event))


def _tool_approved(view: ViewState, event: ev.ToolApproved, time: float) -> None:
    view.calls.allow(event.tool_call_id)
    if _forget_approval(view, event.approval_id):
        view.settle_status(event.node_id)


def _tool_denied(view: ViewState, event: ev.ToolDenied, time: float) -> None:
    view.calls.block(event.tool_call_id, event.reason, time)
    view.trace_log.note((time, event))
    if _forget_approval(view, event.approval_id):
        view.settle_status(event.node_id)


def _tool_started(view: ViewState, event: ev.ToolStarted, time: float) -> None:
    node_id = event.node_id
    view.calls.start(node_id, event.tool_call_id, event.tool_name, event.arguments, time)
    if event.tool_name == CALL_SUBAGENT_TOOL:
        # The subagent works or waits, and the node with it.
        view.settle_status(node_id)
    else:
        view.running_tools[node_id] = view.running_tools.get(node_id, 0) + 1
        view.set_status(node_id, NodeStatus.RUNNING_TOOL)
    view.trace_log.note((time, event))


def _tool_updated(view: ViewState, event: ev.ToolUpdated, time: float) -> None:
    view.calls.update(event.tool_call_id, event.content, event.output_meta)


def _tool_completed(view: ViewState, event: ev.ToolCompleted, time: float) -> None:
    node_id = event.node_id
    call = view.calls.complete(event, time)
    if call is None:
        return
    view.trace_log.note((time, event))
    if event.tool_name == TODO_TOOL and not event.is_error:
        view.todos[node_id] = todo_items(call.arguments)
    if event.tool_name == CALL_SUBAGENT_TOOL:
        if view.status_by_node.get(node_id) in SETTLED_BY_CALLS:
            view.settle_status(node_id)
    elif call.started_at is not None and view.running_tools.get(node_id):
        view.running_tools[node_id] -= 1
        view.settle_status(node_id)


def _tool_artifact_created(view: ViewState, event: ev.ToolArtifactCreated, time: float) -> None:
    view.tool_artifacts[event.artifact_id] = event.path


def _file_changed(view: ViewState, event: ev.FileChanged, time: float) -> None:
    view.changed_files.append(event.record)
    view.changed_files_by_node.setdefault(event.node_id, []).append(event.record)


def _edit_batch_recorded(view: ViewState, event: ev.EditBatchRecorded, time: float) -> None:
    view.edit_batches.append(event.batch)


def _edit_batch_undone(view: ViewState, event: ev.EditBatchUndone, time: float) -> None:
    view.forget_batch(event.batch_id)


def _tool_call_uncertain(view: ViewState, event: ev.ToolCallUncertain, time: float) -> None:
    call = event.call
    if call.call_id in view.uncertain_calls:
        return
    caller, tool_call = caller_of(call), call.tool_call
    view.uncertain_calls[call.call_id] = call
    view.open_approvals[caller] = view.open_approvals.get(caller, 0) + 1
    if view.calls.propose(caller, tool_call):
        view.chats.mark_call(caller, tool_call.id, time)
    view.calls.await_approval(tool_call.id)
    view.settle_status(caller)
    text = f"the program ended while {tool_call.name} ran: say whether it is done"
    view.chats.notice(caller, text, time, tool_call.id)
    view.trace_log.note((time, event))


def _tool_call_settled(view: ViewState, event: ev.ToolCallSettled, time: float) -> None:
    view.calls.allow(event.tool_call_id)
    if view.uncertain_calls.pop(event.tool_call_id, None) is not None:
        view.open_approvals[event.node_id] -= 1
        view.settle_status(event.node_id)
    view.trace_log.note((time, event))


def _run_waiting(view: ViewState, event: ev.RunWaiting, time: float) -> None:
    view.waiting_reason = event.reason or None
    view.may_go_first = event.may_go_first
    view.trace_log.note((time, event))


def _node_completed(view: ViewState, event: ev.NodeCompleted, time: float) -> None:
    node_id, output = event.node_id, event.output
    if node_id in view.status_by_node or view.actors.owner(node_id) is None:
        view.outputs[node_id] = output
    if event.handoff is not None:
        view.handoffs[node_id] = event.handoff
    view.set_status(node_id, NodeStatus.COMPLETED)
    view.chats.complete(node_id, output, time)
    if node_id == view.plan_source:
        view.plan_phase = "execution"
    view.trace_log.note((time, event))


def _node_interrupted(view: ViewState, event: ev.NodeInterrupted, time: float) -> None:
    node_id = event.node_id
    _close_node(view, node_id, time)
    view.retryables[node_id] = Retryable(
        node_id, event.label, "interrupted by the user", interrupted=True
    )
    view.set_status(node_id, NodeStatus.INTERRUPTED)
    view.trace_log.note((time, event))


def _node_errored(view: ViewState, event: ev.NodeErrored, time: float) -> None:
    _close_node(view, event.node_id, time)
    view.retryables[event.node_id] = Retryable(event.node_id, event.label, event.error)
    _note_failure(view, event, time)


def _node_failed(view: ViewState, event: ev.NodeFailed, time: float) -> None:
    _note_failure(view, event, time)
    _end(view, RunStatus.FAILED, time)


def _run_error(view: ViewState, event: ev.RunError, time: float) -> None:
    view.last_error = event.message
    view.trace_log.note((time, event))
    _end(view, RunStatus.FAILED, time)


def _finished(view: ViewState, event: ev.Finished, time: float) -> None:
    view.last_report = event.report
    _end(view, RunStatus.COMPLETED, time)


def _aborted(view: ViewState, event: ev.Aborted, time: float) -> None:
    for node_id, retryable in list(view.retryables.items()):
        # Stopping a run interrupts what runs; the trace has said so already.
        if retryable.interrupted:
            del view.retryables[node_id]
            view.set_status(node_id, NodeStatus.STOPPED)
    _end(view, RunStatus.STOPPED, time)


def _subagents_declared(view: ViewState, event: ev.SubagentsDeclared, time: float) -> None:
    view.actors.declare(event.node_id, event.summaries)


def _subagent_started(view: ViewState, event: ev.SubagentStarted, time: float) -> None:
    view.actors.mark(event.node_id, event.subagent_id, "active")
    view.set_status(actor_id(event.node_id, event.subagent_id), NodeStatus.STARTED)


def _subagent_completed(view: ViewState, event: ev.SubagentCompleted, time: float) -> None:
    view.actors.mark(event.node_id, event.subagent_id, "completed")
    view.set_status(actor_id(event.node_id, event.subagent_id), NodeStatus.COMPLETED)


def _subagent_failed(view: ViewState, event: ev.SubagentFailed, time: float) -> None:
    view.actors.mark(event.node_id, event.subagent_id, "failed")
    actor = actor_id(event.node_id, event.subagent_id)
    _close_calls(view, actor, time)
    view.set_status(actor, NodeStatus.FAILED)
    view.trace_log.note((time, event))


def _usage_reported(view: ViewState, event: ev.UsageReported, time: float) -> None:
    view.usage_board.note(event)
    view.context_windows[event.node_id] = event


def _ai_invoke_failed(view: ViewState, event: ev.AiInvokeFailed, time: float) -> None:
    """The engine decides what becomes of a failed call; its own events tell."""


def _budget_decided(view: ViewState, event: BudgetDecided, time: float) -> None:
    if view.pending_inputs.pop(event.node_id, None) is not None:
        view.settle_status(event.node_id)
    view.trace_log.note((time, event))


def _only_trace(view: ViewState, event: ev.RunEvent, time: float) -> None:
    view.trace_log.note((time, event))


def _forget_failure(view: ViewState, node_id: str) -> None:
    view.failed.pop(node_id, None)
    view.retryables.pop(node_id, None)


def _forget_waits(view: ViewState, node_id: str) -> None:
    view.pending_inputs.pop(node_id, None)
    if view.open_approvals.pop(node_id, None):
        open_ids = [
            approval_id
            for approval_id, request in view.pending_approvals.items()
            if caller_of(request) == node_id
        ]
        for approval_id in open_ids:
            del view.pending_approvals[approval_id]
        for call_id, call in list(view.uncertain_calls.items()):
            if caller_of(call) == node_id:
                del view.uncertain_calls[call_id]


def _forget_approval(view: ViewState, approval_id: str) -> bool:
    request = view.pending_approvals.pop(approval_id, None)
    if request is None:
        return False
    view.open_approvals[caller_of(request)] -= 1
    return True


def _close_node(view: ViewState, node_id: str, time: float) -> None:
    for actor in view.actors.actors_of(node_id):
        _stop_actor(view, actor, time)
    _close_calls(view, node_id, time)


def _stop_actor(view: ViewState, actor: str, time: float) -> None:
    status = view.actors.status.get(actor)
    if status is not None and (status.is_busy or status in WAITING):
        _close_calls(view, actor, time)
        view.set_status(actor, NodeStatus.STOPPED)


def _close_calls(view: ViewState, node_id: str, time: float) -> None:
    _forget_waits(view, node_id)
    view.running_tools.pop(node_id, None)
    view.calls.abort_node(node_id, time)


def _note_failure(view: ViewState, event: ev.NodeErrored | ev.NodeFailed, time: float) -> None:
    view.failed[event.node_id] = event.error
    view.last_error = f"{event.label}: {event.error}"
    view.set_status(event.node_id, NodeStatus.FAILED)
    view.trace_log.note((time, event))


def _end(view: ViewState, status: RunStatus, time: float) -> None:
    view.chats.close_open(time)
    view.calls.abort_all(time)
    for actor in list(view.actors.status):
        _stop_actor(view, actor, time)
    for node_id, node_status in view.status_by_node.items():
        if node_status.is_busy or node_status in WAITING:
            view.set_status(node_id, NodeStatus.STOPPED)
            view.trace_log.add(time, node_id, TraceStatus.STOPPED, "Stopped")
    view.close(status)


Reducer = Callable[[ViewState, Any, float], None]

REDUCERS: Mapping[type[ev.RunEvent], Reducer] = {
    ev.NodeQueued: _node_queued,
    ev.NodeStarted: _node_started,
    ev.ChatMessage: _chat_message,
    ev.ChatMessageDelta: _chat_message_delta,
    ev.NodeAwaitingInput: _node_awaiting_input,
    ev.ToolCallProposed: _tool_call_proposed,
    ev.ToolApprovalRequested: _tool_approval_requested,
    ev.ToolApproved: _tool_approved,
    ev.ToolDenied: _tool_denied,
    ev.ToolStarted: _tool_started,
    ev.ToolRetrying: _only_trace,
    ev.ToolUpdated: _tool_updated,
    ev.ToolCompleted: _tool_completed,
    ev.ToolCallUncertain: _tool_call_uncertain,
    ev.ToolCallSettled: _tool_call_settled,
    ev.RunWaiting: _run_waiting,
    ev.ToolArtifactCreated: _tool_artifact_created,
    ev.FileChanged: _file_changed,
    ev.EditBatchRecorded: _edit_batch_recorded,
    ev.EditBatchUndone: _edit_batch_undone,
    ev.NodeCompleted: _node_completed,
    ev.NodeFailed: _node_failed,
    ev.NodeInterrupted: _node_interrupted,
    ev.NodeErrored: _node_errored,
    ev.Finished: _finished,
    ev.Aborted: _aborted,
    ev.RunError: _run_error,
    ev.SubagentsDeclared: _subagents_declared,
    ev.SubagentStarted: _subagent_started,
    ev.SubagentCompleted: _subagent_completed,
    ev.SubagentFailed: _subagent_failed,
    ev.PhaseTimed: _only_trace,
    ev.UsageReported: _usage_reported,
    ev.ContextCompacted: _only_trace,
    BudgetWarning: _only_trace,
    BudgetDecided: _budget_decided,
    NodeReconfigured: _only_trace,
    ev.AiInvokeFailed: _ai_invoke_failed,
    ev.OutputRepairStarted: _only_trace,
    ev.OutputRepairSucceeded: _only_trace,
    ev.OutputRepairFailed: _only_trace,
}

"""What each event does to a run's projection: one small function a type, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from engine.vocabulary import events as ev
from engine.vocabulary.report import PendingInput, Retryable
from orchestration.runs.view_state import ViewState
from orchestration.runs.view_values import (
    BUSY,
    ContextWindow,
    NodeStatus,
    RunStatus,
    TraceEntry,
    TraceStatus,
)

ENDED_BY_STOP = BUSY | {NodeStatus.AWAITING_INPUT, NodeStatus.AWAITING_TOOL_APPROVAL}


def _trace(
    view: ViewState,
    time: float,
    node_id: str,
    status: TraceStatus,
    message: str,
    output: Any = None,
) -> None:
    label = view.labels.get(node_id, node_id)
    view.trace.append(TraceEntry(time, node_id, label, status, message, output))


def _node_queued(view: ViewState, event: ev.NodeQueued, time: float) -> None:
    node_id = event.node_id
    _forget_failure(view, node_id)
    view.set_status(node_id, NodeStatus.QUEUED)
    view.timing(node_id).queued_at = time
    _trace(view, time, node_id, TraceStatus.QUEUED, "Queued")


def _node_started(view: ViewState, event: ev.NodeStarted, time: float) -> None:
    node_id = event.node_id
    _forget_failure(view, node_id)
    _forget_waits(view, node_id)
    view.last_error = None
    view.set_status(node_id, NodeStatus.STARTED)
    timing = view.timing(node_id)
    if timing.started_at is None:
        timing.started_at = time
    _trace(view, time, node_id, TraceStatus.RUNNING, "Started")


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
    view.pending_inputs[node_id] = PendingInput(
        pause_id=event.pause_id,
        node_id=node_id,
        label=event.label,
        context=event.context,
        is_initial=event.is_initial,
        structured_input=event.structured_input,
        question=event.question,
    )
    view.set_status(node_id, NodeStatus.AWAITING_INPUT)
    _trace(view, time, node_id, TraceStatus.PAUSED, "Waiting for an answer")


def _tool_call_proposed(view: ViewState, event: ev.ToolCallProposed, time: float) -> None:
    if view.calls.propose(event.node_id, event.tool_call):
        view.chats.mark_call(event.node_id, event.tool_call.id, time)


def _tool_approval_requested(view: ViewState, event: ev.ToolApprovalRequested, time: float) -> None:
    request = event.request
    if request.approval_id in view.pending_approvals:
        return
    node_id, name = request.node_id, request.tool_call.name
    view.pending_inputs.pop(node_id, None)
    view.pending_approvals[request.approval_id] = request
    view.open_approvals[node_id] = view.open_approvals.get(node_id, 0) + 1
    if view.calls.propose(node_id, request.tool_call):
        view.chats.mark_call(node_id, request.tool_call.id, time)
    view.calls.await_approval(request.tool_call.id)
    view.settle_status(node_id)
    view.chats.notice(node_id, f"{name} needs approval", time, request.tool_call.id)
    _trace(view, time, node_id, TraceStatus.PAUSED, f"{name} needs approval")


def _tool_approved(view: ViewState, event: ev.ToolApproved, time: float) -> None:
    view.calls.allow(event.tool_call_id)
    if _forget_approval(view, event.approval_id):
        view.settle_status(event.node_id)


def _tool_denied(view: ViewState, event: ev.ToolDenied, time: float) -> None:
    view.calls.block(event.tool_call_id, event.reason, time)
    _trace(view, time, event.node_id, TraceStatus.FAILED, f"{event.tool_name} denied")
    if _forget_approval(view, event.approval_id):
        view.settle_status(event.node_id)


def _tool_started(view: ViewState, event: ev.ToolStarted, time: float) -> None:
    node_id = event.node_id
    view.calls.start(node_id, event.tool_call_id, event.tool_name, event.arguments, time)
    view.running_tools[node_id] = view.running_tools.get(node_id, 0) + 1
    view.set_status(node_id, NodeStatus.RUNNING_TOOL)
    _trace(view, time, node_id, TraceStatus.RUNNING, event.tool_name)


def _tool_retrying(view: ViewState, event: ev.ToolRetrying, time: float) -> None:
    message = f"{event.tool_name} is tried again (attempt {event.attempt})"
    _trace(view, time, event.node_id, TraceStatus.RUNNING, message)


def _tool_updated(view: ViewState, event: ev.ToolUpdated, time: float) -> None:
    view.calls.update(event.tool_call_id, event.content, event.output_meta)


def _tool_completed(view: ViewState, event: ev.ToolCompleted, time: float) -> None:
    node_id = event.node_id
    call = view.calls.complete(
        event.tool_call_id, event.content, event.is_error, event.output_meta, time
    )
    if call is None:
        return
    status = TraceStatus.FAILED if event.is_error else TraceStatus.COMPLETED
    _trace(view, time, node_id, status, event.tool_name, event.content)
    if call.started_at is not None and view.running_tools.get(node_id):
        view.running_tools[node_id] -= 1
        view.settle_status(node_id)


def _tool_artifact_created(view: ViewState, event: ev.ToolArtifactCreated, time: float) -> None:
    view.tool_artifacts[event.artifact_id] = event.path


def _file_changed(view: ViewState, event: ev.FileChanged, time: float) -> None:
    view.changed_files.append(event.record)
    view.changed_files_by_node.setdefault(event.node_id, []).append(event.record)


def _edit_batch_recorded(view: ViewState, event: ev.EditBatchRecorded, time: float) -> None:
    view.edit_batches.append(event.batch)


def _node_completed(view: ViewState, event: ev.NodeCompleted, time: float) -> None:
    node_id, output = event.node_id, event.output
    view.outputs[node_id] = output
    if event.handoff is not None:
        view.handoffs[node_id] = event.handoff
    view.set_status(node_id, NodeStatus.COMPLETED)
    view.timing(node_id).completed_at = time
    view.chats.complete(node_id, output, time)
    if node_id == view.plan_source:
        view.plan_phase = "execution"
    _trace(view, time, node_id, TraceStatus.COMPLETED, "Completed", output)


def _node_interrupted(view: ViewState, event: ev.NodeInterrupted, time: float) -> None:
    node_id = event.node_id
    _close_node(view, node_id, time)
    view.retryables[node_id] = Retryable(
        node_id, event.label, "interrupted by the user", interrupted=True
    )
    view.set_status(node_id, NodeStatus.INTERRUPTED)
    _trace(view, time, node_id, TraceStatus.STOPPED, "Interrupted")


def _node_errored(view: ViewState, event: ev.NodeErrored, time: float) -> None:
    node_id = event.node_id
    _close_node(view, node_id, time)
    view.retryables[node_id] = Retryable(node_id, event.label, event.error)
    _note_failure(view, node_id, event.label, event.error, time)


def _node_failed(view: ViewState, event: ev.NodeFailed, time: float) -> None:
    _note_failure(view, event.node_id, event.label, event.error, time)
    _end(view, RunStatus.FAILED, time)


def _run_error(view: ViewState, event: ev.RunError, time: float) -> None:
    view.last_error = event.message
    view.trace.append(TraceEntry(time, "", "", TraceStatus.FAILED, event.message))
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
    summaries = view.subagents_by_node.setdefault(event.node_id, {})
    for summary in event.summaries:
        summaries[summary.id] = summary


def _subagent_started(view: ViewState, event: ev.SubagentStarted, time: float) -> None:
    _mark_subagent(view, event.node_id, event.subagent_id, "active")


def _subagent_completed(view: ViewState, event: ev.SubagentCompleted, time: float) -> None:
    _mark_subagent(view, event.node_id, event.subagent_id, "completed")


def _subagent_failed(view: ViewState, event: ev.SubagentFailed, time: float) -> None:
    _mark_subagent(view, event.node_id, event.subagent_id, "failed")
    message = f"Subagent {event.subagent_id}: {event.error}"
    _trace(view, time, event.node_id, TraceStatus.FAILED, message)


def _phase_timed(view: ViewState, event: ev.PhaseTimed, time: float) -> None:
    duration = event.duration_ms
    if event.node_id is not None and event.phase == "ai_invoke":
        view.timing(event.node_id).model_ms += duration
    spent = f"{duration}ms" if duration < 1000 else f"{duration / 1000:.1f}s"
    view.trace.append(
        TraceEntry(
            time,
            event.node_id or "",
            event.label,
            TraceStatus.COMPLETED,
            f"{event.phase}: {event.label} · {spent}",
            event,
        )
    )


def _usage_reported(view: ViewState, event: ev.UsageReported, time: float) -> None:
    usage = event.usage
    view.usage.add(usage)
    view.context_windows[event.node_id] = ContextWindow(
        node_id=event.node_id,
        model=event.model,
        used_tokens=usage.total_tokens,
        max_tokens=event.max_context_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
    )


def _nothing(view: ViewState, event: ev.AiInvokeFailed, time: float) -> None:
    """The engine decides what becomes of a failed call; its own events tell."""


def _repair_started(view: ViewState, event: ev.OutputRepairStarted, time: float) -> None:
    message = f"Output repair: asking {event.model}"
    _trace(view, time, event.node_id, TraceStatus.RUNNING, message)


def _repair_succeeded(view: ViewState, event: ev.OutputRepairSucceeded, time: float) -> None:
    message = f"Output repair: repaired by {event.model}"
    _trace(view, time, event.node_id, TraceStatus.COMPLETED, message)


def _repair_failed(view: ViewState, event: ev.OutputRepairFailed, time: float) -> None:
    _trace(view, time, event.node_id, TraceStatus.FAILED, f"Output repair: {event.reason}")


def _forget_failure(view: ViewState, node_id: str) -> None:
    view.failed.pop(node_id, None)
    view.retryables.pop(node_id, None)


def _forget_waits(view: ViewState, node_id: str) -> None:
    view.pending_inputs.pop(node_id, None)
    if view.open_approvals.pop(node_id, None):
        open_ids = [
            approval_id
            for approval_id, request in view.pending_approvals.items()
            if request.node_id == node_id
        ]
        for approval_id in open_ids:
            del view.pending_approvals[approval_id]


def _forget_approval(view: ViewState, approval_id: str) -> bool:
    request = view.pending_approvals.pop(approval_id, None)
    if request is None:
        return False
    view.open_approvals[request.node_id] -= 1
    return True


def _close_node(view: ViewState, node_id: str, time: float) -> None:
    _forget_waits(view, node_id)
    view.running_tools.pop(node_id, None)
    view.calls.abort_node(node_id, time)


def _note_failure(view: ViewState, node_id: str, label: str, error: str, time: float) -> None:
    view.failed[node_id] = error
    view.last_error = f"{label}: {error}"
    view.set_status(node_id, NodeStatus.FAILED)
    _trace(view, time, node_id, TraceStatus.FAILED, error)


def _mark_subagent(view: ViewState, node_id: str, subagent_id: str, status: str) -> None:
    summaries = view.subagents_by_node.setdefault(node_id, {})
    known = summaries.get(subagent_id)
    if known is None:
        known = ev.SubagentSummary(subagent_id, subagent_id, "", status)
    summaries[subagent_id] = replace(known, status=status)


def _end(view: ViewState, status: RunStatus, time: float) -> None:
    view.chats.close_open(time)
    view.calls.abort_all(time)
    for node_id, node_status in view.status_by_node.items():
        if node_status in ENDED_BY_STOP:
            view.set_status(node_id, NodeStatus.STOPPED)
            _trace(view, time, node_id, TraceStatus.STOPPED, "Stopped")
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
    ev.ToolRetrying: _tool_retrying,
    ev.ToolUpdated: _tool_updated,
    ev.ToolCompleted: _tool_completed,
    ev.ToolArtifactCreated: _tool_artifact_created,
    ev.FileChanged: _file_changed,
    ev.EditBatchRecorded: _edit_batch_recorded,
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
    ev.PhaseTimed: _phase_timed,
    ev.UsageReported: _usage_reported,
    ev.AiInvokeFailed: _nothing,
    ev.OutputRepairStarted: _repair_started,
    ev.OutputRepairSucceeded: _repair_succeeded,
    ev.OutputRepairFailed: _repair_failed,
}

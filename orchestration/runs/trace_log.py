"""The trace of a run: what happened when, worded and added up when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.vocabulary import events as ev
from engine.vocabulary.reconfiguration import NodeReconfigured, patch_text
from engine.vocabulary.spending import NODE, RUN, STOPPED, BudgetDecided, BudgetWarning, amount_text
from orchestration.runs.view_values import NodeTiming, TraceEntry, TraceStatus

_OF_SCOPE = {RUN: "Run:", NODE: "Node:"}
Row = tuple[str, TraceStatus, str, Any]
"""Node id, status, message, detail."""


class TraceLog:
    """Events that make rows and times, in order; what they make is made on the first reading."""

    __slots__ = ("_name", "_pending", "_rows", "_timings", "note")

    def __init__(self, name: Callable[[str], str]) -> None:
        """Take what gives the label of a node id."""
        self._name = name
        self._rows: list[TraceEntry] = []
        self._timings: dict[str, NodeTiming] = {}
        self._pending: list[tuple[float, ev.RunEvent] | TraceEntry] = []
        self.note: Callable[[tuple[float, ev.RunEvent]], None] = self._pending.append
        """Remembers an event that makes a row, with its time."""

    def add(self, time: float, node_id: str, status: TraceStatus, message: str) -> None:
        """Add a row that no single event makes."""
        self._pending.append(TraceEntry(time, node_id, self._name(node_id), status, message))

    def clear(self) -> None:
        """Forget the rows; the times stay."""
        self._catch_up()
        self._rows = []

    @property
    def rows(self) -> list[TraceEntry]:
        """All rows so far."""
        self._catch_up()
        return self._rows

    @property
    def timings(self) -> dict[str, NodeTiming]:
        """When each node did what; a node that was not begun is absent."""
        self._catch_up()
        return self._timings

    def _catch_up(self) -> None:
        for item in self._pending:
            if isinstance(item, TraceEntry):
                self._rows.append(item)
            else:
                self._rows.append(self._row(*item))
                self._take_time(*item)
        self._pending.clear()

    def _row(self, time: float, event: ev.RunEvent) -> TraceEntry:
        node_id, status, message, output = _ROWS[type(event)](event)
        return TraceEntry(time, node_id, self._name(node_id), status, message, output)

    def _take_time(self, time: float, event: ev.RunEvent) -> None:
        match event:
            case ev.NodeQueued(node_id=node_id):
                self._timing(node_id).queued_at = time
            case ev.NodeStarted(node_id=node_id):
                timing = self._timing(node_id)
                timing.started_at = timing.started_at or time
            case ev.NodeCompleted(node_id=node_id):
                self._timing(node_id).completed_at = time
            case ev.PhaseTimed(phase="ai_invoke", node_id=str(node_id), duration_ms=spent_ms):
                self._timing(node_id).model_ms += spent_ms

    def _timing(self, node_id: str) -> NodeTiming:
        return self._timings.setdefault(node_id, NodeTiming())


def _queued(event: ev.NodeQueued) -> Row:
    return event.node_id, TraceStatus.QUEUED, "Queued", None


def _started(event: ev.NodeStarted) -> Row:
    return event.node_id, TraceStatus.RUNNING, "Started", None


def _awaiting(event: ev.NodeAwaitingInput) -> Row:
    if event.budget is not None:
        return event.node_id, TraceStatus.PAUSED, event.question, None
    message = _with_repairs("Waiting for an answer", event.repairs)
    return event.node_id, TraceStatus.PAUSED, message, None


def _proposed(event: ev.ToolCallProposed) -> Row:
    call = event.tool_call
    return event.node_id, TraceStatus.COMPLETED, _with_repairs(call.name, call.repairs), None


def _approval(event: ev.ToolApprovalRequested) -> Row:
    request = event.request
    message = f"{request.tool_call.name} needs approval"
    return request.node_id, TraceStatus.PAUSED, message, None


def _uncertain(event: ev.ToolCallUncertain) -> Row:
    call = event.call
    message = f"{call.tool_call.name} may have run when the program ended"
    return call.node_id, TraceStatus.PAUSED, message, None


def _settled(event: ev.ToolCallSettled) -> Row:
    message = f"{event.tool_name}: {event.choice.value}"
    return event.node_id, TraceStatus.COMPLETED, message, None


def _run_waiting(event: ev.RunWaiting) -> Row:
    if event.reason:
        return "", TraceStatus.PAUSED, event.reason, None
    return "", TraceStatus.RUNNING, "goes on", None


def _denied(event: ev.ToolDenied) -> Row:
    return event.node_id, TraceStatus.FAILED, f"{event.tool_name} denied", None


def _tool_started(event: ev.ToolStarted) -> Row:
    return event.node_id, TraceStatus.RUNNING, event.tool_name, None


def _tool_retrying(event: ev.ToolRetrying) -> Row:
    message = f"{event.tool_name} is tried again (attempt {event.attempt})"
    return event.node_id, TraceStatus.RUNNING, message, None


def _tool_completed(event: ev.ToolCompleted) -> Row:
    status = TraceStatus.FAILED if event.is_error else TraceStatus.COMPLETED
    return event.node_id, status, event.tool_name, event.content


def _completed(event: ev.NodeCompleted) -> Row:
    message = _with_repairs("Completed", event.repairs)
    return event.node_id, TraceStatus.COMPLETED, message, event.output


def _interrupted(event: ev.NodeInterrupted) -> Row:
    return event.node_id, TraceStatus.STOPPED, "Interrupted", None


def _failed(event: ev.NodeErrored | ev.NodeFailed) -> Row:
    return event.node_id, TraceStatus.FAILED, event.error, None


def _run_error(event: ev.RunError) -> Row:
    return "", TraceStatus.FAILED, event.message, None


def _subagent_failed(event: ev.SubagentFailed) -> Row:
    message = f"Subagent {event.subagent_id}: {event.error}"
    return event.node_id, TraceStatus.FAILED, message, None


def _phase(event: ev.PhaseTimed) -> Row:
    duration = event.duration_ms
    spent = f"{duration}ms" if duration < 1000 else f"{duration / 1000:.1f}s"
    detail = {"phase": event.phase, "duration_ms": duration}
    message = f"{event.phase}: {event.label} · {spent}"
    return event.node_id or "", TraceStatus.COMPLETED, message, detail


def _compacted(event: ev.ContextCompacted) -> Row:
    message = (
        f"Context compacted: about {event.before} to {event.after} tokens, "
        f"{event.items} old results put aside"
    )
    return event.node_id, TraceStatus.RUNNING, message, None


def _budget_warning(event: BudgetWarning) -> Row:
    spent = amount_text(event.measure, event.spent)
    limit = amount_text(event.measure, event.limit)
    message = f"{_OF_SCOPE[event.scope]} {spent} used, warned of at {limit}"
    return event.node_id, TraceStatus.RUNNING, message, None


def _budget_decided(event: BudgetDecided) -> Row:
    limit = amount_text(event.measure, event.limit)
    if event.verdict == STOPPED:
        return event.node_id, TraceStatus.STOPPED, f"Stopped at the limit of {limit}", None
    message = f"Limit of the {event.scope} raised to {limit}"
    return event.node_id, TraceStatus.RUNNING, message, None


def _reconfigured(event: NodeReconfigured) -> Row:
    message = f"From now on in this run: {patch_text(event.patch)}"
    return event.node_id, TraceStatus.RUNNING, message, None


def _repair_started(event: ev.OutputRepairStarted) -> Row:
    return event.node_id, TraceStatus.RUNNING, f"Output repair: asking {event.model}", None


def _repair_succeeded(event: ev.OutputRepairSucceeded) -> Row:
    message = f"Output repair: repaired by {event.model}"
    return event.node_id, TraceStatus.COMPLETED, message, None


def _repair_failed(event: ev.OutputRepairFailed) -> Row:
    return event.node_id, TraceStatus.FAILED, f"Output repair: {event.reason}", None


def _with_repairs(message: str, repairs: tuple[str, ...]) -> str:
    """The message, and which repairs the arguments of the call behind it needed."""
    if not repairs:
        return message
    return f"{message} (arguments repaired: {', '.join(repairs).replace('_', ' ')})"


_ROWS: Mapping[type, Callable[[Any], Row]] = {
    ev.NodeQueued: _queued,
    ev.NodeStarted: _started,
    ev.NodeAwaitingInput: _awaiting,
    ev.ToolCallProposed: _proposed,
    ev.ToolApprovalRequested: _approval,
    ev.ToolDenied: _denied,
    ev.ToolCallUncertain: _uncertain,
    ev.ToolCallSettled: _settled,
    ev.RunWaiting: _run_waiting,
    ev.ToolStarted: _tool_started,
    ev.ToolRetrying: _tool_retrying,
    ev.ToolCompleted: _tool_completed,
    ev.NodeCompleted: _completed,
    ev.NodeInterrupted: _interrupted,
    ev.NodeErrored: _failed,
    ev.NodeFailed: _failed,
    ev.RunError: _run_error,
    ev.SubagentFailed: _subagent_failed,
    ev.PhaseTimed: _phase,
    ev.ContextCompacted: _compacted,
    BudgetWarning: _budget_warning,
    BudgetDecided: _budget_decided,
    NodeReconfigured: _reconfigured,
    ev.OutputRepairStarted: _repair_started,
    ev.OutputRepairSucceeded: _repair_succeeded,
    ev.OutputRepairFailed: _repair_failed,
}

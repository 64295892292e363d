"""What can be seen of a run at one moment, as plain data."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.vocabulary.report import NeedsInteraction
from orchestration.run_report import report_of
from orchestration.runs.event_hub import rfc3339
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import ChatEntry, EntryKind, ToolCallView


def projection(view: RunView) -> dict[str, Any]:
    """Status, nodes, outputs, what waits, conversations, calls and figures of the run."""
    waiting = NeedsInteraction(
        inputs=tuple(view.pending_inputs.values()),
        approvals=tuple(view.pending_approvals.values()),
        retryables=tuple(view.retryables.values()),
        uncertain=tuple(view.uncertain_calls.values()),
    )
    return {
        **report_of(view, waiting),
        "status": view.status.value,
        "error": view.last_error,
        "nodes": {node_id: _node(view, node_id) for node_id in view.labels},
        "chat": {
            node_id: [told for entry in chat if (told := _entry(entry)) is not None]
            for node_id, chat in view.chat.items()
        },
        "tool_calls": {
            node_id: [_call(call) for call in calls.values()]
            for node_id, calls in view.tool_calls.items()
        },
    }


def _node(view: RunView, node_id: str) -> dict[str, Any]:
    timing = view.timings.get(node_id)
    usage = view.context_windows.get(node_id)
    return {
        "label": view.labels[node_id],
        "status": view.status_by_node[node_id].value,
        "started": _moment(timing.started_at if timing is not None else None),
        "completed": _moment(timing.completed_at if timing is not None else None),
        "model": usage.model if usage is not None else None,
    }


def _entry(entry: ChatEntry) -> dict[str, Any] | None:
    if entry.kind is EntryKind.TOOL_CALL:
        return None
    return {"role": entry.role, "time": rfc3339(entry.created_at), "text": entry.content}


def _call(call: ToolCallView) -> dict[str, Any]:
    return {
        "call_id": call.call_id,
        "tool_name": call.tool_name,
        "status": call.status.value,
        "arguments": msgspec.to_builtins(call.arguments),
        "output": call.last_output,
        "is_error": call.is_error,
    }


def _moment(seconds: float | None) -> str | None:
    return rfc3339(seconds) if seconds is not None else None

"""What came of a run, as plain data and as an exit status."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.run.file_changes import merge_changes
from engine.vocabulary.recovery import UncertainCall
from engine.vocabulary.report import (
    NeedsInteraction,
    PendingApproval,
    PendingInput,
    RunCancelled,
    RunCompleted,
    RunOutcome,
)
from engine.vocabulary.tools import FileChangeRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus, UsageTotals

EXIT_STATUS = {
    RunStatus.COMPLETED: 0,
    RunStatus.FAILED: 1,
    RunStatus.PAUSED: 3,
    RunStatus.STOPPED: 130,
}


def status_of(outcome: RunOutcome) -> RunStatus:
    """How a run stands; open questions and approvals outweigh failed nodes."""
    match outcome:
        case RunCompleted():
            return RunStatus.COMPLETED
        case RunCancelled():
            return RunStatus.STOPPED
        case NeedsInteraction(inputs=inputs, approvals=approvals, retryables=retryables):
            open_ = inputs or approvals or outcome.uncertain
            waits = open_ or all(node.interrupted for node in retryables)
            return RunStatus.PAUSED if waits else RunStatus.FAILED
    return RunStatus.FAILED


def report_of(view: RunView, outcome: RunOutcome) -> dict[str, Any]:
    """The report as plain data; `usage` is `null` where no provider said anything."""
    return {
        "run_id": view.run_id,
        "status": status_of(outcome).value,
        "outputs": dict(sorted(view.outputs.items())),
        "failed": dict(sorted(view.failed.items())),
        "waiting": _waiting(outcome),
        "usage": _usage(view),
        "changed_files": [_changed_file(record) for record in merge_changes(view.changed_files)],
    }


def _usage(view: RunView) -> dict[str, Any]:
    """What was used up, and by which node; `null` where nobody said anything, or nobody can."""
    by_node = view.usage_by_node
    return {
        **_totals(view.usage),
        "by_node": {node_id: _totals(by_node[node_id]) for node_id in sorted(by_node)},
    }


def _totals(usage: UsageTotals) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(usage)
    if usage.cost is not None:
        told["cost"] = round(usage.cost, 9)
    return told


def _waiting(outcome: RunOutcome) -> list[dict[str, Any]]:
    if not isinstance(outcome, NeedsInteraction):
        return []
    waiting: list[dict[str, Any]] = [_question(pending) for pending in outcome.inputs]
    waiting += [_approval(pending) for pending in outcome.approvals]
    waiting += [_uncertain(call) for call in outcome.uncertain]
    waiting += [
        {"kind": "retry", "node_id": node.node_id, "label": node.label, "error": node.error}
        for node in outcome.retryables
        if node.interrupted
    ]
    return waiting


def _question(pending: PendingInput) -> dict[str, Any]:
    told: dict[str, Any] = {
        "kind": "question" if pending.budget is None else "budget",
        "node_id": pending.node_id,
        "label": pending.label,
        "pause_id": pending.pause_id,
        "question": pending.question,
    }
    if pending.structured_input is not None:
        told |= msgspec.to_builtins(pending.structured_input)
    if pending.budget is not None:
        told["limit"] = msgspec.to_builtins(pending.budget)
    return told


def _approval(pending: PendingApproval) -> dict[str, Any]:
    return {
        "kind": "approval",
        "node_id": pending.node_id,
        "label": pending.node_label,
        "approval_id": pending.approval_id,
        "path": list(pending.path or (pending.node_id,)),
        "tool_name": pending.tool_call.name,
        "tier": pending.tier.value,
        "arguments": pending.tool_call.arguments,
        "reason": pending.reason,
        "preview": msgspec.to_builtins(pending.preview),
        "rule": msgspec.to_builtins(pending.rule),
    }


def _uncertain(call: UncertainCall) -> dict[str, Any]:
    evidence = msgspec.to_builtins(call.evidence)
    return {
        "kind": "uncertain",
        "node_id": call.node_id,
        "label": call.node_label,
        "call_id": call.call_id,
        "path": list(call.path or (call.node_id,)),
        "tool_name": call.tool_call.name,
        "arguments": call.tool_call.arguments,
        "sign": call.evidence.sign.value,
        "files": evidence.get("files", []),
        "folders": evidence.get("folders", []),
    }


def _changed_file(record: FileChangeRecord) -> dict[str, Any]:
    told = {"path": record.path, "op": record.op.value}
    if record.rename_to is not None:
        told["rename_to"] = record.rename_to
    return told

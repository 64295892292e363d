"""The state of a run's projection and the few rules that several events share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.vocabulary.events import SubagentSummary, UsageReported
from engine.vocabulary.messages import HandoffArtifact
from engine.vocabulary.report import PendingApproval, PendingInput, Retryable, RunReport
from engine.vocabulary.tools import EditBatch, FileChangeRecord
from orchestration.runs.chat_log import ChatLog
from orchestration.runs.tool_call_log import ToolCallLog
from orchestration.runs.trace_log import TraceLog
from orchestration.runs.view_values import (
    ChatEntry,
    NodeStatus,
    NodeTiming,
    RunStatus,
    ToolCallView,
    TraceEntry,
    UsageTotals,
)


class ViewState:
    """Everything that can be seen of a run.

    `labels` maps every node id to its label. `plan_source` is the node that writes the plan where
    the workflow plans first.
    """

    def __init__(
        self,
        run_id: str,
        workflow_id: str,
        labels: Mapping[str, str],
        *,
        plan_source: str | None = None,
    ) -> None:
        self.run_id = run_id
        self.workflow_id = workflow_id
        self.labels = dict(labels)
        self.plan_source = plan_source
        self.plan_phase = "planning" if plan_source else None
        self.active = True
        self.ended_as: RunStatus | None = None
        self.last_error: str | None = None
        self.last_report: RunReport | None = None
        self.status_by_node: dict[str, NodeStatus] = dict.fromkeys(labels, NodeStatus.IDLE)
        self.pending_inputs: dict[str, PendingInput] = {}
        self.pending_approvals: dict[str, PendingApproval] = {}
        self.retryables: dict[str, Retryable] = {}
        self.outputs: dict[str, Any] = {}
        self.handoffs: dict[str, HandoffArtifact] = {}
        self.failed: dict[str, str] = {}
        self.trace_log = TraceLog(self.labels)
        self.usage = UsageTotals()
        self.context_windows: dict[str, UsageReported] = {}
        """Each node's latest usage report, which says how full its model's context is."""
        self.changed_files: list[FileChangeRecord] = []
        self.changed_files_by_node: dict[str, list[FileChangeRecord]] = {}
        self.edit_batches: list[EditBatch] = []
        self.tool_artifacts: dict[str, str] = {}
        self.subagents_by_node: dict[str, dict[str, SubagentSummary]] = {}
        self.chats = ChatLog()
        self.calls = ToolCallLog()
        self.running_tools: dict[str, int] = {}
        self.open_approvals: dict[str, int] = {}
        self._busy = 0

    @property
    def chat(self) -> dict[str, list[ChatEntry]]:
        """Each node's chat, by node id; a node that said nothing is absent."""
        return self.chats.by_node

    @property
    def tool_calls(self) -> dict[str, dict[str, ToolCallView]]:
        """Each node's tool calls by call id, in call order, by node id."""
        return self.calls.by_node

    @property
    def trace(self) -> list[TraceEntry]:
        """What happened, row by row."""
        return self.trace_log.rows

    @property
    def timings(self) -> dict[str, NodeTiming]:
        """When each node did what; a node that was not begun is absent."""
        return self.trace_log.timings

    @property
    def status(self) -> RunStatus:
        """How the run stands: open questions and approvals outweigh failed nodes."""
        if self.ended_as is not None:
            return self.ended_as
        if self._busy:
            return RunStatus.RUNNING
        if self.pending_inputs or self.pending_approvals:
            return RunStatus.PAUSED
        if self.failed:
            return RunStatus.FAILED
        return RunStatus.PAUSED if self.retryables else RunStatus.RUNNING

    def reopen(self) -> None:
        """The run goes on after it was stopped or has failed."""
        self.active, self.ended_as, self.last_error = True, None, None
        for node_id, status in self.status_by_node.items():
            if status is NodeStatus.STOPPED:
                self.status_by_node[node_id] = NodeStatus.IDLE

    def close(self, status: RunStatus) -> None:
        """The run is over: nobody waits for an answer any more."""
        self.active, self.ended_as = False, status
        self.pending_inputs.clear()
        self.pending_approvals.clear()
        self.open_approvals.clear()
        self.running_tools.clear()

    def set_status(self, node_id: str, status: NodeStatus) -> None:
        """Change a node's status; for the reducers."""
        old = self.status_by_node.get(node_id, NodeStatus.IDLE)
        self.status_by_node[node_id] = status
        self._busy += status.is_busy - old.is_busy

    def settle_status(self, node_id: str) -> None:
        """Give a node that has not ended the status that follows from what is open for it."""
        if self.running_tools.get(node_id):
            status = NodeStatus.RUNNING_TOOL
        elif node_id in self.pending_inputs:
            status = NodeStatus.AWAITING_INPUT
        elif self.open_approvals.get(node_id):
            status = NodeStatus.AWAITING_TOOL_APPROVAL
        else:
            status = NodeStatus.STARTED
        self.set_status(node_id, status)

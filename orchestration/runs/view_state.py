"""The state of a run's projection and the few rules that several events share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.vocabulary.events import SubagentSummary, UsageReported
from engine.vocabulary.messages import HandoffArtifact
from engine.vocabulary.recovery import UncertainCall
from engine.vocabulary.report import PendingApproval, PendingInput, Retryable, RunReport
from engine.vocabulary.tools import EditBatch, FileChangeRecord
from orchestration.runs.actor_board import ActorBoard
from orchestration.runs.chat_log import ChatLog
from orchestration.runs.pauses import caller_of
from orchestration.runs.tool_call_log import ToolCallLog
from orchestration.runs.trace_log import TraceLog
from orchestration.runs.usage_board import UsageBoard
from orchestration.runs.view_values import (
    ChatEntry,
    NodeStatus,
    NodeTiming,
    RunStatus,
    TodoItem,
    ToolCallView,
    TraceEntry,
    UsageTotals,
)

_OPEN = frozenset(
    {
        NodeStatus.STARTED,
        NodeStatus.RUNNING_TOOL,
        NodeStatus.AWAITING_INPUT,
        NodeStatus.AWAITING_TOOL_APPROVAL,
    }
)


class ViewState:
    """Everything that can be seen of a run.

    `labels` maps every node id to its label. `plan_source` is the node that writes the plan where
    the workflow plans first. What a subagent says and calls is kept like that of a node, under
    the id of its actor; see `actors`.
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
        self.uncertain_calls: dict[str, UncertainCall] = {}
        """Calls of unknown end that a person has to settle, by call id."""
        self.waiting_reason: str | None = None
        """Why a run that wants to go on does not yet, in a sentence."""
        self.may_go_first = False
        """Whether what it waits for would give way to it."""
        self.retryables: dict[str, Retryable] = {}
        self.outputs: dict[str, Any] = {}
        self.handoffs: dict[str, HandoffArtifact] = {}
        self.failed: dict[str, str] = {}
        self.actors = ActorBoard()
        """Which subagents there are, whose they are, and how they stand."""
        self.trace_log = TraceLog(self.name)
        self.usage_board = UsageBoard()
        self.context_windows: dict[str, UsageReported] = {}
        """Each node's latest usage report, which says how full its model's context is."""
        self.changed_files: list[FileChangeRecord] = []
        self.changed_files_by_node: dict[str, list[FileChangeRecord]] = {}
        self.edit_batches: list[EditBatch] = []
        self.tool_artifacts: dict[str, str] = {}
        self.todos: dict[str, tuple[TodoItem, ...]] = {}
        """The latest list of what is to be done of each node and subagent that keeps one."""
        self.chats = ChatLog()
        self.calls = ToolCallLog()
        self.running_tools: dict[str, int] = {}
        self.open_approvals: dict[str, int] = {}
        self._busy = 0

    def name(self, actor_id: str) -> str:
        """The label of a node, or the name of a subagent."""
        label = self.labels.get(actor_id)
        return label if label is not None else self.actors.name(actor_id)

    @property
    def subagents_by_node(self) -> dict[str, dict[str, SubagentSummary]]:
        """Each node's subagents by their ids; a node that has none is absent."""
        return self.actors.by_node

    @property
    def chat(self) -> dict[str, list[ChatEntry]]:
        """Each node's chat, by node id; a node that said nothing is absent."""
        return self.chats.by_node

    @property
    def tool_calls(self) -> dict[str, dict[str, ToolCallView]]:
        """Each node's tool calls by call id, in call order, by node id."""
        return self.calls.by_node

    @property
    def usage(self) -> UsageTotals:
        """What the run has used up."""
        return self.usage_board.total

    @property
    def usage_by_node(self) -> dict[str, UsageTotals]:
        """What each node has used up with its subagents; one of which nobody said is absent."""
        return self.usage_board.by_node

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
        if self.pending_inputs or self.pending_approvals or self.uncertain_calls:
            return RunStatus.PAUSED
        if self.failed:
            return RunStatus.FAILED
        return RunStatus.PAUSED if self.retryables else RunStatus.RUNNING

    def reopen(self, time: float) -> None:
        """The run goes on at `time`, after it was stopped, has failed or was cut off.

        What was cut off in the middle is begun anew or told anew, so nothing of it is open.
        """
        self.active, self.ended_as, self.last_error = True, None, None
        self.waiting_reason, self.may_go_first = None, False
        self.chats.close_open(time)
        self.calls.begin_anew()
        self.running_tools.clear()
        self._forget_uncertain_calls()
        for actor_id, status in [*self.status_by_node.items(), *self.actors.status.items()]:
            if status is NodeStatus.STOPPED and actor_id in self.status_by_node:
                self.status_by_node[actor_id] = NodeStatus.IDLE
            elif status in _OPEN:
                self.settle_status(actor_id)

    def _forget_uncertain_calls(self) -> None:
        for call in self.uncertain_calls.values():
            self.open_approvals[caller_of(call)] -= 1
        self.uncertain_calls.clear()

    def close(self, status: RunStatus) -> None:
        """The run is over: nobody waits for an answer any more."""
        self.active, self.ended_as = False, status
        self.pending_inputs.clear()
        self.pending_approvals.clear()
        self.open_approvals.clear()
        self.uncertain_calls.clear()
        self.waiting_reason, self.may_go_first = None, False
        self.running_tools.clear()

    def set_status(self, actor_id: str, status: NodeStatus) -> None:
        """Change the status of a node or a subagent; for the reducers."""
        by_node = self.status_by_node
        # Most events are of nodes, and there are many: a look into one dictionary tells them.
        old = by_node.get(actor_id)
        if old is None and (owner := self.actors.owner(actor_id)) is not None:
            self.actors.set_status(actor_id, status)
            if by_node.get(owner) in _OPEN:
                self.settle_status(owner)
            return
        by_node[actor_id] = status
        if status.is_busy:
            if old is None or not old.is_busy:
                self._busy += 1
        elif old is not None and old.is_busy:
            self._busy -= 1

    def settle_status(self, actor_id: str) -> None:
        """Give what has not ended the status that follows from what is open for it.

        A node whose subagents all wait for a decision waits for it, too.
        """
        at_work, waits = self.actors.standing(actor_id)
        if at_work or self.running_tools.get(actor_id):
            status = NodeStatus.RUNNING_TOOL
        elif actor_id in self.pending_inputs:
            status = NodeStatus.AWAITING_INPUT
        elif waits or self.open_approvals.get(actor_id):
            status = NodeStatus.AWAITING_TOOL_APPROVAL
        else:
            status = NodeStatus.STARTED
        self.set_status(actor_id, status)

    def forget_batch(self, batch_id: str) -> None:
        """An edit batch was reverted: its changes are no changes any more."""
        self.edit_batches = [each for each in self.edit_batches if each.batch_id != batch_id]
        self.changed_files = [each for each in self.changed_files if each.batch_id != batch_id]
        for node_id, records in self.changed_files_by_node.items():
            self.changed_files_by_node[node_id] = [
                record for record in records if record.batch_id != batch_id
            ]

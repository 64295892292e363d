"""Rows that wait for a person, and what becomes of them once their matter is settled."""

from __future__ import annotations

from typing import Any

from app.chat.call_rows import CallRows
from app.chat.row_maker import RowMaker
from app.chat.rows import (
    APPROVAL,
    ASSISTANT,
    ENDED,
    FAILURE,
    HERE,
    QUESTION,
    UNCERTAIN,
    WITH_ANOTHER,
    Row,
)
from app.chat.tool_words import tool_name, tool_target
from engine.vocabulary import events as ev
from orchestration.runs.pauses import caller_of
from orchestration.runs.view_values import RunStatus

_SETTLED = {"done": "Taken as done", "redo": "Run again", "skip": "Skipped"}


class CardRows:
    """Questions, approvals, calls of unknown end, failures and stops.

    Where the rows are read only there are no cards: nothing can be asked of the run any more.
    """

    def __init__(self, rows: RowMaker, calls: CallRows, *, is_read_only: bool) -> None:
        self._rows = rows
        self._calls = calls
        self._model = rows.model
        self._view = rows.view
        self._is_read_only = is_read_only
        self._open_cards: list[Row] = []

    def awaiting(self, event: ev.NodeAwaitingInput, time: float) -> None:
        """A node waits for an answer."""
        self.question_row(event.node_id, event, time)

    def question_row(self, node_id: str, pending: Any, time: float) -> None:
        """A card for a question; one that has a card already gets no second."""
        if self._open_card(QUESTION, "pause_id", pending.pause_id) is not None:
            return
        text = pending.question.strip()
        if pending.structured_input is not None:
            text = "\n\n".join(each.question for each in pending.structured_input.questions)
        elif self._last_said(node_id).endswith(text):
            text = ""
        row = self._rows.add(QUESTION, node_id, time, text)
        row.payload = pending
        self._open(row)

    def _last_said(self, node_id: str) -> str:
        row = self._rows.last(node_id)
        return row.whole_text.strip() if row is not None and row.kind == ASSISTANT else ""

    def _open_card(self, kind: str, id_name: str, matter: str) -> Row | None:
        fits = (row for row in self._open_cards if row.kind == kind)
        return next((row for row in fits if getattr(row.payload, id_name) == matter), None)

    def _open(self, row: Row) -> None:
        row.is_open = not self._is_read_only
        self._open_cards.append(row)

    def approval(self, event: ev.ToolApprovalRequested, time: float) -> None:
        """A call waits for a decision."""
        caller, call_id = caller_of(event.request), event.request.tool_call.id
        self._calls.row(caller, call_id, time)
        self._calls.show(caller, call_id)
        self.approval_row(event.request, time)

    def approval_row(self, request: Any, time: float) -> None:
        """A card for a call that waits; all calls of a turn know of each other."""
        if self._open_card(APPROVAL, "approval_id", request.approval_id) is not None:
            return
        call = request.tool_call
        words = f"{tool_name(call.name)} {tool_target(call.arguments)}".strip()
        row = self._rows.add(APPROVAL, caller_of(request), time, words)
        row.payload = request
        same_turn = [
            other
            for other in self._open_cards
            if other.kind == APPROVAL and other.actor_id == row.actor_id
        ]
        for each in (row, *same_turn):
            each.has_others = bool(same_turn)
        self._open(row)

    def approved(self, event: ev.ToolApproved, time: float) -> None:
        """A call was allowed, here or elsewhere."""
        self._decided(event.approval_id, "Allowed")
        self._calls.show(event.node_id, event.tool_call_id)

    def denied(self, event: ev.ToolDenied, time: float) -> None:
        """A call was denied, here or elsewhere."""
        reason = event.reason.strip()
        self._decided(event.approval_id, "Denied", f": {reason}" if reason else "")
        self._calls.show(event.node_id, event.tool_call_id)

    def _decided(self, approval_id: str, verdict: str, why: str = "") -> None:
        row = self._open_card(APPROVAL, "approval_id", approval_id)
        if row is not None:
            if row.decided == WITH_ANOTHER and verdict == "Allowed":
                verdict += " by the rule you made for this run"
            elif row.is_open and row.decided != HERE:
                verdict += " elsewhere"
            row.verdict = f"{verdict}{why}"

    def uncertain(self, event: ev.ToolCallUncertain, time: float) -> None:
        """Nobody knows how a call has ended."""
        caller, call_id = caller_of(event.call), event.call.call_id
        self._calls.row(caller, call_id, time)
        self._calls.show(caller, call_id)
        self.uncertain_row(event.call, time)

    def uncertain_row(self, uncertain: Any, time: float) -> None:
        """A card for a call of unknown end."""
        if self._open_card(UNCERTAIN, "call_id", uncertain.call_id) is not None:
            return
        call = uncertain.tool_call
        words = f"{tool_name(call.name)} {tool_target(call.arguments)}".strip()
        row = self._rows.add(UNCERTAIN, caller_of(uncertain), time, words)
        row.payload = uncertain
        self._open(row)

    def settled(self, event: ev.ToolCallSettled, time: float) -> None:
        """What became of a call of unknown end was decided."""
        row = self._open_card(UNCERTAIN, "call_id", event.tool_call_id)
        if row is not None:
            row.verdict = _SETTLED[event.choice]
        self._calls.show(event.node_id, event.tool_call_id)

    def errored(self, event: ev.NodeErrored, time: float) -> None:
        """A node has failed and can be retried."""
        self.failure_row(event.node_id, event.error, time, can_retry=True)

    def interrupted(self, event: ev.NodeInterrupted, time: float) -> None:
        """A node was interrupted and can be retried."""
        self.failure_row(event.node_id, "Interrupted", time, can_retry=True)

    def failed(self, event: ev.NodeFailed, time: float) -> None:
        """A node has failed for good."""
        for row in self._open_cards:
            if row.kind == FAILURE and row.node_id == event.node_id:
                row.payload = False
                self._model.touch(row)
                return
        self.failure_row(event.node_id, event.error, time, can_retry=False)

    def failure_row(self, node_id: str, error: str, time: float, *, can_retry: bool) -> None:
        """A card for a failure; without a node it is the run's."""
        row = self._rows.add(FAILURE, node_id, time, error[:1].upper() + error[1:])
        row.payload = can_retry
        self._open(row)

    def ended(self, text: str, time: float) -> None:
        """The run was stopped and can go on."""
        self._open(self._rows.add(ENDED, "", time, text))

    def close_settled_cards(self) -> None:
        """A card whose matter is settled, however it was, becomes a line of text."""
        still_open: list[Row] = []
        for row in self._open_cards:
            if self._is_unsettled(row):
                still_open.append(row)
            else:
                self._close(row)
        self._open_cards = still_open

    def _close(self, row: Row) -> None:
        row.is_open = False
        if row.text:
            self._model.touch(row)
        else:
            self._rows.forget(row)
            self._model.remove(row)

    def _is_unsettled(self, row: Row) -> bool:
        view = self._view
        if row.kind == QUESTION:
            pending = view.pending_inputs.get(row.node_id)
            return pending is not None and pending.pause_id == row.payload.pause_id
        if row.kind == APPROVAL:
            return row.payload.approval_id in view.pending_approvals
        if row.kind == UNCERTAIN:
            return row.payload.call_id in view.uncertain_calls
        if row.kind == FAILURE:
            return row.payload is False or row.node_id in view.retryables
        return view.status is RunStatus.STOPPED

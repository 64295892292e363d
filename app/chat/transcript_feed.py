"""From what a run tells to the rows of its transcript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.chat.output_text import output_markdown
from app.chat.rows import (
    APPROVAL,
    ASSISTANT,
    ENDED,
    FAILURE,
    NOTICE,
    OUTPUT,
    QUESTION,
    TASKS,
    THINKING,
    TOOL,
    UNCERTAIN,
    USER,
    Row,
    ToolLine,
)
from app.chat.todo_block import todo_markdown
from app.chat.tool_words import call_text, tool_name, tool_target
from app.chat.transcript_model import TranscriptModel
from app.kit.formats import duration_text, plural, usage_texts
from engine.vocabulary import events as ev
from engine.vocabulary.tools import HARNESS_TOOLS
from orchestration.runs.actor_board import actor_id as actor_id_of
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.pauses import caller_of
from orchestration.runs.run_view import RunView
from orchestration.runs.todo_lists import TODO_TOOL
from orchestration.runs.view_values import ChatEntry, EntryKind, RunStatus

_NO_LINE = HARNESS_TOOLS | {TODO_TOOL}
_SETTLED = {"done": "Taken as done", "redo": "Run again", "skip": "Skipped"}
_ROLES = {"user": USER, "assistant": ASSISTANT, "thinking": THINKING, "system": NOTICE}


class TranscriptFeed:
    """Turns events into rows; where events leave something open, the run's view decides.

    A feed that is read only makes no cards: nothing can be asked of the run any more.
    """

    def __init__(
        self, model: TranscriptModel, view: RunView, *, is_read_only: bool = False
    ) -> None:
        self._model = model
        self._is_read_only = is_read_only
        self._view = view
        self._started_at = 0.0
        self._streams: dict[str, Row] = {}
        self._tools: dict[str, Row] = {}
        self._todos: dict[str, Row] = {}
        self._open_cards: list[Row] = []
        self._handlers: dict[type, Callable[[Any, float], None]] = {
            ev.ChatMessage: self._message,
            ev.ChatMessageDelta: self._delta,
            ev.NodeAwaitingInput: self._awaiting,
            ev.ToolCallProposed: self._proposed,
            ev.ToolApprovalRequested: self._approval,
            ev.ToolApproved: self._approved,
            ev.ToolDenied: self._denied,
            ev.ToolCallUncertain: self._uncertain,
            ev.ToolCallSettled: self._settled,
            ev.ToolStarted: self._tool_changed,
            ev.ToolRetrying: self._tool_changed,
            ev.ToolUpdated: self._tool_changed,
            ev.ToolCompleted: self._tool_changed,
            ev.NodeCompleted: self._completed,
            ev.NodeErrored: self._errored,
            ev.NodeInterrupted: self._interrupted,
            ev.NodeFailed: self._failed,
            ev.SubagentFailed: self._subagent_failed,
            ev.RunError: self._run_error,
            ev.Finished: self._finished,
            ev.Aborted: self._aborted,
        }

    def apply(self, records: Sequence[EventRecord]) -> None:
        """Add what these events tell; the model tells of it when it is flushed."""
        for record in records:
            self._started_at = self._started_at or record.time
            handler = self._handlers.get(type(record.event))
            if handler is not None:
                handler(record.event, record.time)
        if self._open_cards:
            self._close_settled_cards()

    def catch_up(self) -> None:
        """Make the rows of everything that happened before the first event that is fed."""
        entries = [
            (entry.created_at, node_id, entry)
            for node_id, chat in self._view.chat.items()
            for entry in chat
        ]
        for time, node_id, entry in sorted(entries, key=lambda each: each[0]):
            self._started_at = self._started_at or time
            self._from_entry(node_id, entry)
        for actor_id in self._view.todos:
            self._show_todos(actor_id, self._now_of(actor_id))
        for pending in self._view.pending_inputs.values():
            self._question_row(pending.node_id, pending, self._now_of(pending.node_id))
        for request in self._view.pending_approvals.values():
            self._approval_row(request, self._now_of(caller_of(request)))
        for call in self._view.uncertain_calls.values():
            self._uncertain_row(call, self._now_of(caller_of(call)))
        for retryable in self._view.retryables.values():
            time = self._now_of(retryable.node_id)
            self._failure_row(retryable.node_id, retryable.error, time, can_retry=True)
        if self._view.status is RunStatus.STOPPED:
            self._ended("Stopped", self._started_at)

    def _now_of(self, node_id: str) -> float:
        chat = self._view.chat.get(node_id)
        return chat[-1].created_at if chat else self._started_at

    def _add(self, kind: str, actor_id: str, time: float, text: str = "") -> Row:
        """A row of a node, or of a subagent; the latter stands among its node's rows."""
        name, owner = self._view.name(actor_id), self._view.actors.owner(actor_id)
        if owner is None:
            return self._model.add(kind, actor_id, name, time, text)
        label = f"{self._view.name(owner)} / {name}"
        return self._model.add(kind, owner, label, time, text, actor_id=actor_id)

    def _from_entry(self, node_id: str, entry: ChatEntry) -> None:
        if entry.kind is EntryKind.TOOL_CALL:
            self._tool_row(node_id, entry.tool_call_id or "", entry.created_at)
        elif entry.kind is EntryKind.NODE_COMPLETED:
            self._output_row(node_id, entry.output, entry.created_at)
        elif entry.kind is EntryKind.MESSAGE:
            kind = _ROLES.get(entry.role, NOTICE)
            row = self._add(kind, node_id, entry.created_at, entry.content)
            if entry.streaming:
                row.is_open = True
                self._streams[entry.id] = row

    def _message(self, event: ev.ChatMessage, time: float) -> None:
        kind, text = _ROLES.get(event.role, NOTICE), event.content.strip()
        if not text:
            return
        last = self._model.rows[-1] if self._model.rows else None
        if kind == USER and last is not None and last.kind == USER and last.text == text:
            # What starts a run is told to every root; it was said once.
            return
        if kind == NOTICE:
            text = text[:1].upper() + text[1:]
        self._add(kind, event.node_id, time, text)

    def _delta(self, event: ev.ChatMessageDelta, time: float) -> None:
        row = self._streams.get(event.message_id)
        if row is None:
            if event.finalize and not event.delta:
                return
            row = self._add(_ROLES.get(event.role, NOTICE), event.node_id, time)
            row.is_open = True
            self._streams[event.message_id] = row
        if event.delta:
            self._model.extend(row, event.delta)
        if event.finalize:
            self._finalize(row, event.message_id, time)

    def _finalize(self, row: Row, message_id: str, time: float) -> None:
        """The view has filtered the text: what it kept is what the row says."""
        del self._streams[message_id]
        chat = self._view.chat.get(row.actor_id, [])
        entry = next((each for each in reversed(chat) if each.id == message_id), None)
        if entry is None:
            self._model.remove(row)
            return
        row.text = entry.content
        row.is_open = False
        row.seconds = max(0.0, time - row.time)
        self._model.touch(row)

    def _awaiting(self, event: ev.NodeAwaitingInput, time: float) -> None:
        self._question_row(event.node_id, event, time)

    def _question_row(self, node_id: str, pending: Any, time: float) -> None:
        if self._open_card(QUESTION, "pause_id", pending.pause_id) is not None:
            return
        text = pending.question.strip()
        if pending.structured_input is not None:
            text = "\n\n".join(each.question for each in pending.structured_input.questions)
        elif text == self._last_said(node_id):
            text = ""
        row = self._add(QUESTION, node_id, time, text)
        row.payload = pending
        self._open(row)

    def _last_said(self, node_id: str) -> str:
        for row in reversed(self._model.rows):
            if row.actor_id == node_id:
                return row.text.strip() if row.kind == ASSISTANT else ""
        return ""

    def _open_card(self, kind: str, id_name: str, matter: str) -> Row | None:
        fits = (row for row in self._open_cards if row.kind == kind)
        return next((row for row in fits if getattr(row.payload, id_name) == matter), None)

    def _open(self, row: Row) -> None:
        row.is_open = not self._is_read_only
        self._open_cards.append(row)

    def _proposed(self, event: ev.ToolCallProposed, time: float) -> None:
        self._tool_row(event.node_id, event.tool_call.id, time)

    def _tool_row(self, node_id: str, call_id: str, time: float) -> Row | None:
        call = self._view.tool_calls.get(node_id, {}).get(call_id)
        if call is None or call.tool_name in _NO_LINE or call_id in self._tools:
            return self._tools.get(call_id)
        row = self._add(TOOL, node_id, time)
        target = call.intent or tool_target(call.arguments)
        row.tool = ToolLine(tool_name(call.tool_name), target, call_text(call.arguments), call_id)
        self._tools[call_id] = row
        self._show_call(node_id, call_id)
        return row

    def _tool_changed(self, event: Any, time: float) -> None:
        self._tool_row(event.node_id, event.tool_call_id, time)
        self._show_call(event.node_id, event.tool_call_id)
        if event.tool_name == TODO_TOOL:
            self._show_todos(event.node_id, time)

    def _show_todos(self, actor_id: str, time: float) -> None:
        """Bring the card with the list in line; there is one for each who keeps a list."""
        items = self._view.todos.get(actor_id)
        if not items:
            return
        row = self._todos.get(actor_id)
        if row is None:
            row = self._todos[actor_id] = self._add(TASKS, actor_id, time)
        row.text, row.payload = todo_markdown(items), items
        self._model.touch(row)

    def _show_call(self, node_id: str, call_id: str) -> None:
        row = self._tools.get(call_id)
        call = self._view.tool_calls.get(node_id, {}).get(call_id)
        if row is None or row.tool is None or call is None:
            return
        row.tool.status = str(call.status)
        row.tool.output = call.last_output
        if call.started_at is not None and call.completed_at is not None:
            row.tool.seconds = call.completed_at - call.started_at
        self._model.touch(row)

    def _approval(self, event: ev.ToolApprovalRequested, time: float) -> None:
        caller, call_id = caller_of(event.request), event.request.tool_call.id
        self._tool_row(caller, call_id, time)
        self._show_call(caller, call_id)
        self._approval_row(event.request, time)

    def _approval_row(self, request: Any, time: float) -> None:
        if self._open_card(APPROVAL, "approval_id", request.approval_id) is not None:
            return
        call = request.tool_call
        words = f"{tool_name(call.name)} {tool_target(call.arguments)}".strip()
        row = self._add(APPROVAL, caller_of(request), time, words)
        row.payload = request
        same_turn = [
            other
            for other in self._open_cards
            if other.kind == APPROVAL and other.actor_id == row.actor_id
        ]
        for each in (row, *same_turn):
            each.has_others = bool(same_turn)
        self._open(row)

    def _approved(self, event: ev.ToolApproved, time: float) -> None:
        self._decided(event.approval_id, "Allowed")
        self._show_call(event.node_id, event.tool_call_id)

    def _denied(self, event: ev.ToolDenied, time: float) -> None:
        reason = event.reason.strip()
        self._decided(event.approval_id, f"Denied: {reason}" if reason else "Denied")
        self._show_call(event.node_id, event.tool_call_id)

    def _decided(self, approval_id: str, verdict: str) -> None:
        row = self._open_card(APPROVAL, "approval_id", approval_id)
        if row is not None:
            row.verdict = verdict

    def _uncertain(self, event: ev.ToolCallUncertain, time: float) -> None:
        caller, call_id = caller_of(event.call), event.call.call_id
        self._tool_row(caller, call_id, time)
        self._show_call(caller, call_id)
        self._uncertain_row(event.call, time)

    def _uncertain_row(self, uncertain: Any, time: float) -> None:
        if self._open_card(UNCERTAIN, "call_id", uncertain.call_id) is not None:
            return
        call = uncertain.tool_call
        words = f"{tool_name(call.name)} {tool_target(call.arguments)}".strip()
        row = self._add(UNCERTAIN, caller_of(uncertain), time, words)
        row.payload = uncertain
        self._open(row)

    def _settled(self, event: ev.ToolCallSettled, time: float) -> None:
        row = self._open_card(UNCERTAIN, "call_id", event.tool_call_id)
        if row is not None:
            row.verdict = _SETTLED[event.choice]
        self._show_call(event.node_id, event.tool_call_id)

    def _completed(self, event: ev.NodeCompleted, time: float) -> None:
        if event.output is not None:
            self._output_row(event.node_id, event.output, time)

    def _output_row(self, node_id: str, output: Any, time: float) -> None:
        row = self._add(OUTPUT, node_id, time, output_markdown(output))
        timing = self._view.timings.get(node_id)
        if timing is not None and timing.started_at is not None:
            row.seconds = max(0.0, time - timing.started_at)

    def _errored(self, event: ev.NodeErrored, time: float) -> None:
        self._failure_row(event.node_id, event.error, time, can_retry=True)

    def _interrupted(self, event: ev.NodeInterrupted, time: float) -> None:
        self._failure_row(event.node_id, "Interrupted", time, can_retry=True)

    def _failed(self, event: ev.NodeFailed, time: float) -> None:
        self._close_streams()
        for row in self._open_cards:
            if row.kind == FAILURE and row.node_id == event.node_id:
                row.payload = False
                self._model.touch(row)
                return
        self._failure_row(event.node_id, event.error, time, can_retry=False)

    def _failure_row(self, node_id: str, error: str, time: float, *, can_retry: bool) -> None:
        row = self._add(FAILURE, node_id, time, error[:1].upper() + error[1:])
        row.payload = can_retry
        self._open(row)

    def _subagent_failed(self, event: ev.SubagentFailed, time: float) -> None:
        actor = actor_id_of(event.node_id, event.subagent_id)
        self._add(NOTICE, actor, time, f"{self._view.name(actor)} failed: {event.error}")

    def _run_error(self, event: ev.RunError, time: float) -> None:
        self._close_streams()
        self._failure_row("", event.message, time, can_retry=False)

    def _finished(self, event: ev.Finished, time: float) -> None:
        parts = [
            "Workflow completed",
            plural(len(event.report.outputs), "output"),
            duration_text(time - self._started_at),
        ]
        usage = event.report.usage
        if usage is not None:
            parts += usage_texts(usage.total_tokens, usage.cost)
        self._add(NOTICE, "", time, " · ".join(parts))

    def _aborted(self, event: ev.Aborted, time: float) -> None:
        self._ended("Stopped", time)

    def _close_streams(self) -> None:
        """Messages that will not be completed any more keep what they hold."""
        for row in self._streams.values():
            row.is_open = False
            self._model.touch(row)
        self._streams.clear()

    def _ended(self, text: str, time: float) -> None:
        self._close_streams()
        self._open(self._add(ENDED, "", time, text))

    def _close_settled_cards(self) -> None:
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

"""From what a run tells to the rows of its transcript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.chat.call_rows import CallRows
from app.chat.card_rows import CardRows
from app.chat.output_text import output_markdown
from app.chat.row_maker import RowMaker
from app.chat.rows import ASSISTANT, NOTICE, OUTPUT, THINKING, USER, Row
from app.chat.transcript_model import TranscriptModel
from app.kit.formats import duration_text, plural, usage_texts
from engine.vocabulary import events as ev
from engine.vocabulary.reconfiguration import NodeReconfigured, patch_text
from orchestration.runs.actor_board import actor_id as actor_id_of
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.pauses import caller_of
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import ChatEntry, EntryKind, RunStatus

_ROLES = {"user": USER, "assistant": ASSISTANT, "thinking": THINKING, "system": NOTICE}


class TranscriptFeed:
    """Turns events into rows; where events leave something open, the run's view decides.

    A feed that is read only makes no cards: nothing can be asked of the run any more. In a talk
    that one message follows another needs no card.
    """

    def __init__(
        self,
        model: TranscriptModel,
        view: RunView,
        *,
        is_read_only: bool = False,
        is_talk: bool = False,
    ) -> None:
        self._model = model
        self._view = view
        self._started_at = 0.0
        self._is_talk = is_talk
        self._streams: dict[str, Row] = {}
        self._rows = RowMaker(model, view)
        self._calls = calls = CallRows(self._rows)
        self._cards = cards = CardRows(self._rows, calls, is_read_only=is_read_only)
        self._handlers: dict[type, Callable[[Any, float], None]] = {
            ev.ChatMessage: self._message,
            ev.ChatMessageDelta: self._delta,
            ev.NodeAwaitingInput: self._awaiting,
            ev.ToolCallProposed: self._proposed,
            ev.ToolApprovalRequested: cards.approval,
            ev.ToolApproved: cards.approved,
            ev.ToolDenied: cards.denied,
            ev.ToolCallUncertain: cards.uncertain,
            ev.ToolCallSettled: cards.settled,
            ev.ToolStarted: calls.changed,
            ev.ToolRetrying: calls.changed,
            ev.ToolUpdated: calls.changed,
            ev.ToolCompleted: calls.changed,
            ev.EditBatchRecorded: self._recorded,
            ev.EditBatchUndone: self._undone,
            ev.NodeCompleted: self._completed,
            ev.NodeErrored: cards.errored,
            ev.NodeInterrupted: cards.interrupted,
            ev.NodeFailed: self._failed,
            ev.SubagentFailed: self._subagent_failed,
            ev.RunError: self._run_error,
            NodeReconfigured: self._reconfigured,
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
        self._calls.close_ended()
        self._cards.close_settled_cards()

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
            self._calls.show_todos(actor_id, self._now_of(actor_id))
        self._calls.catch_up()
        for pending in self._view.pending_inputs.values():
            self._question(pending.node_id, pending, self._now_of(pending.node_id))
        for request in self._view.pending_approvals.values():
            self._cards.approval_row(request, self._now_of(caller_of(request)))
        for call in self._view.uncertain_calls.values():
            self._cards.uncertain_row(call, self._now_of(caller_of(call)))
        for retryable in self._view.retryables.values():
            time = self._now_of(retryable.node_id)
            self._cards.failure_row(retryable.node_id, retryable.error, time, can_retry=True)
        if self._view.status is RunStatus.STOPPED:
            self._ended("Stopped", self._started_at)

    def _now_of(self, node_id: str) -> float:
        chat = self._view.chat.get(node_id)
        return chat[-1].created_at if chat else self._started_at

    def _from_entry(self, node_id: str, entry: ChatEntry) -> None:
        if entry.kind is EntryKind.TOOL_CALL:
            self._calls.row(node_id, entry.tool_call_id or "", entry.created_at)
        elif entry.kind is EntryKind.NODE_COMPLETED:
            self._output_row(node_id, entry.output, entry.created_at)
        elif entry.kind is EntryKind.MESSAGE:
            kind = _ROLES.get(entry.role, NOTICE)
            row = self._rows.add(kind, node_id, entry.created_at, entry.content)
            if entry.streaming:
                row = row.last_part
                row.is_open = True
                self._streams[entry.id] = row
            elif entry.completed_at is not None:
                row.seconds = max(0.0, entry.completed_at - entry.created_at)

    def _message(self, event: ev.ChatMessage, time: float) -> None:
        kind, text = _ROLES.get(event.role, NOTICE), event.content.strip()
        if not text:
            return
        last = self._model.rows[-1] if self._model.rows else None
        if kind == USER and last is not None and last.kind == USER and last.whole_text == text:
            # What starts a run is told to every root; it was said once.
            return
        if kind == NOTICE:
            text = text[:1].upper() + text[1:]
        self._rows.add(kind, event.node_id, time, text)

    def _delta(self, event: ev.ChatMessageDelta, time: float) -> None:
        row = self._streams.get(event.message_id)
        if row is None:
            if event.finalize and not event.delta:
                return
            row = self._rows.add(_ROLES.get(event.role, NOTICE), event.node_id, time)
            row.is_open = True
            self._streams[event.message_id] = row
        if event.delta:
            row = self._streams[event.message_id] = self._model.extend(row, event.delta)
        if event.finalize:
            self._finalize(row, event.message_id, time)

    def _finalize(self, row: Row, message_id: str, time: float) -> None:
        """The view has filtered the text: what it kept is what the row says."""
        del self._streams[message_id]
        chat = self._view.chat.get(row.actor_id, [])
        entry = next((each for each in reversed(chat) if each.id == message_id), None)
        if entry is None:
            for part in row.parts:
                self._rows.forget(part)
                self._model.remove(part)
            return
        row.parts[0].seconds = max(0.0, time - row.time)
        self._model.settle(row, entry.content)

    def _awaiting(self, event: ev.NodeAwaitingInput, time: float) -> None:
        self._question(event.node_id, event, time)

    def _question(self, node_id: str, pending: Any, time: float) -> None:
        is_plain = pending.structured_input is None and pending.budget is None
        if not (self._is_talk and is_plain):
            self._cards.question_row(node_id, pending, time)
            return
        text, last = pending.question.strip(), self._rows.last(node_id)
        if text and (last is None or last.kind != ASSISTANT or last.whole_text.strip() != text):
            self._rows.add(ASSISTANT, node_id, time, text)

    def _proposed(self, event: ev.ToolCallProposed, time: float) -> None:
        self._calls.row(event.node_id, event.tool_call.id, time)

    def _recorded(self, event: ev.EditBatchRecorded, time: float) -> None:
        self._calls.recorded(event)

    def _undone(self, event: ev.EditBatchUndone, time: float) -> None:
        self._calls.undone(event)

    def _completed(self, event: ev.NodeCompleted, time: float) -> None:
        if event.output is not None:
            self._output_row(event.node_id, event.output, time)

    def _output_row(self, node_id: str, output: Any, time: float) -> None:
        row = self._rows.add(OUTPUT, node_id, time, output_markdown(output))
        row.payload, row.handoff = output, self._view.handoffs.get(node_id)
        timing = self._view.timings.get(node_id)
        if timing is not None and timing.started_at is not None:
            row.seconds = max(0.0, time - timing.started_at)

    def _subagent_failed(self, event: ev.SubagentFailed, time: float) -> None:
        actor = actor_id_of(event.node_id, event.subagent_id)
        self._rows.add(NOTICE, actor, time, f"{self._view.name(actor)} failed: {event.error}")

    def _failed(self, event: ev.NodeFailed, time: float) -> None:
        self._close_streams()
        self._cards.failed(event, time)

    def _reconfigured(self, event: NodeReconfigured, time: float) -> None:
        text = f"From now on in this run: {patch_text(event.patch)}"
        self._rows.add(NOTICE, event.node_id, time, text)

    def _run_error(self, event: ev.RunError, time: float) -> None:
        self._close_streams()
        self._cards.failure_row("", event.message, time, can_retry=False)

    def _finished(self, event: ev.Finished, time: float) -> None:
        parts = [
            "The agent has ended this conversation" if self._is_talk else "Workflow completed",
            plural(len(event.report.outputs), "output"),
            duration_text(time - self._started_at),
        ]
        usage = event.report.usage
        if usage is not None:
            parts += usage_texts(usage.total_tokens, usage.cost)
        self._rows.add(NOTICE, "", time, " · ".join(parts))

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
        if not self._is_talk:  # a chat goes on with the next message
            self._cards.ended(text, time)

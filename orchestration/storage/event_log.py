"""What a run told, kept for its history: whole messages instead of their pieces, in batches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from engine.vocabulary.events import (
    Aborted,
    ChatMessageDelta,
    Finished,
    NodeAwaitingInput,
    NodeCompleted,
    NodeErrored,
    NodeFailed,
    NodeInterrupted,
    NodeStarted,
    RunError,
    ToolApprovalRequested,
    ToolApproved,
    ToolArtifactCreated,
    ToolDenied,
    ToolUpdated,
    UsageReported,
)
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.view_state import ViewState
from orchestration.storage.bodies import BodyReader, encode
from orchestration.storage.database import Database
from orchestration.storage.errors import StorageError
from orchestration.storage.statements import Kind, Row

# After these a run waits for a person, or is over: what was told has to be there at once.
_RESTS = frozenset(
    {
        NodeAwaitingInput,
        ToolApprovalRequested,
        NodeErrored,
        NodeInterrupted,
        NodeFailed,
        Finished,
        Aborted,
        RunError,
    }
)
logger = logging.getLogger(__name__)

EVENTS_A_ROW = 200

RECORDS: BodyReader[list[EventRecord]] = BodyReader(list[EventRecord])


class Decisions(Protocol):
    """Who writes down what was decided about calls."""

    def decided(
        self, node_id: str, call_id: str, *, approval_id: str, allow: bool, reason: str = ""
    ) -> None:
        """What a person, a rule or the policy decided."""


class _Batch(Struct):
    """What has come since the last rows were made."""

    records: list[EventRecord]
    nodes: dict[str, Row]
    rows: list[tuple[Kind, Row]]


class EventLog:
    """Takes every event of one run and keeps what a replay needs.

    Of a streamed message two pieces are kept: the first, which says when it began, and all others
    as one when it is complete. The tails of running calls are not kept: their results are. Numbers
    go on where the run's last session ended, so an event has the same number for ever.
    """

    def __init__(
        self,
        database: Database,
        run: int,
        view: ViewState,
        decisions: Decisions,
        *,
        last_event: int = 0,
        segment: int = 0,
    ) -> None:
        """Take where the run is kept and its projection, which has seen an event before this has.

        Args:
            database: where.
            run: the run's number there.
            view: how the run stands.
            decisions: gets what was decided about calls.
            last_event: the number of the last event of earlier sessions.
            segment: how often the run was begun or taken up before.
        """
        self._database = database
        self._run = run
        self._view = view
        self._decisions = decisions
        self._before = last_event
        self._segment = segment
        self._messages: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        self._batch = _Batch([], {}, [])
        self._special: dict[type, Callable[[int, Any], None]] = {
            UsageReported: self._take_usage,
            ToolArtifactCreated: self._take_artifact,
            ToolApproved: self._take_approval,
            ToolDenied: self._take_denial,
        }
        self._standing: Row = ()
        self._started: dict[str, float] = {}
        self._is_due = False

    def take(self, record: EventRecord) -> None:
        """Keep an event; a listener of the run's event hub."""
        event = record.event
        kind = type(event)
        if kind is ToolUpdated:
            return
        if kind is ChatMessageDelta:
            whole = self._joined(event)  # type: ignore[arg-type]
            if whole is None:
                return
            event = whole
        seq, now = self._before + record.seq, record.time
        special = self._special.get(kind)
        if special is not None:
            special(seq, event)
        view = self._view
        usage = view.usage
        standing = (self._run, view.status.value, now, usage.tokens_in, usage.tokens_out)
        node = self._node_row(getattr(event, "node_id", None), kind, now)
        with self._lock:
            batch = self._batch
            batch.records.append(EventRecord(seq, now, event))
            self._standing = standing
            if node is not None:
                batch.nodes[node[1]] = node
            is_due, self._is_due = self._is_due, True
        rests = kind in _RESTS
        if rests or not is_due:
            self._ask_to_be_written(rests)

    def flush(self) -> None:
        """Ask to be written at once, such as after the database has recovered."""
        self._ask_to_be_written(True)

    def reopened(self) -> None:
        """The run goes on after it was stopped or has failed: what comes next is a new segment."""
        with self._lock:
            self._cut()
            self._segment += 1

    def rows(self) -> Iterator[tuple[Kind, Row]]:
        """What there is to write, on the storage thread."""
        with self._lock:
            self._cut()
            rows, self._batch.rows = self._batch.rows, []
            self._is_due = False
        for kind, row in rows:
            if kind is Kind.EVENTS:
                run, segment, records = row
                for first in range(0, len(records), EVENTS_A_ROW):
                    part = records[first : first + EVENTS_A_ROW]
                    yield kind, (run, part[0].seq, part[-1].seq, segment, encode(part))
            else:
                yield kind, row

    def _cut(self) -> None:
        """Turn the events so far into rows, together with how the run stands after them."""
        batch = self._batch
        if not batch.records:
            return
        rows = batch.rows
        rows.append((Kind.EVENTS, (self._run, self._segment, batch.records)))
        rows.extend([(Kind.NODE, node) for node in batch.nodes.values()])
        rows.append((Kind.PROGRESS, self._standing))
        self._batch = _Batch([], {}, rows)

    def _ask_to_be_written(self, soon: bool) -> None:
        try:
            self._database.collect(self, soon=soon)
        except StorageError:
            # The run hears of it from the database itself; what was told stays here until then.
            self._is_due = False

    def _node_row(self, node_id: str | None, kind: type, now: float) -> Row | None:
        """How the node of an event stands after it."""
        view = self._view
        status = view.status_by_node.get(node_id) if node_id is not None else None
        if node_id is None or status is None:
            return None
        if kind is NodeStarted:
            self._started[node_id] = now
        ended = now if kind is NodeCompleted else None
        label = view.labels.get(node_id, node_id)
        return (self._run, node_id, label, status.value, self._started.get(node_id), ended)

    def _joined(self, delta: ChatMessageDelta) -> ChatMessageDelta | None:
        """The first piece as it is, and once the last one has come all others as one."""
        pieces = self._messages.get(delta.message_id)
        if pieces is None:
            if not delta.finalize:
                self._messages[delta.message_id] = []
            return delta
        pieces.append(delta.delta)
        if not delta.finalize:
            return None
        del self._messages[delta.message_id]
        return msgspec.structs.replace(delta, delta="".join(pieces))

    def _take_usage(self, seq: int, event: UsageReported) -> None:
        usage = event.usage
        counted = (usage.prompt_tokens, usage.completion_tokens, usage.cached_input_tokens)
        with self._lock:
            self._batch.rows.append(
                (Kind.USAGE, (self._run, seq, event.node_id, event.model, *counted))
            )

    def _take_artifact(self, seq: int, event: ToolArtifactCreated) -> None:
        row = (
            self._run,
            event.artifact_id,
            event.node_id,
            event.tool_name,
            event.path,
            event.size_bytes,
        )
        with self._lock:
            self._batch.rows.append((Kind.ARTIFACT, row))

    def _take_approval(self, seq: int, event: ToolApproved) -> None:
        self._decide(event, True)

    def _take_denial(self, seq: int, event: ToolDenied) -> None:
        self._decide(event, False, event.reason)

    def _decide(self, event: ToolApproved | ToolDenied, allow: bool, reason: str = "") -> None:
        try:
            self._decisions.decided(
                event.node_id,
                event.tool_call_id,
                approval_id=event.approval_id,
                allow=allow,
                reason=reason,
            )
        except StorageError as error:
            # The run hears of it from the database itself, and ends.
            logger.info("a decision was not kept: %s", error)

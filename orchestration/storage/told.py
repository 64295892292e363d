"""What a run told, held against what had happened in it.

Facts are safe before their events are, so a kill may take the last events of a session and leave
their facts. What only the engine tells follows from the inputs, one for one; so it can be found out
which events are missing, and up to which event an input was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from engine.graph.workflow import Workflow
from engine.vocabulary import events as ev
from engine.vocabulary.effects import Step
from engine.vocabulary.inputs import EngineInput, ModelReplied, ToolsFinished
from engine.vocabulary.ports import ToolCatalog
from engine.vocabulary.reconfiguration import NodeReconfigured
from engine.vocabulary.spending import BudgetDecided, BudgetWarning
from engine.vocabulary.tools import EditBatch, FileChangeOp, FileChangeRecord, FileSnapshot
from orchestration.runs.event_hub import EventRecord
from orchestration.storage.facts import CallEnd, RecordedRun
from orchestration.storage.rebuilding import rebuilt_engine

_OF_THE_ENGINE = (
    ev.NodeQueued,
    ev.NodeAwaitingInput,
    ev.ToolCallProposed,
    ev.ToolApprovalRequested,
    ev.ToolApproved,
    ev.ToolDenied,
    ev.ToolCallUncertain,
    ev.ToolCallSettled,
    ev.NodeCompleted,
    ev.NodeFailed,
    ev.NodeInterrupted,
    ev.NodeErrored,
    ev.Finished,
    ev.Aborted,
    ev.SubagentsDeclared,
    ev.SubagentStarted,
    ev.SubagentCompleted,
    ev.SubagentFailed,
    ev.UsageReported,
    BudgetWarning,
    BudgetDecided,
    NodeReconfigured,
)


class _Known:
    """What was told of calls: those that have ended, edits that can be undone, changed files."""

    def __init__(self) -> None:
        self.completed: set[str] = set()
        self.batches: set[str] = set()
        self.changes: set[FileChangeRecord] = set()

    def note(self, told: Iterable[ev.RunEvent]) -> None:
        """Take in what was told."""
        for event in told:
            if isinstance(event, ev.ToolCompleted):
                self.completed.add(event.tool_call_id)
            elif isinstance(event, ev.EditBatchRecorded):
                self.batches.add(event.batch.batch_id)
            elif isinstance(event, ev.FileChanged):
                self.changes.add(event.record)


class Told(Struct, frozen=True):
    """An input and everything that the engine told of it."""

    given: EngineInput
    events: tuple[ev.RunEvent, ...]

    @property
    def count(self) -> int:
        """How many of the events only the engine tells."""
        return sum(map(_is_of_the_engine, self.events))


def steps_of(recorded: RecordedRun, workflow: Workflow, catalog: ToolCatalog) -> list[Told]:
    """What the engine told of each input that it took, in order.

    Raises:
        UnreadableRun: the inputs do not fit the workflow.
    """
    steps: list[Told] = []

    def note(given: EngineInput, step: Step) -> None:
        steps.append(Told(given, step.events))

    rebuilt_engine(recorded, workflow, catalog, on_step=note)
    return steps


def untold(
    steps: Iterable[Told], ends: dict[str, CallEnd], records: Sequence[EventRecord]
) -> tuple[ev.RunEvent, ...]:
    """Events that should have been told after the records, in order.

    `ends` are of all calls whose end is known. What was streamed is told as a whole.
    """
    told = [record.event for record in records]
    left = sum(map(_is_of_the_engine, told))
    known = _Known()
    known.note(told)
    streams = _streams(told)
    missing: list[ev.RunEvent] = []
    for step in steps:
        rest: Sequence[ev.RunEvent] = step.events
        count = step.count
        if count <= left and (left > 0 or count == 0):
            left -= count
            rest = () if count else _unknown(step.events, known.completed)
        elif left:
            rest = _after(step.events, left)
            left = 0
        elif isinstance(step.given, ModelReplied):
            missing.extend(_message(step.given, streams))
        if isinstance(step.given, ToolsFinished):
            for result in step.given.results:
                missing.extend(_end_of(result.call_id, ends, known))
        missing.extend(rest)
        known.note(rest)
    for call_id in list(ends):
        missing.extend(_end_of(call_id, ends, known))
    return tuple(missing)


def told_until(steps: Sequence[Told], records: Iterable[EventRecord], seq: int) -> int:
    """How many of the steps had been told when event number `seq` was."""
    left = sum(_is_of_the_engine(record.event) for record in records if record.seq <= seq)
    for place, step in enumerate(steps):
        count = step.count
        if count > left:
            return place
        left -= count
    return len(steps)


def last_event_of(steps: Iterable[Told], records: Sequence[EventRecord]) -> int:
    """The number of the event after which all that was told is of later inputs than `steps`."""
    left = sum(step.count for step in steps)
    last = 0
    for record in records:
        if _is_of_the_engine(record.event):
            if not left:
                break
            left -= 1
        last = record.seq
    return last


def _is_of_the_engine(event: ev.RunEvent) -> bool:
    return isinstance(event, _OF_THE_ENGINE) or (
        isinstance(event, ev.ChatMessage) and event.role == "user"
    )


def _after(events: Sequence[ev.RunEvent], told: int) -> Sequence[ev.RunEvent]:
    """The events after the first `told` of the engine's own."""
    for place, event in enumerate(events):
        told -= _is_of_the_engine(event)
        if told == 0:
            return events[place + 1 :]
    return ()


def _unknown(events: Iterable[ev.RunEvent], completed: set[str]) -> Sequence[ev.RunEvent]:
    """Ends of calls that a step told and that are not among what is known."""
    return [
        event
        for event in events
        if isinstance(event, ev.ToolCompleted) and event.tool_call_id not in completed
    ]


def _streams(told: Iterable[ev.RunEvent]) -> dict[str, tuple[str, bool]]:
    """Each streamed message by its id: its text so far, and whether it is complete."""
    streams: dict[str, tuple[str, bool]] = {}
    for event in told:
        if isinstance(event, ev.ChatMessageDelta):
            before = streams.get(event.message_id, ("", False))[0]
            streams[event.message_id] = (before + event.delta, event.finalize)
    return streams


def _message(replied: ModelReplied, streams: dict[str, tuple[str, bool]]) -> Iterator[ev.RunEvent]:
    """What the model said in a reply, unless it is known."""
    text = getattr(replied.reply, "assistant_message", None)
    if not text or not text.strip():
        return
    node_id = replied.node_id
    message_id = f"{node_id}/{replied.call}/text"
    begun, is_complete = streams.get(message_id, ("", False))
    if is_complete:
        return
    if begun and text.startswith(begun):
        rest = text[len(begun) :]
        yield ev.ChatMessageDelta(node_id, message_id, "assistant", rest, finalize=True)
    else:
        yield ev.ChatMessage(node_id, "assistant", text)


def _end_of(call_id: str, ends: dict[str, CallEnd], known: _Known) -> Iterator[ev.RunEvent]:
    end = ends.get(call_id)
    if end is None or call_id in known.completed:
        return
    known.completed.add(call_id)
    result = end.result
    node_id = end.node_id.partition("/")[0]
    yield from _batches_of(node_id, end, known)
    for change in end.effects.file_changes:
        if change not in known.changes:
            yield ev.FileChanged(node_id, change)
    yield ev.ToolCompleted(
        end.node_id,
        call_id,
        result.tool_name,
        result.content,
        result.is_error,
        result.output_meta,
        result.artifact_ids,
    )


def _batches_of(node_id: str, end: CallEnd, known: _Known) -> Iterator[ev.RunEvent]:
    """What an editing call left to be undone; the bytes of before are in the run's folder."""
    by_batch: dict[str, list[FileChangeRecord]] = {}
    for change in end.effects.file_changes:
        if change.batch_id is not None and change.batch_id not in known.batches:
            by_batch.setdefault(change.batch_id, []).append(change)
    for batch_id, changes in by_batch.items():
        snapshots = tuple(
            [FileSnapshot(each.path, each.op is not FileChangeOp.CREATE) for each in changes]
        )
        result, at = end.result, changes[0].timestamp_ms
        yield ev.EditBatchRecorded(
            node_id,
            EditBatch(batch_id, node_id, result.call_id, result.tool_name, at, snapshots),
        )

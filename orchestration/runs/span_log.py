"""The timeline of a run, grown from its events when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.vocabulary import events as ev
from engine.vocabulary.spending import BudgetDecided, BudgetWarning, amount_text
from engine.vocabulary.tools import CALL_SUBAGENT_TOOL
from orchestration.runs.pauses import caller_of
from orchestration.runs.spans import MarkKind, Span, SpanKind, SpanMark, SpanStatus, Wait

_QUEUED_FOR = "its turn"
_ANSWER = "an answer"
_DECISION = "a decision"


class SpanLog:
    """Events that begin, change or end spans, in order; they are folded in on the first reading.

    A node's spans are in `roots`, in the order in which the nodes began.
    """

    __slots__ = ("_calls", "_count", "_name", "_nodes", "_owner", "_pending", "_repairs", "_roots")

    def __init__(self, name: Callable[[str], str], owner: Callable[[str], str | None]) -> None:
        """Take what gives an actor's label, and the node of a subagent (`None` for a node)."""
        self._name = name
        self._owner = owner
        self._roots: list[Span] = []
        self._nodes: dict[str, Span] = {}
        self._calls: dict[str, Span] = {}
        self._repairs: dict[str, list[Span]] = {}
        self._pending: list[tuple[float, ev.RunEvent]] = []
        self._count = 0

    def note(self, event: ev.RunEvent, time: float) -> None:
        """Remember an event."""
        self._pending.append((time, event))

    @property
    def roots(self) -> list[Span]:
        """The spans of nodes and of the run as a whole; what is inside them is in `children`."""
        if self._pending:
            for time, event in self._pending:
                FOLDS[type(event)](self, event, time)
            self._pending.clear()
        return self._roots

    def cut(self) -> None:
        """The program ended in the middle: what was open went no further than the last event."""
        for root in self.roots:
            root.close(_last_time(root), SpanStatus.STOPPED, "the program ended")
        self._calls.clear()

    def _new(self, kind: SpanKind, actor: str, label: str, start: float) -> Span:
        self._count += 1
        owner = self._owner(actor) or actor
        return Span(f"{kind}-{self._count}", kind, actor, owner, label, start)

    def _node(self, actor: str, time: float) -> Span:
        """The span of an actor that is at work; begins one where there is none."""
        span = self._nodes.get(actor)
        if span is None:
            is_inner = self._owner(actor) is not None
            kind = SpanKind.SUBAGENT if is_inner else SpanKind.NODE
            span = self._nodes[actor] = self._new(kind, actor, self._name(actor), time)
            self._place(span)
        elif span.end is not None:
            # It is taken up again, after a failure, an interruption or a stop.
            span.waits.append(Wait(span.end, "being tried again", time))
            span.end, span.status = None, SpanStatus.RUNNING
        return span

    def _place(self, span: Span) -> None:
        owner = self._owner(span.actor)
        if owner is None:
            self._roots.append(span)
            return
        for call in reversed(self._calls.values()):
            wanted = f"{owner}/{call.note}"
            if call.actor == owner and call.label == CALL_SUBAGENT_TOOL and wanted == span.actor:
                call.children.append(span)
                call.note = ""
                return
        self._node(owner, span.start).children.append(span)

    def _turn(self, actor: str) -> Span | None:
        """The latest turn of an actor."""
        span = self._nodes.get(actor)
        return None if span is None else _latest_turn(span.children)

    def _mark(self, actor: str, time: float, kind: MarkKind, text: str) -> None:
        if actor:
            self._node(actor, time).marks.append(SpanMark(time, kind, text))

    def _queued(self, event: ev.NodeQueued, time: float) -> None:
        known = self._nodes.get(event.node_id)
        begins_again = known is not None and known.kind is SpanKind.SUBAGENT
        if begins_again and known is not None and known.end is not None:
            del self._nodes[event.node_id]  # each call of a subagent has a span of its own
            known = None
        span = self._node(event.node_id, time)
        if known is not None and span.children:
            span.marks.append(SpanMark(time, MarkKind.RETRY, "Tried again"))
        span.wait(time, _QUEUED_FOR, SpanStatus.QUEUED)

    def _started(self, event: ev.NodeStarted, time: float) -> None:
        self._node(event.node_id, time).go_on(time)
        self._begin_turn(event.node_id, time)

    def _said(self, event: ev.ChatMessage, time: float) -> None:
        if event.role == "user" and (span := self._nodes.get(event.node_id)) is not None:
            wait = span.open_wait
            if wait is not None and wait.reason == _ANSWER:
                span.go_on(time)
                self._begin_turn(event.node_id, time)

    def _awaiting(self, event: ev.NodeAwaitingInput, time: float) -> None:
        self._drop_turn(event.node_id)
        self._node(event.node_id, time).wait(time, _ANSWER)

    def _phase(self, event: ev.PhaseTimed, time: float) -> None:
        if event.phase != "ai_invoke" or event.node_id is None:
            return
        node = self._node(event.node_id, time)
        turn = self._begin_turn(event.node_id, time)
        before = _latest_turn(node.children, before=turn)
        start = max(time - event.duration_ms / 1000, node.start)
        if before is not None and before.end is not None:
            start = max(start, before.end)
        turn.start = min(start, time)
        turn.close(time, SpanStatus.COMPLETED)
        self._repairs.pop(event.node_id, None)
        node.go_on(time)

    def _begin_turn(self, actor: str, time: float) -> Span:
        """The turn that is under way; it is taken to begin now where none is.

        Nothing tells that a model is being asked: it is while an actor works and no tool does.
        """
        turn = self._turn(actor)
        if turn is None or turn.end is not None:
            node = self._node(actor, time)
            number = sum(child.kind is SpanKind.TURN for child in node.children) + 1
            turn = self._new(SpanKind.TURN, actor, f"Turn {number}", time)
            turn.children += self._repairs.get(actor, ())
            node.children.append(turn)
        return turn

    def _drop_turn(self, actor: str) -> None:
        """The model was not asked after all: no turn had begun."""
        turn = self._turn(actor)
        if turn is not None and turn.end is None and not turn.children:
            self._nodes[actor].children.remove(turn)

    def _used(self, event: ev.UsageReported, time: float) -> None:
        turn, usage = self._turn(event.node_id), event.usage
        if turn is None or turn.model:
            return
        turn.model = event.model
        turn.tokens_in, turn.tokens_out = usage.prompt_tokens, usage.completion_tokens
        turn.tokens_cached, turn.cost = usage.cached_input_tokens, usage.cost

    def _call_failed(self, event: ev.AiInvokeFailed, time: float) -> None:
        turn = self._turn(event.node_id)
        if turn is not None:
            turn.status, turn.note = SpanStatus.FAILED, event.error
            turn.marks.append(SpanMark(time, MarkKind.FAILURE, event.error))

    def _proposed(self, event: ev.ToolCallProposed, time: float) -> None:
        self._call(event.node_id, event.tool_call.id, event.tool_call.name, time)
        if event.tool_call.name == CALL_SUBAGENT_TOOL:
            subagent = event.tool_call.arguments.get("subagent_id")
            self._calls[event.tool_call.id].note = str(subagent or "")

    def _call(self, actor: str, call_id: str, name: str, time: float) -> Span:
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = self._new(SpanKind.TOOL, actor, name, time)
            call.call_id = call_id
            self._drop_turn(actor)
            parent = self._turn(actor) or self._node(actor, time)
            parent.children.append(call)
        return call

    def _asked(self, event: ev.ToolApprovalRequested, time: float) -> None:
        call = event.request.tool_call
        self._call(caller_of(event.request), call.id, call.name, time).wait(time, _DECISION)

    def _uncertain(self, event: ev.ToolCallUncertain, time: float) -> None:
        call = event.call.tool_call
        self._call(caller_of(event.call), call.id, call.name, time).wait(time, _DECISION)

    def _allowed(self, event: ev.ToolApproved | ev.ToolCallSettled, time: float) -> None:
        if (call := self._calls.get(event.tool_call_id)) is not None:
            call.go_on(time)

    def _tool_started(self, event: ev.ToolStarted, time: float) -> None:
        call = self._call(event.node_id, event.tool_call_id, event.tool_name, time)
        call.go_on(time)
        if event.tool_name == CALL_SUBAGENT_TOOL:
            call.note = str(event.arguments.get("subagent_id") or "")

    def _retrying(self, event: ev.ToolRetrying, time: float) -> None:
        if (call := self._calls.get(event.tool_call_id)) is not None:
            words = f"Attempt {event.attempt} after {event.backoff_ms} ms"
            call.marks.append(SpanMark(time, MarkKind.RETRY, words))

    def _completed_call(self, event: ev.ToolCompleted, time: float) -> None:
        if (call := self._calls.pop(event.tool_call_id, None)) is not None:
            call.note = ""
            call.close(time, SpanStatus.FAILED if event.is_error else SpanStatus.COMPLETED)
            self._go_on_asking(call.actor, time)

    def _denied(self, event: ev.ToolDenied, time: float) -> None:
        if (call := self._calls.pop(event.tool_call_id, None)) is not None:
            call.close(time, SpanStatus.STOPPED, f"denied: {event.reason}")
            self._go_on_asking(call.actor, time)

    def _go_on_asking(self, actor: str, time: float) -> None:
        """The last call of a turn is over: the model is told of it."""
        span = self._nodes.get(actor)
        is_at_work = span is not None and span.status is SpanStatus.RUNNING
        if is_at_work and not any(call.actor == actor for call in self._calls.values()):
            self._begin_turn(actor, time)

    def _repair_started(self, event: ev.OutputRepairStarted, time: float) -> None:
        repair = self._new(SpanKind.REPAIR, event.node_id, "Output repair", time)
        repair.model = event.model
        self._repairs.setdefault(event.node_id, []).append(repair)
        turn = self._turn(event.node_id)
        if turn is not None and turn.end is None:
            turn.children.append(repair)
        self._mark(event.node_id, time, MarkKind.REPAIR, f"Output repair by {event.model}")

    def _repaired(
        self, event: ev.OutputRepairSucceeded | ev.OutputRepairFailed, time: float
    ) -> None:
        repairs = self._repairs.get(event.node_id)
        if not repairs:
            return
        if isinstance(event, ev.OutputRepairFailed):
            repairs[-1].close(time, SpanStatus.FAILED, event.reason)
        else:
            repairs[-1].close(time, SpanStatus.COMPLETED, "the output was repaired")

    def _subagent_started(self, event: ev.SubagentStarted, time: float) -> None:
        actor = f"{event.node_id}/{event.subagent_id}"
        self._nodes.pop(actor, None)
        self._node(actor, time)

    def _subagent_ended(self, event: ev.SubagentCompleted | ev.SubagentFailed, time: float) -> None:
        span = self._nodes.get(f"{event.node_id}/{event.subagent_id}")
        if span is None:
            return
        if isinstance(event, ev.SubagentFailed):
            span.close(time, SpanStatus.FAILED, event.error)
        else:
            self._drop_turn(span.actor)
            span.close(time, SpanStatus.COMPLETED)

    def _completed(self, event: ev.NodeCompleted, time: float) -> None:
        self._drop_turn(event.node_id)
        self._node(event.node_id, time).close(time, SpanStatus.COMPLETED)

    def _failed(self, event: ev.NodeErrored | ev.NodeFailed, time: float) -> None:
        span = self._node(event.node_id, time)
        span.marks.append(SpanMark(time, MarkKind.FAILURE, event.error))
        span.close(time, SpanStatus.FAILED, event.error)

    def _interrupted(self, event: ev.NodeInterrupted, time: float) -> None:
        self._node(event.node_id, time).close(time, SpanStatus.STOPPED, "interrupted")

    def _run_waiting(self, event: ev.RunWaiting, time: float) -> None:
        last = next((span for span in reversed(self._roots) if span.kind is SpanKind.RUN), None)
        if event.reason:
            span = self._new(SpanKind.RUN, "", "Run waits", time)
            span.note = event.reason
            span.wait(time, event.reason)
            self._roots.append(span)
        elif last is not None:
            last.close(time, SpanStatus.COMPLETED)

    def _compacted(self, event: ev.ContextCompacted, time: float) -> None:
        words = f"Context compacted from about {event.before} to {event.after} tokens"
        self._mark(event.node_id, time, MarkKind.NOTE, words)

    def _warned(self, event: BudgetWarning, time: float) -> None:
        spent = amount_text(event.measure, event.spent)
        self._mark(event.node_id, time, MarkKind.NOTE, f"{spent} used")

    def _limited(self, event: BudgetDecided, time: float) -> None:
        limit = amount_text(event.measure, event.limit)
        self._mark(event.node_id, time, MarkKind.NOTE, f"Limit of {limit}: {event.verdict}")

    def _over(self, event: ev.Finished | ev.Aborted | ev.RunError, time: float) -> None:
        is_done = isinstance(event, ev.Finished)
        for root in self._roots:
            root.close(time, SpanStatus.COMPLETED if is_done else SpanStatus.STOPPED)
        self._calls.clear()


def _latest_turn(spans: list[Span], before: Span | None = None) -> Span | None:
    for span in reversed(spans):
        if span.kind is SpanKind.TURN and span is not before:
            return span
    return None


def _last_time(span: Span) -> float:
    """The latest moment that is known of a span."""
    latest = span.end or span.start
    for wait in span.waits[-1:]:
        latest = max(latest, wait.end or wait.start)
    for mark in span.marks[-1:]:
        latest = max(latest, mark.time)
    return max([latest, *map(_last_time, span.children)])


FOLDS: Mapping[type, Callable[[SpanLog, Any, float], None]] = {
    ev.NodeQueued: SpanLog._queued,
    ev.NodeStarted: SpanLog._started,
    ev.ChatMessage: SpanLog._said,
    ev.NodeAwaitingInput: SpanLog._awaiting,
    ev.PhaseTimed: SpanLog._phase,
    ev.UsageReported: SpanLog._used,
    ev.AiInvokeFailed: SpanLog._call_failed,
    ev.ToolCallProposed: SpanLog._proposed,
    ev.ToolApprovalRequested: SpanLog._asked,
    ev.ToolCallUncertain: SpanLog._uncertain,
    ev.ToolApproved: SpanLog._allowed,
    ev.ToolCallSettled: SpanLog._allowed,
    ev.ToolStarted: SpanLog._tool_started,
    ev.ToolRetrying: SpanLog._retrying,
    ev.ToolCompleted: SpanLog._completed_call,
    ev.ToolDenied: SpanLog._denied,
    ev.OutputRepairStarted: SpanLog._repair_started,
    ev.OutputRepairSucceeded: SpanLog._repaired,
    ev.OutputRepairFailed: SpanLog._repaired,
    ev.SubagentStarted: SpanLog._subagent_started,
    ev.SubagentCompleted: SpanLog._subagent_ended,
    ev.SubagentFailed: SpanLog._subagent_ended,
    ev.NodeCompleted: SpanLog._completed,
    ev.NodeErrored: SpanLog._failed,
    ev.NodeFailed: SpanLog._failed,
    ev.NodeInterrupted: SpanLog._interrupted,
    ev.RunWaiting: SpanLog._run_waiting,
    ev.ContextCompacted: SpanLog._compacted,
    BudgetWarning: SpanLog._warned,
    BudgetDecided: SpanLog._limited,
    ev.Finished: SpanLog._over,
    ev.Aborted: SpanLog._over,
    ev.RunError: SpanLog._over,
}
"""What each event does to the spans; any other event does nothing to them."""

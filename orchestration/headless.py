"""Run a workflow without a window: answer what was prepared, report what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine.run.file_changes import merge_changes
from engine.vocabulary.errors import InteractionError
from engine.vocabulary.events import NodeAwaitingInput, ToolApprovalRequested, ToolCallUncertain
from engine.vocabulary.recovery import UncertainCall, UncertainChoice
from engine.vocabulary.report import (
    NeedsInteraction,
    PendingApproval,
    PendingInput,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunOutcome,
)
from engine.vocabulary.tools import FileChangeRecord
from orchestration.backend import Backend
from orchestration.runs.answers import AnswerBook, ApprovalAnswer, PreparedAnswer
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.pauses import pending_of
from orchestration.runs.requests import RunRequest
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus, UsageTotals

logger = logging.getLogger(__name__)

ApprovalRule = Literal["ask", "allow", "deny"]
Pending = PendingInput | PendingApproval | UncertainCall
"""What waits for a person."""
Asker = Callable[[Pending], Awaitable[str | ApprovalAnswer | UncertainChoice | None]]
"""Asks a person: a text for a question, a decision for a call, what became of a call of unknown
end, `None` to leave it open."""

EXIT_STATUS = {
    RunStatus.COMPLETED: 0,
    RunStatus.FAILED: 1,
    RunStatus.PAUSED: 3,
    RunStatus.STOPPED: 130,
}
DENIED_BY_RULE = "calls that need approval are denied in this run"


class HeadlessResult(Struct, frozen=True):
    """What came of a run: the report, the exit status, and why it failed if no node did."""

    report: dict[str, Any]
    exit_status: int
    error: str | None = None


async def run_headless(
    backend: Backend,
    request: RunRequest,
    *,
    answers: Iterable[PreparedAnswer] = (),
    approve: ApprovalRule = "ask",
    ask: Asker | None = None,
) -> HeadlessResult:
    """Start a run and see it through until it is over or waits for somebody who is not there.

    Prepared answers come first, then `approve`, then `ask` where there is a person to ask.
    Being cancelled stops the run and reports it as stopped.

    Raises:
        RunRefused: the workflow cannot be run; nothing was started.
    """
    attendant = _Attendant(backend, request.on_event, AnswerBook(answers), approve, ask)
    run_id = await backend.start_run(msgspec.structs.replace(request, on_event=attendant.hear))
    return await _seen_through(backend, run_id, attendant)


async def attend_run(
    backend: Backend,
    run_id: str,
    *,
    answers: Iterable[PreparedAnswer] = (),
    approve: ApprovalRule = "ask",
    ask: Asker | None = None,
    on_event: Callable[[EventRecord], None] | None = None,
) -> HeadlessResult:
    """See a run through that was resumed or forked a moment ago, as `run_headless` does.

    Calls of unknown end are settled by prepared answers or by `ask`; `approve` is not about them.
    """
    attendant = _Attendant(backend, on_event, AnswerBook(answers), approve, ask)
    subscription = backend.subscribe(run_id)

    def pass_on() -> None:
        for record in subscription.drain():
            attendant.hear(record)

    subscription.on_ready = pass_on
    try:
        return await _seen_through(backend, run_id, attendant)
    finally:
        subscription.close()


async def _seen_through(backend: Backend, run_id: str, attendant: _Attendant) -> HeadlessResult:
    view = backend.view(run_id)
    try:
        outcome = await attendant.attend(run_id)
    except asyncio.CancelledError:
        await backend.stop_run(run_id)
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        outcome = RunCancelled()
    status = status_of(outcome)
    error = outcome.message if isinstance(outcome, RunFailed) and not outcome.node_id else None
    return HeadlessResult(report_of(view, outcome), EXIT_STATUS[status], error)


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


class _Attendant:
    """Answers what arises, the moment it arises, one thing at a time."""

    def __init__(
        self,
        backend: Backend,
        on_event: Callable[[EventRecord], None] | None,
        book: AnswerBook,
        approve: ApprovalRule,
        ask: Asker | None,
    ) -> None:
        self._backend = backend
        self._on_event = on_event
        self._book = book
        self._approve = approve
        self._ask = ask
        self._heard: deque[Pending] = deque()
        self._known: set[str] = set()
        self._woken = asyncio.Event()

    def hear(self, record: EventRecord) -> None:
        """Note what waits for an answer, and pass everything on."""
        event = record.event
        if isinstance(event, NodeAwaitingInput):
            self._note(pending_of(event))
        elif isinstance(event, ToolApprovalRequested):
            self._note(event.request)
        elif isinstance(event, ToolCallUncertain):
            self._note(event.call)
        if self._on_event is not None:
            self._on_event(record)

    async def attend(self, run_id: str) -> RunOutcome:
        """See the run through until nothing moves and there is nothing left to answer."""
        while True:
            while self._heard:
                await self._treat(run_id, self._heard.popleft())
            self._woken.clear()
            settled = asyncio.ensure_future(self._backend.settled(run_id))
            settled.add_done_callback(lambda _: self._woken.set())
            try:
                await self._woken.wait()
                if settled.done() and not self._heard:
                    outcome = settled.result()
                    self._note_all(outcome)
                    if not self._heard:
                        return outcome
            finally:
                settled.cancel()

    def _note_all(self, outcome: RunOutcome) -> None:
        """What waited before anybody listened was not heard of."""
        if isinstance(outcome, NeedsInteraction):
            waiting: list[Pending] = [*outcome.uncertain, *outcome.inputs, *outcome.approvals]
            for pending in waiting:
                self._note(pending)

    def _note(self, pending: Pending) -> None:
        key = _key_of(pending)
        if key not in self._known:
            self._known.add(key)
            self._heard.append(pending)
            self._woken.set()

    async def _treat(self, run_id: str, pending: Pending) -> None:
        try:
            match pending:
                case PendingInput():
                    await self._treat_question(run_id, pending)
                case PendingApproval():
                    await self._treat_approval(run_id, pending)
                case UncertainCall():
                    await self._treat_uncertain(run_id, pending)
        except InteractionError as error:
            # The node was interrupted, or the run ended, while the answer was being found.
            logger.info("an answer came too late: %s", error)

    async def _treat_question(self, run_id: str, pending: PendingInput) -> None:
        if pending.budget is not None:
            decided = self._book.for_budget(pending.node_id)
            text = decided.budget if decided is not None else None
        else:
            prepared = self._book.for_question(pending.node_id)
            text = prepared.text if prepared is not None else None
        if text is None and self._ask is not None:
            asked = await self._ask(pending)
            text = asked if isinstance(asked, str) else None
        if text is not None:
            await self._backend.answer(run_id, pending.node_id, text, pending.pause_id)

    async def _treat_approval(self, run_id: str, pending: PendingApproval) -> None:
        decision = self._book.for_approval(pending)
        if decision is None and self._approve != "ask":
            allow = self._approve == "allow"
            decision = ApprovalAnswer(allow=allow, reason=None if allow else DENIED_BY_RULE)
        elif decision is None and self._ask is not None:
            asked = await self._ask(pending)
            decision = asked if isinstance(asked, ApprovalAnswer) else None
        if decision is not None:
            await self._backend.decide(
                run_id,
                pending.approval_id,
                decision.allow,
                decision.reason,
                for_run=decision.for_run,
            )

    async def _treat_uncertain(self, run_id: str, call: UncertainCall) -> None:
        prepared = self._book.for_uncertain(call)
        choice = UncertainChoice(prepared.uncertain) if prepared is not None else None
        if choice is None and self._ask is not None:
            asked = await self._ask(call)
            choice = asked if isinstance(asked, UncertainChoice) else None
        if choice is not None:
            await self._backend.settle_uncertain(run_id, call.call_id, choice)


def _key_of(pending: Pending) -> str:
    match pending:
        case PendingInput(pause_id=pause_id):
            return f"question {pause_id}"
        case PendingApproval(approval_id=approval_id):
            return f"approval {approval_id}"
    return f"uncertain {'/'.join(pending.path)} {pending.call_id}"

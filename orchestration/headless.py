"""Run a workflow without a window: answer what was prepared, report what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine.vocabulary.errors import InteractionError
from engine.vocabulary.events import (
    NodeAwaitingInput,
    RunWaiting,
    ToolApprovalRequested,
    ToolCallUncertain,
)
from engine.vocabulary.recovery import UncertainCall, UncertainChoice
from engine.vocabulary.report import (
    NeedsInteraction,
    PendingApproval,
    PendingInput,
    RunCancelled,
    RunFailed,
    RunOutcome,
)
from orchestration.backend import Backend
from orchestration.run_report import EXIT_STATUS, report_of, status_of
from orchestration.runs.answers import AnswerBook, ApprovalAnswer, PreparedAnswer
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.folder_turns import FolderBusy
from orchestration.runs.pauses import pending_of
from orchestration.runs.requests import RunRequest

logger = logging.getLogger(__name__)

ApprovalRule = Literal["ask", "allow", "deny"]


class FolderWait(Struct, frozen=True):
    """The run waits for another one, which has its folder, waits for a person and would give way.

    `reason` says so in a sentence.
    """

    reason: str


Pending = PendingInput | PendingApproval | UncertainCall | FolderWait
"""What waits for a person."""
Asker = Callable[[Pending], Awaitable[str | ApprovalAnswer | UncertainChoice | bool | None]]
"""Asks a person: a text for a question, a decision for a call, what became of a call of unknown
end, whether to go first where a folder is waited for, `None` to leave it open. Its question is
called off by cancelling it."""

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
    go_first: bool = False,
) -> HeadlessResult:
    """Start a run and see it through until it is over or waits for somebody who is not there.

    Prepared answers come first, then `approve`, then `ask` where there is a person to ask. With
    `go_first` it goes ahead of a run that has its folder and waits for a person.
    Being cancelled stops the run and reports it as stopped.

    Raises:
        RunRefused: the workflow cannot be run; nothing was started.
    """
    attendant = _Attendant(backend, request.on_event, AnswerBook(answers), approve, ask, go_first)
    run_id = await backend.start_run(msgspec.structs.replace(request, on_event=attendant.hear))
    return await _seen_through(backend, run_id, attendant)


async def attend_run(
    backend: Backend,
    run_id: str,
    *,
    answers: Iterable[PreparedAnswer] = (),
    approve: ApprovalRule = "ask",
    ask: Asker | None = None,
    go_first: bool = False,
    on_event: Callable[[EventRecord], None] | None = None,
) -> HeadlessResult:
    """See a run through that was resumed or forked a moment ago, as `run_headless` does.

    Calls of unknown end are settled by prepared answers or by `ask`; `approve` is not about them.
    """
    attendant = _Attendant(backend, on_event, AnswerBook(answers), approve, ask, go_first)
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


class _Attendant:
    """Answers what arises, the moment it arises, one thing at a time."""

    def __init__(
        self,
        backend: Backend,
        on_event: Callable[[EventRecord], None] | None,
        book: AnswerBook,
        approve: ApprovalRule,
        ask: Asker | None,
        go_first: bool,
    ) -> None:
        self._backend = backend
        self._on_event = on_event
        self._book = book
        self._approve = approve
        self._ask = ask
        self._go_first = go_first
        self._on_waited: Callable[[], object] = _nothing
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
        elif isinstance(event, RunWaiting):
            self._on_waited()
            if event.may_go_first:
                self._note(FolderWait(event.reason))
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
                case FolderWait():
                    await self._treat_folder(run_id, pending)
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

    async def _treat_folder(self, run_id: str, wait: FolderWait) -> None:
        """Go first if that is wanted; what is asked is called off when something has changed."""
        if self._backend.view(run_id).waiting_reason != wait.reason:
            return
        wanted = self._go_first
        if not wanted and self._ask is not None:
            asking = asyncio.ensure_future(self._ask(wait))
            self._on_waited = asking.cancel
            try:
                await asyncio.wait([asking])
            finally:
                self._on_waited = _nothing
                asking.cancel()
            wanted = not asking.cancelled() and asking.result() is True
        if wanted:
            try:
                await self._backend.give_way(run_id)
            except FolderBusy as error:
                logger.info("the run does not go first: %s", error)


def _nothing() -> None:
    return None


def _key_of(pending: Pending) -> str:
    match pending:
        case FolderWait(reason=reason):
            return f"folder {reason}"
        case PendingInput(pause_id=pause_id):
            return f"question {pause_id}"
        case PendingApproval(approval_id=approval_id):
            return f"approval {approval_id}"
    return f"uncertain {'/'.join(pending.path)} {pending.call_id}"

"""A run that a command follows to its end: progress and events on the way, a report at last."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import typer
from msgspec import Struct

from app.cli.console import can_ask, say, stderr_is_terminal, write_json
from app.cli.event_file import EventFile
from app.cli.interrupts import INTERRUPTED, run_until_interrupted
from app.cli.outcome_text import outcome
from app.cli.progress import RunProgress, shown_if
from app.cli.prompts import TerminalPrompts
from app.cli.run_options import Approve
from engine.vocabulary.events import ChatMessage, RunWaiting
from orchestration.backend import Backend
from orchestration.headless import ApprovalRule, Asker, HeadlessResult
from orchestration.runs.answers import PreparedAnswer
from orchestration.runs.event_hub import EventRecord

Listener = Callable[[EventRecord], None]
Result = TypeVar("Result")


class Attendance(Struct, frozen=True):
    """How a run is attended: what is known beforehand, whom to ask, who hears of events."""

    answers: Sequence[PreparedAnswer]
    approve: ApprovalRule
    ask: Asker | None
    hear: Listener
    go_first: bool = False


Start = Callable[[Backend, Attendance, RunProgress], Awaitable[HeadlessResult]]
"""Begins a run, or goes on with one, and sees it through."""


def follow_run(
    backend: Backend,
    start: Start,
    *,
    subject: str,
    answers: Sequence[PreparedAnswer],
    approve: Approve,
    events: str | None,
    progress: RunProgress,
    go_first: bool = False,
) -> None:
    """Let `start` do its work, print the report and leave with the status that fits.

    `subject` is what is run, in words for a person.

    Raises:
        UserError: the run could not begin.
        typer.Exit: with the exit status, always.
    """
    event_file = EventFile(events) if events is not None else None
    try:
        result = run_until_interrupted(
            _attended(
                backend, start, answers, approve, event_file, events == "-", progress, go_first
            )
        )
    finally:
        lost = event_file.close() if event_file is not None else None
    if result is None:
        say("openflow: stopped before the run began")
        raise typer.Exit(INTERRUPTED)
    write_json(result.report)
    if lost is not None:
        say(f"openflow: {lost}")
    if sentence := outcome(subject, result):
        say(f"openflow: {sentence}")
    raise typer.Exit(result.exit_status)


async def _attended(
    backend: Backend,
    start: Start,
    answers: Sequence[PreparedAnswer],
    approve: Approve,
    event_file: EventFile | None,
    events_on_stderr: bool,
    progress: RunProgress,
    go_first: bool,
) -> HeadlessResult:
    listeners: list[Listener] = [progress.hear]
    if event_file is not None:
        listeners.append(event_file.put)
    asks = can_ask()
    if not events_on_stderr:
        listeners.append(_say_notice)
        if not asks:
            listeners.append(_say_waiting)

    def hear(record: EventRecord) -> None:
        for listener in listeners:
            listener(record)

    prompts = TerminalPrompts(progress.quiet)
    ask = prompts.ask if asks else None
    attendance = Attendance(answers, approve.value, ask, hear, go_first)
    try:
        with shown_if(progress, stderr_is_terminal() and not events_on_stderr):
            return await start(backend, attendance, progress)
    finally:
        await close(backend)


async def and_closed(backend: Backend, work: Awaitable[Result]) -> Result:
    """What `work` gives; the backend is closed after it, whatever it gives."""
    try:
        return await work
    finally:
        await close(backend)


async def close(backend: Backend) -> None:
    """Close the backend, also while the person is impatient: the report is still to be printed."""
    closing = asyncio.ensure_future(backend.aclose())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await closing


def _say_notice(record: EventRecord) -> None:
    event = record.event
    if isinstance(event, ChatMessage) and event.role == "system":
        say(f"note: {event.content}")


def _say_waiting(record: EventRecord) -> None:
    """Say what the run waits for where no progress shows it and nobody can be asked."""
    event = record.event
    if isinstance(event, RunWaiting):
        how = " with --go-first" if event.may_go_first else ""
        say(f"note: {event.reason or 'the folder is free, the run goes on'}{how}")

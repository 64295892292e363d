"""`openflow run`: run a workflow and print its report."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.console import can_ask, say, stderr_is_terminal, write_json
from app.cli.event_file import EventFile
from app.cli.interrupts import INTERRUPTED, run_until_interrupted
from app.cli.outcome_text import outcome
from app.cli.problem_text import refusal
from app.cli.progress import RunProgress, shown_if
from app.cli.prompts import TerminalPrompts
from app.cli.session import DataDir, Debug, Session
from engine.vocabulary.events import ChatMessage
from orchestration.backend import Backend
from orchestration.errors import RunRefused, UserError
from orchestration.headless import HeadlessResult, run_headless
from orchestration.runs.answers import PreparedAnswer, read_answers
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.requests import RunOverrides, RunRequest


class Approve(StrEnum):
    """What happens to a call that needs approval."""

    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


def run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The workflow file.")],
    text: Annotated[
        str | None, typer.Option("--input", metavar="TEXT", help="The text to start with.")
    ] = None,
    input_file: Annotated[
        str | None,
        typer.Option("--input-file", metavar="F", help="Read it from a file (-: standard input)."),
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Use this provider for every node (embedded: demo model)."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="Use this model for every node.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="Use the provider at this address; without --provider, an endpoint of your own.",
        ),
    ] = None,
    wire: Annotated[
        str | None,
        typer.Option(metavar="chat|responses|messages", help="Speak this protocol to it."),
    ] = None,
    cwd: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The execution folder; otherwise a managed one."),
    ] = None,
    approve: Annotated[
        Approve, typer.Option(help="What happens to a call that needs approval.")
    ] = Approve.ASK,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="JSON list of answers and decisions, used in order."),
    ] = None,
    events: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Every event as a JSON line (-: standard error)."),
    ] = None,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Run a workflow and print its report as JSON."""
    session = context.ensure_object(Session)
    backend = session.open_backend()
    request = RunRequest(
        workflow=backend.load_workflow(file),
        text=_entrypoint(text, input_file),
        overrides=RunOverrides(provider, model, base_url, wire),
        cwd=cwd,
    )
    prepared = (
        read_answers(_read(answers, "the answers"), str(answers)) if answers is not None else ()
    )
    _keep_from_overwriting(events, file, answers, input_file)
    event_file = EventFile(events) if events is not None else None
    try:
        result = run_until_interrupted(
            _run(backend, request, prepared, approve, event_file, events == "-")
        )
    except RunRefused as error:
        raise UserError(f"{file} cannot be run: {refusal(error.problems)}") from error
    finally:
        lost = event_file.close() if event_file is not None else None
    if result is None:
        say("openflow: stopped before the run began")
        raise typer.Exit(INTERRUPTED)
    write_json(result.report)
    if lost is not None:
        say(f"openflow: {lost}")
    if sentence := outcome(file, result):
        say(f"openflow: {sentence}")
    raise typer.Exit(result.exit_status)


async def _run(
    backend: Backend,
    request: RunRequest,
    answers: Sequence[PreparedAnswer],
    approve: Approve,
    event_file: EventFile | None,
    events_on_stderr: bool,
) -> HeadlessResult:
    progress = RunProgress(request.workflow)
    listeners: list[Callable[[EventRecord], None]] = [progress.hear]
    if event_file is not None:
        listeners.append(event_file.put)
    if not events_on_stderr:
        listeners.append(_say_notice)

    def hear(record: EventRecord) -> None:
        for listener in listeners:
            listener(record)

    prompts = TerminalPrompts(progress.quiet)
    try:
        with shown_if(progress, stderr_is_terminal() and not events_on_stderr):
            return await run_headless(
                backend,
                msgspec.structs.replace(request, on_event=hear),
                answers=answers,
                approve=approve.value,
                ask=prompts.ask if can_ask() else None,
            )
    finally:
        await _close(backend)


async def _close(backend: Backend) -> None:
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


def _entrypoint(text: str | None, file: str | None) -> str:
    if text is not None and file is not None:
        raise UserError("--input and --input-file exclude each other; give one of them")
    if file is None:
        return text or ""
    if file == "-":
        source, data = "standard input", sys.stdin.buffer.read() if sys.stdin is not None else b""
    else:
        source, data = file, _read(Path(file), "the input")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"the input in {source} is not UTF-8 text; save it as UTF-8") from None


def _keep_from_overwriting(events: str | None, *read: Path | str | None) -> None:
    for path in read:
        if None in (events, path) or "-" in (events, path):
            continue
        with contextlib.suppress(OSError):
            if os.path.samefile(str(events), str(path)):
                raise UserError(f"--events would overwrite {path}; name another file")


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{what} cannot be read from {path}: {error.strerror or error}") from error

"""`openflow run`: run a workflow and print its report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.attended_run import Attendance, follow_run
from app.cli.problem_text import refusal
from app.cli.progress import RunProgress
from app.cli.run_options import (
    AnswersOption,
    Approve,
    ApproveOption,
    BaseUrl,
    EventsOption,
    GoFirst,
    ModelOption,
    ProviderOption,
    WireOption,
    given_text,
    keep_from_overwriting,
    prepared_answers,
)
from app.cli.session import DataDir, Debug, Session
from app.cli.spending_options import MaxCost, MaxTime, MaxTokens, MaxTurns
from engine.vocabulary.spending import Allowance
from orchestration.backend import Backend
from orchestration.errors import RunRefused, UserError
from orchestration.headless import HeadlessResult, run_headless
from orchestration.runs.requests import RunOverrides, RunRequest


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
    provider: ProviderOption = None,
    model: ModelOption = None,
    base_url: BaseUrl = None,
    wire: WireOption = None,
    cwd: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The execution folder; otherwise a managed one."),
    ] = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    max_turns: MaxTurns = None,
    approve: ApproveOption = Approve.ASK,
    answers: AnswersOption = None,
    events: EventsOption = None,
    go_first: GoFirst = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Run a workflow and print its report as JSON."""
    session = context.ensure_object(Session)
    backend = session.open_backend()
    request = RunRequest(
        workflow=backend.load_workflow(file),
        text=given_text(text, input_file) or "",
        overrides=RunOverrides(provider, model, base_url, wire),
        allowance=Allowance(max_tokens, max_cost, max_time, max_turns),
        cwd=cwd,
        source=file.absolute(),
    )
    prepared = prepared_answers(answers)
    keep_from_overwriting(events, file, answers, input_file)
    try:
        follow_run(
            backend,
            partial(_start, request),
            subject=str(file),
            answers=prepared,
            approve=approve,
            events=events,
            progress=RunProgress({node.id: node.label for node in request.workflow.nodes}),
            go_first=go_first,
        )
    except RunRefused as error:
        raise UserError(f"{file} cannot be run: {refusal(error.problems)}") from error


async def _start(
    request: RunRequest, backend: Backend, attendance: Attendance, progress: RunProgress
) -> HeadlessResult:
    return await run_headless(
        backend,
        msgspec.structs.replace(request, on_event=attendance.hear),
        answers=attendance.answers,
        approve=attendance.approve,
        ask=attendance.ask,
        go_first=attendance.go_first,
    )

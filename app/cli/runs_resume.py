"""`openflow runs resume`: go on with a stored run where its facts end."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from app.cli.attended_run import Attendance, follow_run
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
    RunId,
    WireOption,
    given_text,
    keep_from_overwriting,
    prepared_answers,
)
from app.cli.session import DataDir, Debug, Session
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.headless import HeadlessResult, attend_run
from orchestration.runs.requests import RunOverrides


def resume(
    context: typer.Context,
    run_id: RunId,
    text: Annotated[
        str | None,
        typer.Option(
            "--input", metavar="TEXT", help="What to say to the node that waits or has failed."
        ),
    ] = None,
    input_file: Annotated[
        str | None,
        typer.Option("--input-file", metavar="F", help="Read it from a file (-: standard input)."),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The node it is for, where several could take it."),
    ] = None,
    provider: ProviderOption = None,
    model: ModelOption = None,
    base_url: BaseUrl = None,
    wire: WireOption = None,
    approve: ApproveOption = Approve.ASK,
    answers: AnswersOption = None,
    events: EventsOption = None,
    go_first: GoFirst = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Go on with a stored run and print its report as JSON.

    Calls that have ended are not repeated. A call of unknown end is settled by --answers, or
    asked about on a terminal; without an answer the run waits. Other providers and models than
    those that it began with count from here on.
    """
    message = given_text(text, input_file)
    if node is not None and message is None:
        raise UserError("--node says whom a message is for; give it with --input TEXT")
    prepared = prepared_answers(answers)
    keep_from_overwriting(events, answers, input_file)
    backend = context.ensure_object(Session).open_backend()
    follow_run(
        backend,
        partial(_start, run_id, message, node, RunOverrides(provider, model, base_url, wire)),
        subject=f"'{run_id}'",
        answers=prepared,
        approve=approve,
        events=events,
        progress=RunProgress({}),
        go_first=go_first,
    )


async def _start(
    run_id: str,
    message: str | None,
    node_id: str | None,
    overrides: RunOverrides,
    backend: Backend,
    attendance: Attendance,
    progress: RunProgress,
) -> HeadlessResult:
    resumed = await backend.resume_run(
        run_id, message=message, node_id=node_id, overrides=overrides
    )
    return await attended(backend, resumed, attendance, progress)


async def attended(
    backend: Backend, run_id: str, attendance: Attendance, progress: RunProgress
) -> HeadlessResult:
    """See a run through that has just begun to go on."""
    progress.take_over(backend.view(run_id))
    return await attend_run(
        backend,
        run_id,
        answers=attendance.answers,
        approve=attendance.approve,
        ask=attendance.ask,
        go_first=attendance.go_first,
        on_event=attendance.hear,
    )

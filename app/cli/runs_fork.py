"""`openflow runs fork`: a new run that shares the past of a stored one, with something changed."""

from __future__ import annotations

from collections.abc import Sequence
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
    RunId,
    WireOption,
    keep_from_overwriting,
    prepared_answers,
)
from app.cli.runs_resume import attended
from app.cli.session import DataDir, Debug, Session
from app.kit.formats import plural
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.headless import HeadlessResult
from orchestration.runs.requests import RunOverrides
from orchestration.runs.stored import ForkChanges


def fork(
    context: typer.Context,
    run_id: RunId,
    turn: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Fork before this turn of the node, or of the run; from 1."
        ),
    ] = None,
    node: Annotated[
        str | None, typer.Option(metavar="ID", help="The node whose turn it is, and its changes.")
    ] = None,
    seq: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Fork after this event instead.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="M", help="Another model for the node.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Another provider for the node; with --base-url for every node."
        ),
    ] = None,
    base_url: BaseUrl = None,
    wire: WireOption = None,
    system_prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Another system prompt for the node.")
    ] = None,
    task_prompt: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Another task prompt for the node.")
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Instead of what a person last said to the node."),
    ] = None,
    tool_result: Annotated[
        list[str] | None,
        typer.Option(metavar="CALL=TEXT", help="Another result of a tool call; may be repeated."),
    ] = None,
    approve: ApproveOption = Approve.ASK,
    answers: AnswersOption = None,
    events: EventsOption = None,
    go_first: GoFirst = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Begin a new run from any point of a stored one, let it go on and print its report.

    What happened before that point is taken over as it was recorded; nothing of it is paid again.
    """
    if turn is not None and seq is not None:
        raise UserError("--turn and --seq exclude each other; give one of them")
    changes = ForkChanges(
        system_prompt=system_prompt,
        task_prompt=task_prompt,
        model=model,
        provider=provider,
        answer=answer,
        tool_results=dict(map(_result, tool_result or ())),
    )
    reached = RunOverrides(provider if base_url else None, base_url=base_url, wire=wire)
    prepared = prepared_answers(answers)
    keep_from_overwriting(events, answers)
    backend = context.ensure_object(Session).open_backend()
    follow_run(
        backend,
        partial(_start, run_id, node, turn, seq, changes, reached),
        subject=f"the fork of '{run_id}'",
        answers=prepared,
        approve=approve,
        events=events,
        progress=RunProgress({}),
        go_first=go_first,
    )


async def _start(
    parent_id: str,
    node_id: str | None,
    turn: int | None,
    seq: int | None,
    changes: ForkChanges,
    reached: RunOverrides,
    backend: Backend,
    attendance: Attendance,
    progress: RunProgress,
) -> HeadlessResult:
    if turn is not None and node_id is None:
        node_id, turn = turn_of_run(await backend.turns(parent_id), turn)
    run_id = await backend.fork_run(
        parent_id, node_id=node_id, turn=turn, seq=seq, changes=changes, overrides=reached
    )
    return await attended(backend, run_id, attendance, progress)


def turn_of_run(turns: Sequence[str], turn: int) -> tuple[str, int]:
    """The node whose turn the run's turn number `turn` was, and its number among the node's own.

    `turns` are the nodes whose turns the run had, see `Backend.turns`.

    Raises:
        UserError: the run has not so many turns.
    """
    if turn > len(turns):
        raise UserError(f"--turn {turn} is too large: the run has {plural(len(turns), 'turn')}")
    return turns[turn - 1], list(turns[:turn]).count(turns[turn - 1])


def _result(given: str) -> tuple[str, str]:
    call_id, equals, text = given.partition("=")
    if not equals or not call_id:
        raise UserError(f"--tool-result {given} names no call; write CALL=TEXT")
    return call_id, text

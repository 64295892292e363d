"""`openflow runs list`: the stored runs, the latest change first."""

from __future__ import annotations

import asyncio
import time
from enum import StrEnum
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.console import stdout_is_terminal, write_json
from app.cli.session import DataDir, Debug, Session
from app.cli.stored_run_data import run_data, status_words
from app.kit.visible import visible
from orchestration.runs.stored import RunQuery, StoredRun
from orchestration.runs.view_values import RunStatus

_STYLES = {"completed": "green", "failed": "red", "paused": "yellow", "cut off": "yellow"}


class Status(StrEnum):
    """How a run stands; `interrupted` are those whose program ended in the middle of them."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"


def list_runs(
    context: typer.Context,
    search: Annotated[
        str, typer.Option(metavar="TEXT", help="Only runs with this in their name or text.")
    ] = "",
    status: Annotated[
        list[Status] | None, typer.Option(help="Only runs that stand like this; may be repeated.")
    ] = None,
    workflow: Annotated[
        str | None, typer.Option(metavar="ID", help="Only runs of the workflow with this id.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At most so many runs.")
    ] = None,
    offset: Annotated[int, typer.Option(metavar="N", min=0, help="Leave out the first N.")] = 0,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """List the stored runs, the latest change first.

    Where standard output is no terminal, this prints one JSON list.
    """
    backend = context.ensure_object(Session).open_backend()
    wanted = set(status or ())
    if wanted == {Status.INTERRUPTED} and not (search or workflow):
        work = backend.interrupted_runs()
    else:
        work = backend.runs(
            RunQuery(
                text=search,
                workflow_id=workflow,
                statuses=frozenset(_stored_as(each) for each in wanted),
            )
        )
    found = [run for run in asyncio.run(and_closed(backend, work)) if _fits(run, wanted)]
    found = found[offset:][:limit]
    if stdout_is_terminal():
        _show(found)
    else:
        write_json([run_data(run) for run in found])


def _stored_as(status: Status) -> RunStatus:
    return RunStatus.RUNNING if status is Status.INTERRUPTED else RunStatus(status.value)


def _fits(run: StoredRun, wanted: set[Status]) -> bool:
    if run.status is not RunStatus.RUNNING or not wanted:
        return True
    return (Status.INTERRUPTED if run.was_cut_off else Status.RUNNING) in wanted


def _show(runs: list[StoredRun]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not runs:
        Console().print("no runs", style="dim")
        return
    table = Table("id", "name", "status", "workflow", "changed", box=None)
    for run in runs:
        words = status_words(run)
        changed = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.updated))
        table.add_row(
            Text(run.run_id),
            Text(visible(run.name)),
            Text(words, _STYLES.get(words, "")),
            Text(visible(run.workflow_name)),
            changed,
        )
    Console().print(table)

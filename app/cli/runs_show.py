"""`openflow runs show`: one stored run: how it stands, what came of it, what it was forked from."""

from __future__ import annotations

import asyncio
from typing import Any

import typer

from app.cli.attended_run import and_closed
from app.cli.console import say, stdout_is_terminal, write_json
from app.cli.projection_data import projection
from app.cli.run_options import RunId
from app.cli.session import DataDir, Debug, Session
from app.cli.stored_run_data import run_data
from app.kit.visible import visible
from orchestration.backend import Backend
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import StoredRun
from orchestration.storage.errors import RunNotStored

_LEFT_TO_REPLAY = ("chat", "tool_calls")


def show(
    context: typer.Context, run_id: RunId, data_dir: DataDir = None, debug: Debug = False
) -> None:
    """Show one stored run.

    Where standard output is no terminal, this prints one JSON object.
    """
    backend = context.ensure_object(Session).open_backend()
    run, view, difference = asyncio.run(and_closed(backend, _look(backend, run_id)))
    if stdout_is_terminal():
        _show(run, view, difference)
        return
    told = {key: each for key, each in projection(view).items() if key not in _LEFT_TO_REPLAY}
    write_json({**told, **run_data(run), "difference": difference})


async def _look(backend: Backend, run_id: str) -> tuple[StoredRun, RunView, list[str] | None]:
    run = await stored_run(backend, run_id)
    view = await backend.replay(run_id)
    difference = None
    if run.parent_id is not None:
        try:
            compared = await backend.compare_runs(run.parent_id, run_id)
            difference = list(compared.differences)
        except RunNotStored:
            say(f"note: its parent '{run.parent_id}' is not stored here any more")
    return run, view, difference


async def stored_run(backend: Backend, run_id: str) -> StoredRun:
    """One stored run by its id.

    Raises:
        RunNotStored: there is none.
    """
    for run in await backend.runs():
        if run.run_id == run_id:
            return run
    raise RunNotStored(run_id)


def _show(run: StoredRun, view: RunView, difference: list[str] | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    facts: dict[str, Any] = {**run_data(run), "difference": "; ".join(difference or ()) or None}
    for key, value in facts.items():
        if value is not None and value is not False:
            table.add_row(Text(key, "dim"), Text(visible(str(value))))
    for node_id, label in view.labels.items():
        status = view.status_by_node[node_id].value.replace("_", " ")
        error = view.failed.get(node_id, "")
        table.add_row(Text(visible(label), "dim"), Text(visible(f"{status} {error}".strip())))
    Console().print(table)

"""`openflow runs replay`: a stored run as it looked after any of its events; read only."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.console import stdout_is_terminal, write_json
from app.cli.event_file import EventFile
from app.cli.projection_data import projection
from app.cli.run_options import EventsOption, RunId
from app.cli.session import DataDir, Debug, Session
from app.kit.visible import visible, visible_lines
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import EntryKind


def replay(
    context: typer.Context,
    run_id: RunId,
    until: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="As it was after event number N; else at its end."),
    ] = None,
    events: EventsOption = None,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Print what could be seen of a run after one of its events; no model is asked.

    Where standard output is no terminal, this prints one JSON object.
    """
    backend = context.ensure_object(Session).open_backend()
    view, told = asyncio.run(and_closed(backend, _look(backend, run_id, until, events is not None)))
    if events is not None:
        _write(told, events)
    if stdout_is_terminal():
        _show(view)
    else:
        write_json({"until": until, **projection(view)})


async def _look(
    backend: Backend, run_id: str, until: int | None, wants_events: bool
) -> tuple[RunView, tuple[EventRecord, ...]]:
    view = await backend.replay(run_id, until)
    return view, await backend.stored_events(run_id, until) if wants_events else ()


def _write(told: tuple[EventRecord, ...], target: str) -> None:
    file = EventFile(target)
    for record in told:
        file.put(record)
    if lost := file.close():
        raise UserError(lost)


def _show(view: RunView) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(f"run {view.run_id}: {view.status.value}", "bold"))
    for node_id, label in view.labels.items():
        status = view.status_by_node[node_id].value.replace("_", " ")
        console.print(Text(f"\n{visible(label)} ({status})", "bold"))
        for entry in view.chat.get(node_id, ()):
            if entry.kind is EntryKind.TOOL_CALL:
                call = view.tool_calls[node_id][entry.tool_call_id or ""]
                console.print(Text(f"  {call.tool_name}: {call.status.value}", "cyan"))
                continue
            style = "dim" if entry.role in ("thinking", "system") else ""
            lines = visible_lines(entry.content)
            console.print(Text(f"  {entry.role}: {lines[0]}", style))
            for line in lines[1:]:
                console.print(Text(f"    {line}", style))

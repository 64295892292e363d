"""`openflow runs delete`: delete stored runs with their artifacts."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.confirmation import confirmed
from app.cli.console import write_json
from app.cli.session import DataDir, Debug, Session
from app.kit.formats import plural
from orchestration.backend import Backend

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def delete(
    context: typer.Context,
    run_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The runs' ids.")],
    yes: Yes = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Delete stored runs with everything that belongs to them; asks first on a terminal."""
    if not confirmed(f"deleting {plural(len(run_ids), 'run')}", yes=yes):
        raise typer.Exit(1)
    backend = context.ensure_object(Session).open_backend()
    asyncio.run(and_closed(backend, _delete(backend, run_ids)))
    write_json({"deleted": run_ids})


async def _delete(backend: Backend, run_ids: list[str]) -> None:
    for run_id in run_ids:
        await backend.delete_run(run_id)

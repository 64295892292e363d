"""`openflow runs import`: take in a run that was exported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.console import write_json
from app.cli.session import DataDir, Debug, Session


def import_run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What 'runs export' wrote.")],
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Take in a run that was exported, here or elsewhere."""
    backend = context.ensure_object(Session).open_backend()
    run_id = asyncio.run(and_closed(backend, backend.import_run(file)))
    write_json({"run_id": run_id})

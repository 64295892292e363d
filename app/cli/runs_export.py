"""`openflow runs export`: a stored run as one file, without secrets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.console import write_json
from app.cli.run_options import RunId
from app.cli.session import DataDir, Debug, Session
from orchestration.errors import UserError

SUFFIX = ".openflow-run.zip"


def export(
    context: typer.Context,
    run_id: RunId,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help=f"Where to; without it ID{SUFFIX} in this folder."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Write a run to one file that 'runs import' takes; refused where it would hold a key."""
    target = file if file is not None else Path(f"{Path(run_id).name}{SUFFIX}")
    if target.exists() and not force:
        raise UserError(f"{target} is there already; name another file or give --force")
    backend = context.ensure_object(Session).open_backend()
    asyncio.run(and_closed(backend, backend.export_run(run_id, target)))
    write_json({"run_id": run_id, "file": str(target)})

"""`openflow runs rename`: give a stored run another name."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.run_options import RunId
from app.cli.session import DataDir, Debug, Session
from orchestration.errors import UserError


def rename(
    context: typer.Context,
    run_id: RunId,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Give a stored run another name."""
    words = " ".join(name.split())
    if not words:
        raise UserError("the new name is empty; give one with letters in it")
    backend = context.ensure_object(Session).open_backend()
    asyncio.run(and_closed(backend, backend.rename_run(run_id, words)))

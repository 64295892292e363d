"""`openflow runs restore`: put the latest good copy in the place of a damaged run database."""

from __future__ import annotations

import asyncio
from datetime import datetime

import typer

from app.cli.attended_run import and_closed
from app.cli.confirmation import confirmed
from app.cli.console import say, write_json
from app.cli.runs_delete import Yes
from app.cli.session import DataDir, Debug, Session
from orchestration.backend import Backend
from orchestration.errors import UserError
from orchestration.runs.stored import RestoredRuns


def restore(
    context: typer.Context,
    yes: Yes = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Put the latest good copy in the place of a run database that is damaged.

    What was stored after that copy was made is only in the damaged file, which is put aside.
    Close every other OpenFlow first.
    """
    backend = context.ensure_object(Session).open_backend()
    restored = asyncio.run(and_closed(backend, _restored(backend, yes)))
    if restored is None:
        raise typer.Exit(1)
    say(f"the run database is the copy now; the damaged one is kept as {restored.aside}")
    write_json({"restored": str(restored.copy.path), "damaged": str(restored.aside)})


async def _restored(backend: Backend, yes: bool) -> RestoredRuns | None:
    copy = await backend.good_copy()
    if copy is None:
        raise UserError(
            "there is no copy of the run database that could be restored: one is made each day; "
            "move the damaged file away, and a new one is begun"
        )
    made = datetime.fromtimestamp(copy.made).strftime("%Y-%m-%d %H:%M")
    what = f"putting the copy of {made} in the place of the run database, without later runs,"
    return await backend.restore_runs() if confirmed(what, yes=yes) else None

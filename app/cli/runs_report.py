"""`openflow runs report`: a report of a stored run as one HTML page or Markdown text."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.console import write_json
from app.cli.run_options import RunId
from app.cli.session import DataDir, Debug, Session
from orchestration.errors import UserError


class ReportFormat(StrEnum):
    """What a report can be written as."""

    HTML = "html"
    MD = "md"


def report(
    context: typer.Context,
    run_id: RunId,
    wanted: Annotated[
        ReportFormat | None,
        typer.Option("--format", help="What to write; by default what FILE ends in, else html."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="Where to; without it standard output."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Write a report of a run; refused where it would hold a key."""
    from orchestration.report.writing import format_of, write_report

    if output is not None and output.exists() and not force:
        raise UserError(f"{output} is there already; name another file or give --force")
    if wanted is not None:
        kind = wanted.value
    else:
        kind = format_of(output) if output is not None else ReportFormat.HTML.value
    backend = context.ensure_object(Session).open_backend()
    text = asyncio.run(and_closed(backend, backend.run_report(run_id, kind)))
    if output is None:
        sys.stdout.write(text)
        return
    write_report(output, text)
    write_json({"run_id": run_id, "file": str(output), "format": kind})

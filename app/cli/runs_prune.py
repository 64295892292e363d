"""`openflow runs prune`: delete runs that have ended, by age or by size."""

from __future__ import annotations

import asyncio
import re
from typing import Annotated

import typer

from app.cli.attended_run import and_closed
from app.cli.confirmation import confirmed
from app.cli.console import write_json
from app.cli.runs_delete import Yes
from app.cli.session import DataDir, Debug, Session
from orchestration.errors import UserError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.IGNORECASE)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def prune(
    context: typer.Context,
    older_than: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="What has not changed for so long: 12h, 30d, 8w."),
    ] = None,
    max_size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Then the oldest, until the rest takes no more: 500M, 2G."
        ),
    ] = None,
    yes: Yes = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Delete runs that have ended, the oldest first; what waits or was cut off stays."""
    if older_than is None and max_size is None:
        raise UserError(
            "nothing says what to delete; give --older-than AGE, --max-size SIZE or both"
        )
    age = seconds(older_than) if older_than is not None else None
    size = size_in_bytes(max_size) if max_size is not None else None
    if not confirmed("deleting old runs", yes=yes):
        raise typer.Exit(1)
    backend = context.ensure_object(Session).open_backend()
    work = backend.prune_runs(older_than_s=age, most_bytes=size)
    write_json({"deleted": list(asyncio.run(and_closed(backend, work)))})


def seconds(age: str) -> float:
    """An age such as `30d` in seconds.

    Raises:
        UserError: it is none.
    """
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise UserError(f"--older-than {age} is no age; write a number with s, m, h, d or w (30d)")
    return float(found[1]) * _SECONDS[found[2].lower()]


def size_in_bytes(size: str) -> int:
    """A size such as `500M` in bytes.

    Raises:
        UserError: it is none.
    """
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        raise UserError(f"--max-size {size} is no size; write a number with K, M, G or T (500M)")
    return int(float(found[1]) * _BYTES[found[2].upper()])

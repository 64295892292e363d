"""Options that every command has, and what they come to."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from app.cli.console import say
from orchestration.backend import Backend
from orchestration.composition import open_backend


class Session:
    """What the options before and after a command's name say together."""

    def __init__(self) -> None:
        self.data_dir: Path | None = None
        self.debug = False

    def open_backend(self) -> Backend:
        """Open the backend and tell what a person must know about how it was found."""
        backend = open_backend(self.data_dir)
        for notice in backend.notices:
            say(f"note: {notice}")
        return backend


def _keep_data_dir(context: typer.Context, value: Path | None) -> Path | None:
    if value is not None:
        context.ensure_object(Session).data_dir = value
    return value


def _keep_debug(context: typer.Context, value: bool) -> bool:
    if value:
        context.ensure_object(Session).debug = True
        logging.basicConfig(level=logging.INFO, force=True)
    return value


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where settings, runs and managed folders live (or set OPENFLOW_DATA_DIR).",
        callback=_keep_data_dir,
        expose_value=False,
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", help="Show a traceback with an error.", callback=_keep_debug, expose_value=False
    ),
]

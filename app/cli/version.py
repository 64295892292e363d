"""`openflow version` and `openflow --version`."""

from __future__ import annotations

from importlib import metadata

import typer

from app.cli.console import write_text


def version() -> None:
    """Show the version."""
    write_text(f"openflow {installed_version()}")


def show_and_leave(wanted: bool) -> None:
    """Show the version and end the program, where the option asks for it."""
    if wanted:
        version()
        raise typer.Exit


def installed_version() -> str:
    """The version of the installed distribution; `unknown` in a bare checkout."""
    try:
        return metadata.version("openflow")
    except metadata.PackageNotFoundError:
        return "unknown"

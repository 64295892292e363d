"""`openflow diff`: what is different between two workflows; places on the canvas do not count."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.console import stdout_is_terminal, write_json, write_text
from app.cli.session import DataDir, Debug
from app.kit.visible import visible, visible_lines
from engine.graph.difference import Difference, differences
from orchestration.workflow_catalog import open_workflow

_KIND_STYLES = {"added": "green", "removed": "red", "changed": "bold"}
_LINE_STYLES = {"+": "green", "-": "red", "…": "dim"}
_KIND_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="The workflow file before.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The workflow file after.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of words.")
    ] = False,
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Say what is different between two workflow files, in words and line by line.

    Where things are on the canvas and how the files are laid out does not count. The exit status
    is 0 where nothing is different, 1 where something is, and 2 where a file cannot be read.
    """
    found = differences(open_workflow(before), open_workflow(after))
    if as_json:
        write_json(
            {
                "before": str(before),
                "after": str(after),
                "equal": not found,
                "differences": [_as_data(each) for each in found],
            }
        )
    elif stdout_is_terminal():
        _show(found)
    elif found:
        write_text("\n".join(_as_lines(found)))
    if found:
        raise typer.Exit(1)


def _as_data(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "subject": difference.subject,
        "what": difference.what,
        "field": difference.field,
        "before": difference.before,
        "after": difference.after,
        "sentence": difference.sentence,
    }


def _as_lines(found: tuple[Difference, ...]) -> list[str]:
    lines = []
    for difference in found:
        lines.append(f"{_KIND_SIGNS[difference.kind]} {visible(difference.sentence)}")
        lines += [f"    {line}" for line in _value_lines(difference)]
    return lines


def _value_lines(difference: Difference) -> list[str]:
    """The lines of a long value; each keeps its sign, whatever a terminal would make of it."""
    return [shown for line in difference.lines() for shown in visible_lines(line)]


def _show(found: tuple[Difference, ...]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    if not found:
        console.print("nothing is different", style="green")
    for difference in found:
        sentence = f"{_KIND_SIGNS[difference.kind]} {visible(difference.sentence)}"
        console.print(Text(sentence, style=_KIND_STYLES[difference.kind]))
        for line in _value_lines(difference):
            console.print(Text(f"    {line}", style=_LINE_STYLES.get(line[:1], "")))

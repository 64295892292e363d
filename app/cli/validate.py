"""`openflow validate`: list everything that is wrong with a workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.console import say, stdout_is_terminal, write_json
from app.cli.session import DataDir, Debug, Session
from app.kit.visible import visible
from engine.graph.problems import Problem
from engine.graph.validation import validate as validate_graph


def validate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The workflow file.")],
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """List every problem of a workflow, each with its node or edge.

    The exit status is 0 for a valid workflow and 2 for one that is not. What only this computer
    lacks for a run, such as a key, is listed too and does not make the workflow invalid.
    """
    session = context.ensure_object(Session)
    backend = session.open_backend()
    workflow = backend.load_workflow(file)
    problems = validate_graph(workflow)
    missing = tuple(p for p in backend.problems(workflow) if p not in problems)
    if stdout_is_terminal():
        _show(problems, missing)
    else:
        write_json(
            {
                "file": str(file),
                "valid": not problems,
                "problems": [_as_data(problem) for problem in problems],
                "missing_here": [_as_data(problem) for problem in missing],
            }
        )
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        say(f"openflow: {file} has {count} and cannot be run; correct what is listed")
        raise typer.Exit(2)
    if missing:
        say(f"{file} is valid; to run it here: {missing[0].message}")


def _as_data(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "message": problem.message,
        "node_id": problem.node_id,
        "edge_id": problem.edge_id,
        "field": problem.field,
    }


def _show(problems: tuple[Problem, ...], missing: tuple[Problem, ...]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not problems and not missing:
        console.print("[green]valid[/]")
        return
    table = Table("where", "problem", box=None)
    for problem in (*problems, *missing):
        style = "red" if problem in problems else "yellow"
        where = problem.node_id or problem.edge_id or "workflow"
        table.add_row(Text(visible(where)), Text(visible(problem.message)), style=style)
    console.print(table)

"""`openflow providers`: which providers there are, which are ready, and whether one answers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from app.cli.console import say, stdout_is_terminal, write_json
from app.cli.session import DataDir, Debug, Session
from app.kit.visible import visible

commands = typer.Typer(help="Providers: which are ready, and why not.", no_args_is_help=False)


@commands.command("list")
def list_providers(context: typer.Context, data_dir: DataDir = None, debug: Debug = False) -> None:
    """List all providers with what each one lacks."""
    session = context.ensure_object(Session)
    statuses = session.open_backend().providers()
    if not stdout_is_terminal():
        write_json(
            [
                {
                    "id": status.id,
                    "label": status.label,
                    "ready": status.ready,
                    "reason": status.reason,
                    "active": status.is_active,
                    "demo": status.is_demo,
                    "base_url": status.base_url,
                    "wire": status.wire,
                    "default_model": status.default_model,
                    "key_variable": status.key_variable,
                    "has_key": status.has_key,
                }
                for status in statuses
            ]
        )
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "id", "service", "default model", "what is missing", box=None)
    for status in statuses:
        mark = "[green]ready[/]" if status.ready else "[dim]-[/]"
        name = f"{status.id} (active)" if status.is_active else status.id
        told = (name, status.label, status.default_model, status.reason)
        table.add_row(mark, *(Text(visible(cell)) for cell in told))
    Console().print(table)


@commands.command("check")
def check(
    context: typer.Context,
    provider: Annotated[str, typer.Argument(metavar="ID", help="The provider's id.")],
    model: Annotated[
        str, typer.Option(help="The model to ask; without it the provider's default one.")
    ] = "",
    data_dir: DataDir = None,
    debug: Debug = False,
) -> None:
    """Try out what a provider can do, in a minute at most, and keep what was found.

    It makes about ten small requests. The exit status is 0 if the model answered, 1 if it did
    not, 2 if the provider is not known or lacks its key.
    """
    session = context.ensure_object(Session)
    report = asyncio.run(_check(session, provider, model))
    if stdout_is_terminal():
        _print_report(report)
    else:
        write_json(report)
    if not report["ok"]:
        say(f"openflow: {provider} does not answer: {report['sentence']}")
        raise typer.Exit(1)


async def _check(session: Session, provider: str, model: str) -> dict[str, Any]:
    backend = session.open_backend()
    try:
        report = await backend.check_provider(provider, model)
        return {"id": provider, **report.as_data()}
    finally:
        await backend.aclose()


def _print_report(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if report["ok"]:
        console.print(Text(visible(report["sentence"])))
    table = Table("", "what was tried", "details", box=None)
    for name, found in report["findings"].items():
        mark = _MARKS[found["state"]]
        table.add_row(mark, _WORDS.get(name, name), Text(visible(found["detail"])))
    console.print(table)
    if report["refuses"]:
        names = ", ".join(report["refuses"])
        console.print(Text(f"Requests for {visible(report['model'])} heed from now on: {names}."))


_MARKS = {
    "yes": "[green]yes[/]",
    "no": "[red]no[/]",
    "ignored": "[yellow]ignored[/]",
    "unknown": "[dim]unknown[/]",
}
_WORDS = {
    "models": "list of models",
    "context_window": "context window",
    "streaming": "streamed replies",
    "usage": "token counts",
    "reasoning_fields": "reasoning in replies",
    "choice_required": "tool_choice: required",
    "choice_auto": "tool_choice: auto",
    "choice_none": "tool_choice: none",
    "choice_named": "tool_choice: one tool",
    "parallel_calls": "several calls in one reply",
    "strict_schemas": "strict schemas",
    "schema_references": "references in schemas",
    "reasoning_options": "reasoning effort",
}

"""Options that say how much a run may use up before it pauses and asks."""

from __future__ import annotations

from typing import Annotated

import typer

_LIMITS = "Limits (the run pauses and asks)"


def _positive(value: float | None) -> float | None:
    if value is not None and not 0 < value < float("inf"):
        raise typer.BadParameter("it must be more than 0")
    return value


MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", metavar="N", min=1, help="So many tokens.", rich_help_panel=_LIMITS
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        callback=_positive,
        help="So many US dollars, as far as prices are known.",
        rich_help_panel=_LIMITS,
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(
        "--max-time",
        metavar="SECONDS",
        callback=_positive,
        help="So many seconds of work; waiting for a person does not count.",
        rich_help_panel=_LIMITS,
    ),
]
MaxTurns = Annotated[
    int | None,
    typer.Option(
        "--max-turns",
        metavar="N",
        min=1,
        help="So many replies of models.",
        rich_help_panel=_LIMITS,
    ),
]

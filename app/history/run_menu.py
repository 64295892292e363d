"""What can be asked of the runs that are chosen in the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from orchestration.runs.stored import StoredRun


class RunOffer(NamedTuple):
    """Something to ask for: its id, its words, and why it cannot be asked for now, if so."""

    id: str
    words: str
    why_not: str = ""


DRIVEN = "It is going on; stop it first"
ONE_RUN = "Choose one run"


def offers(chosen: Sequence[StoredRun]) -> dict[str, RunOffer]:
    """Everything there is, by id; in the order in which menus list it."""
    one = chosen[0] if len(chosen) == 1 else None
    not_one = "" if one is not None else ONE_RUN
    driven = DRIVEN if any(run.driven_by for run in chosen) else ""
    found = (
        RunOffer("replay", "Replay", not_one),
        RunOffer("resume", "Resume", not_one or _not_resumable(one)),
        RunOffer("fork", "Fork…", not_one),
        RunOffer("compare", "Compare", "" if len(chosen) == 2 else "Choose two runs"),
        RunOffer("rename", "Rename", not_one),
        RunOffer("export", "Export…", not_one),
        RunOffer("report", "Save Report…", not_one),
        RunOffer("delete", "Delete…", driven if chosen else "Choose a run"),
        RunOffer("import", "Import a Run…"),
        RunOffer("prune", "Tidy Up…"),
    )
    return {offer.id: offer for offer in found}


def _not_resumable(run: StoredRun | None) -> str:
    if run is None or run.can_resume:
        return ""
    return DRIVEN if run.driven_by else "It is done; fork it to try something else"

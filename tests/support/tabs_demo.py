"""More tabs beside the first one of a demo window: one at work, one edited, others as they are."""

from __future__ import annotations

from pathlib import Path

from app.canvas import commands
from app.program import Program
from tests.support.fake_backend import FakeBackend
from tests.support.qt_loop import until
from tests.support.window_driver import begin
from tests.support.workflow_files import write_workflow

_NAMES = (
    "Release notes",
    "Bug fix with tests",
    "Quarterly report for the whole company",
    "Interview summaries",
    "Code review",
    "Translate the handbook",
    "Migration plan",
    "Onboarding",
    "Weekly digest",
    "Price list",
)


async def open_tabs(program: Program, backend: FakeBackend, folder: Path, count: int) -> None:
    """Open so many tabs in all; the second one has a run, the third one edits."""
    window, opening = program.windows[0], program.workbenches[0].opening
    for number, name in enumerate(_NAMES[: count - 1]):
        await opening.open(write_workflow(folder / f"tab{number}.workflow.json", name=name))
        if number == 0:
            await until(window.actions_["run"].isEnabled)
            window.actions_["run"].trigger()
            await until(window.actions_["stop"].isEnabled)
            begin(backend.run)
        elif number == 1:
            first = window.document.graph.cards[0].id
            commands.rename(window.document, first, "Find the wrong line")

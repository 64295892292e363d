"""The history of a window over a fake backend, put into a state to look at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.main_window import MainWindow
from app.workbench import Workbench
from orchestration.runs.view_values import RunStatus
from tests.support.fake_backend import FakeBackend, FakeRun
from tests.support.qt_loop import turns, until
from tests.support.stored_runs import comparison, keep, stored_run

LOOKING_BACK = ("history", "replay", "compare", "interrupted")
_NAMES = (
    ("Resumable uploads for a photo app", RunStatus.COMPLETED),
    ("Resumable uploads for a photo app, with parts", RunStatus.COMPLETED),
    ("Offline mode for the field app", RunStatus.PAUSED),
    ("Rate limits for the public interface", RunStatus.FAILED),
    ("Search as you type", RunStatus.STOPPED),
    ("A calendar that several people share", RunStatus.COMPLETED),
    (
        "Rotating keys without an outage, and what to tell those who use the old one",
        RunStatus.FAILED,
    ),
)


def keep_runs(
    backend: FakeBackend, file: Path, tell: Callable[[FakeRun], None], *, cut_off: bool
) -> None:
    """Let the backend have some runs that told this; one of them may have been cut off."""
    workflow = backend.load_workflow(file)
    for number, (name, status) in enumerate(_NAMES, start=1):
        told = FakeRun(f"r{number}", workflow)
        tell(told)
        when = time.time() - number * number * 9_000
        run = stored_run(
            f"r{number}",
            name,
            status=RunStatus.RUNNING if cut_off and number == 3 else status,
            workflow_id=workflow.id,
            workflow_name=workflow.name,
            started=when - 40 * number,
            updated=when,
            parent_id="r1" if number == 2 else None,
        )
        keep(backend, run, told)
    a, b = backend.stored[1], backend.stored[0]
    backend.comparisons["r2", "r1"] = comparison(a, b)


async def look_back(window: MainWindow, workbench: Workbench, state: str) -> None:
    """Bring the window into one of the states."""
    await until(window.actions_["run"].isEnabled)
    runs = window.dock.history.runs
    if state == "interrupted":
        return
    window.actions_["history"].trigger()
    await until(lambda: runs.model.rowCount() > 0)
    runs.choose(["r1", "r2"] if state == "compare" else ["r1"])
    if state != "history":
        runs.asked.emit(state)
        await turns(60)
    if state == "replay" and workbench.historian.replay is not None:
        workbench.historian.replay.seek(workbench.historian.replay.count - 9)

"""What all windows of the program have in common: the backend, its runs, and what is open where."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.kit.tasks import Tasks
from app.open_runs import OpenRuns
from app.open_workflow import OpenWorkflow
from orchestration.backend import Backend
from orchestration.workflow_swaps import SwapStore

logger = logging.getLogger(__name__)


class Common(QObject):
    """One for the whole program.

    Attributes:
        opened: The open workflows of all windows; a file is among them at most once.
        closed: Files of tabs that were closed, the last one at the end.
        windows: How many windows there are, as their numbers in the state that is kept.

    Signals:
        window_wanted: A new window; with the `OpenWorkflow` that moves there, or `None`.
        unexpected: A sentence about a failure that nobody has foreseen.
        file_gone: The file at this path was deleted.
        waiting_wanted: The person wants to go to this entry of the waiting list, whose workflow
            has just come to the front of another window.
    """

    window_wanted = Signal(object)
    unexpected = Signal(str)
    file_gone = Signal(object)
    waiting_wanted = Signal(object)

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend
        self.tasks = Tasks(self.report)
        self.runs = OpenRuns(backend)
        self.runs.setParent(self)
        self.swaps = SwapStore(backend.data_dir / "swaps")
        self.opened: list[OpenWorkflow] = []
        self.closed: list[Path] = []
        self.windows: list[int] = [0]

    def find(self, path: Path) -> OpenWorkflow | None:
        """The tab that has this file, in whichever window."""
        return next((each for each in self.opened if each.document.path == path), None)

    def find_workflow(self, workflow_id: str) -> OpenWorkflow | None:
        """The tab that has the workflow of this id."""
        for each in self.opened:
            workflow = each.document.workflow
            if workflow is not None and workflow.id == workflow_id:
                return each
        return None

    def running(self, among: Iterable[OpenWorkflow] | None = None) -> list[str]:
        """The names of workflows with a run under way, of these tabs or of all runs there are."""
        sessions = [
            session
            for session in self.runs.sessions
            if session.is_active and not session.is_resting
        ]
        if among is not None:
            paths = {each.document.path for each in among}
            sessions = [session for session in sessions if session.path in paths]
        return list(dict.fromkeys(session.workflow.name for session in sessions))

    def report(self, error: BaseException) -> None:
        """Tell of a failure that nobody has foreseen."""
        logger.error("something unexpected happened", exc_info=error)
        self.unexpected.emit(f"Something unexpected happened: {error}")

"""Where a stored run is shown: the tab of its workflow, or of a copy as the run had it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.common import Common
from app.history.recorded_copy import recorded_copy
from app.main_window import MainWindow
from app.open_workflow import OpenWorkflow
from app.opening import Opening
from engine.graph.workflow import Workflow
from orchestration.errors import UserError
from orchestration.runs.stored import StoredRun


class RunHomes:
    """Finds and opens the workflows of stored runs in one window."""

    def __init__(self, window: MainWindow, common: Common, opening: Opening) -> None:
        """`common` knows what is open anywhere, `opening` what is open in the window."""
        self._window = window
        self._common = common
        self._backend = common.backend
        self._opening = opening

    async def at_home(self, run: StoredRun) -> tuple[OpenWorkflow, Path, Workflow]:
        """Show the run's workflow; give its tab, its file and itself.

        Raises:
            UserError: it is nowhere to be found, or in another window.
        """
        work = self._common.find_workflow(run.workflow_id)
        if work is None:
            path = await asyncio.to_thread(self._file_of, run.workflow_id)
            if path is None:
                recorded = await self._backend.recorded_workflow(run.run_id, None)
                if recorded is None:
                    raise UserError(f"the workflow '{run.workflow_name}' of this run is gone")
                return await self._at_copy(run, recorded)
            work = await self._opening.open(path)
        else:
            work.come_to_front()
        document = work.document
        if work not in self._opening.all:
            raise UserError(
                f"'{run.workflow_name}' is open in another window; look at the run there"
            )
        if document.path is None or document.workflow is None:
            raise UserError(f"'{run.workflow_name}' could not be opened; try again")
        return work, document.path, document.workflow

    async def as_it_ran(self, run: StoredRun) -> tuple[OpenWorkflow, Path, Workflow]:
        """Show the workflow that the run was made with: today's if that is it, else a copy."""
        known = self._common.find_workflow(run.workflow_id)
        today = known.document.workflow if known is not None else None
        if today is None:
            file = await asyncio.to_thread(self._file_of, run.workflow_id)
            today = self._backend.load_workflow(file) if file is not None else None
        recorded = await self._backend.recorded_workflow(run.run_id, today)
        if recorded is None:
            return await self.at_home(run)
        return await self._at_copy(run, recorded)

    async def _at_copy(
        self, run: StoredRun, recorded: Workflow
    ) -> tuple[OpenWorkflow, Path, Workflow]:
        """Show the recorded workflow in a tab of its own; the person's file stays as it is."""
        folder = self._backend.data_dir / "recorded"
        path = await asyncio.to_thread(recorded_copy, folder, run.run_id, recorded)
        work = await self._opening.open(path)
        workflow = work.document.workflow
        if work not in self._opening.all or workflow is None:
            raise UserError(
                f"'{run.workflow_name}' is open in another window; look at the run there"
            )
        return work, path, workflow

    def _file_of(self, workflow_id: str) -> Path | None:
        catalogue = self._backend.library.catalogue()
        for file in (*catalogue.files(), *catalogue.examples):
            if file.id == workflow_id:
                return file.path
        for path, _ in self._window.state.recent():
            try:
                if self._backend.load_workflow(path).id == workflow_id:
                    return path
            except UserError:
                continue  # it is gone, or no workflow any more
        return None

"""All runs of the program: one active run a workflow, the latest ones kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from orchestration.errors import RunAlreadyActive, RunNotFound, RunStillActive
from orchestration.runs.coordinator import RunCoordinator

RETAINED_RUNS = 64


class RunRegistry:
    """Finds runs by id. Runs that are over make room for new ones, oldest first."""

    def __init__(self, retained: int = RETAINED_RUNS) -> None:
        self._retained = retained
        self._runs: dict[str, RunCoordinator] = {}
        self._starting: set[str] = set()

    @contextmanager
    def starting(self, workflow_id: str, workflow_name: str) -> Iterator[None]:
        """Keep others from starting the same workflow meanwhile.

        Raises:
            RunAlreadyActive: it has a run that is not over, or is being started.
        """
        active = self.active_run(workflow_id)
        if active is not None or workflow_id in self._starting:
            raise RunAlreadyActive(workflow_name, active or "")
        self._starting.add(workflow_id)
        try:
            yield
        finally:
            self._starting.discard(workflow_id)

    def add(self, run: RunCoordinator) -> tuple[str, ...]:
        """Keep a run; of those that are over the oldest go if there are too many, and are named."""
        self._runs[run.run_id] = run
        surplus = len(self._runs) - self._retained
        if surplus <= 0:
            return ()
        over = [run_id for run_id, other in self._runs.items() if other.is_over]
        for run_id in over[:surplus]:
            del self._runs[run_id]
        return tuple(over[:surplus])

    def drop(self, run_id: str) -> None:
        """Forget a run that is over; nothing happens if it is not known."""
        run = self._runs.get(run_id)
        if run is not None and run.is_over:
            del self._runs[run_id]

    def find(self, run_id: str) -> RunCoordinator | None:
        """The run with this id, if it is known."""
        return self._runs.get(run_id)

    def get(self, run_id: str) -> RunCoordinator:
        """The run with this id.

        Raises:
            RunNotFound: there is none (any more).
        """
        run = self._runs.get(run_id)
        if run is None:
            raise RunNotFound(run_id)
        return run

    def active_run(self, workflow_id: str) -> str | None:
        """The id of the workflow's run that is not over, if it has one."""
        for run in self._runs.values():
            if run.workflow_id == workflow_id and not run.is_over:
                return run.run_id
        return None

    def require_all_over(self) -> None:
        """See that nothing is going on.

        Raises:
            RunStillActive: a run is.
        """
        for run_id, run in self._runs.items():
            if not run.is_over:
                raise RunStillActive(run_id)

    async def close_all(self) -> None:
        """End with the program: stop what moves, leave what waits for a person, all at once."""
        await asyncio.gather(*(run.close() for run in self._runs.values()))

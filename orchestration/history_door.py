"""The part of the door that is about stored runs: the past ones, and those that go on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from engine.vocabulary.recovery import UncertainChoice
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import (
    EVERY_RUN,
    NO_CHANGES,
    ForkChanges,
    RunComparison,
    RunQuery,
    StoredRun,
)


class HistoryDoor(ABC):
    """What may be done to stored runs. Each method raises a `StorageError` where it cannot be."""

    @abstractmethod
    async def runs(self, query: RunQuery = EVERY_RUN) -> tuple[StoredRun, ...]:
        """Stored runs, the latest change first."""

    @abstractmethod
    async def interrupted_runs(self) -> tuple[StoredRun, ...]:
        """Runs whose process ended in the middle of them, the latest first."""

    @abstractmethod
    async def resume_run(
        self, run_id: str, *, message: str | None = None, node_id: str | None = None
    ) -> str:
        """Go on with a stored run where its facts end; gives its id.

        Calls that have ended are not repeated, open questions and approvals are back with their
        ids, and calls of unknown end are told as uncertain. `message` goes to the node `node_id`,
        or to the only one that takes one. The recorded workflow is used; that it was edited since
        is told in the run.

        Raises:
            RunIsDriven: another process drives it.
            RunAlreadyActive: its workflow has another run that is not over.
            NoContinuableRun: it has completed.
            InteractionError: the node takes no message.
        """

    @abstractmethod
    async def settle_uncertain(self, run_id: str, call_id: str, choice: UncertainChoice) -> None:
        """Say what became of a call of unknown end.

        Raises:
            UnknownCall: no such call is uncertain.
        """

    @abstractmethod
    async def replay(self, run_id: str, until: int | None = None) -> RunView:
        """A run as it looked after event number `until`, or after its last; read only."""

    @abstractmethod
    async def stored_events(self, run_id: str, until: int | None = None) -> tuple[EventRecord, ...]:
        """What a run told, up to and with event number `until`."""

    @abstractmethod
    async def fork_run(
        self,
        run_id: str,
        *,
        node_id: str | None = None,
        turn: int | None = None,
        seq: int | None = None,
        changes: ForkChanges = NO_CHANGES,
    ) -> str:
        """Begin a new run that shares the past of a stored one; gives its id.

        Args:
            run_id: the parent.
            node_id: whose turn it is made at, and what `changes` are about.
            turn: made before this turn of the node, from 1; the first where there is none.
            seq: made after this event instead.
            changes: what is other than in the parent.

        Raises:
            UserError: there is no such node or turn, or the changes do not fit it.
        """

    @abstractmethod
    async def compare_runs(self, a: str, b: str) -> RunComparison:
        """Two runs side by side: outputs, time and tokens."""

    @abstractmethod
    async def rename_run(self, run_id: str, name: str) -> None:
        """Give a run another name."""

    @abstractmethod
    async def delete_run(self, run_id: str) -> None:
        """Delete a run with its artifacts.

        Raises:
            RunStillActive: a process drives it.
        """

    @abstractmethod
    async def prune_runs(
        self, *, older_than_s: float | None = None, most_bytes: int | None = None
    ) -> tuple[str, ...]:
        """Delete runs that have ended, the oldest first; gives their ids.

        Those that have not changed for `older_than_s` seconds go, then more until all runs
        together take at most `most_bytes`. Runs that wait for a person or were cut off stay.
        """

    @abstractmethod
    async def export_run(self, run_id: str, path: Path) -> None:
        """Write a run to one file without secrets.

        Raises:
            HoldsSecret: the file would hold the value of a known key; nothing was written.
        """

    @abstractmethod
    async def import_run(self, path: Path) -> str:
        """Take in a run that was exported; gives its id.

        Raises:
            RunAlreadyStored: it is here already.
            UnreadableRun: the file holds no run.
        """

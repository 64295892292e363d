"""The part of the door that is about stored runs: the past ones, and those that go on."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from engine.vocabulary.recovery import UncertainChoice
from orchestration.errors import NoContinuableRun
from orchestration.run_making import RunMaker
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.limits import Budget
from orchestration.runs.registry import RunRegistry
from orchestration.runs.requests import NO_OVERRIDES, RunOverrides, RunRequest
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import (
    EVERY_RUN,
    NO_CHANGES,
    ForkChanges,
    GoodCopy,
    RestoredRuns,
    RunComparison,
    RunQuery,
    StoredRun,
)
from orchestration.runs.view_values import RunStatus
from orchestration.settings.known_secrets import known_secrets
from orchestration.settings_door import SettingsDoor
from orchestration.surroundings import Surroundings

if TYPE_CHECKING:
    from engine.graph.workflow import Workflow
    from orchestration.run_keeping import RunKeeper

logger = logging.getLogger(__name__)


class HistoryDoor(SettingsDoor):
    """What may be done to stored runs. Each method raises a `StorageError` where it cannot be."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._limits = limits = surroundings.settings.limits
        self._budget = Budget(limits.provider_calls, limits.tools)
        self._maker = RunMaker(surroundings, self._budget)
        self._runs = RunRegistry()
        self._opened_keeper: RunKeeper | None = None

    def _settings_changed(self) -> None:
        super()._settings_changed()
        limits = self._all.settings.limits
        if limits != self._limits:
            self._limits = limits
            self._budget.resize(limits.provider_calls, limits.tools)

    @property
    def _keeper(self) -> RunKeeper:
        """Who keeps the runs; what that takes is imported when it is first asked for."""
        if self._opened_keeper is None:
            from orchestration.run_keeping import RunKeeper

            self._opened_keeper = RunKeeper(self._all, self._maker)
        return self._opened_keeper

    async def _opened(self) -> RunKeeper:
        """Who keeps the runs, without holding up the event loop when it is first asked for."""
        if self._opened_keeper is None:
            await asyncio.to_thread(_import_storage)
        return self._keeper

    async def runs(self, query: RunQuery = EVERY_RUN) -> tuple[StoredRun, ...]:
        """Stored runs, the latest change first."""
        return tuple(await (await self._opened()).store.list_runs(query))

    async def interrupted_runs(self) -> tuple[StoredRun, ...]:
        """Runs whose process ended in the middle of them, the latest first."""
        query = RunQuery(statuses=frozenset({RunStatus.RUNNING}))
        return tuple([run for run in await self.runs(query) if run.was_cut_off])

    async def resume_run(
        self,
        run_id: str,
        *,
        message: str | None = None,
        node_id: str | None = None,
        overrides: RunOverrides = NO_OVERRIDES,
    ) -> str:
        """Go on with a stored run where its facts end; gives its id.

        Calls that have ended are not repeated, open questions and approvals are back with their
        ids, and calls of unknown end are told as uncertain. `message` goes to the node `node_id`,
        or to the only one that takes one. The recorded workflow is used; that it was edited since
        is told in the run. `overrides` are the providers and models that answer from here on, and
        how they are reached; what they leave open is as it was.

        Raises:
            RunIsDriven: another process drives it.
            RunAlreadyActive: its workflow has another run that is not over.
            NoContinuableRun: it has completed.
            InteractionError: the node takes no message.
        """
        known = self._runs.find(run_id)
        if known is not None:
            await self._go_on(known, node_id, message, overrides)
            return run_id
        summary = await (await self._opened()).summary(run_id)
        with self._runs.starting(summary.workflow_id, summary.workflow_name):
            await self._take_up(run_id, node_id, message, overrides)
        return run_id

    async def settle_uncertain(self, run_id: str, call_id: str, choice: UncertainChoice) -> None:
        """Say what became of a call of unknown end.

        Raises:
            NotUncertain: no such call is uncertain.
        """
        await self._runs.get(run_id).settle_uncertain(call_id, UncertainChoice(choice))

    async def give_way(self, run_id: str) -> None:
        """Let a run that waits for its folder go ahead of the paused one that has it.

        The paused run waits for the folder in its turn when it is answered. It may be one of
        another program, which lets this one go first a moment later.

        Raises:
            FolderBusy: the run does not wait, or who has the folder is at work.
        """
        await (await self._opened()).turns.give_way(run_id)

    async def replay(self, run_id: str, until: int | None = None) -> RunView:
        """A run as it looked after event number `until`, or after its last; read only."""
        return await (await self._opened()).replay(run_id, until)

    async def recorded_workflow(self, run_id: str, today: Workflow | None) -> Workflow | None:
        """The workflow that a run was made with, `None` if `today` is the same one."""
        return await (await self._opened()).recorded_workflow(run_id, today)

    async def stored_events(self, run_id: str, until: int | None = None) -> tuple[EventRecord, ...]:
        """What a run told, up to and with event number `until`."""
        parts = await (await self._opened()).store.events(run_id, until)
        return tuple([record for part in parts for record in part.records])

    async def turns(self, run_id: str) -> tuple[str, ...]:
        """The node whose turn it was, for each turn of a run in order; what a fork counts by."""
        keeper = await self._opened()
        from orchestration.storage.forking import turns_of

        recorded = await keeper.store.load(run_id)
        return tuple([turn.node_id for turn in turns_of(recorded.inputs)])

    async def fork_run(
        self,
        run_id: str,
        *,
        node_id: str | None = None,
        turn: int | None = None,
        seq: int | None = None,
        changes: ForkChanges = NO_CHANGES,
        overrides: RunOverrides = NO_OVERRIDES,
    ) -> str:
        """Begin a new run that shares the past of a stored one; gives its id.

        Args:
            run_id: the parent.
            node_id: whose turn it is made at, and what `changes` are about.
            turn: made before this turn of the node, from 1; the first where there is none.
            seq: made after this event instead.
            changes: what is other than in the parent.
            overrides: as in `resume_run`.

        Raises:
            UserError: there is no such node or turn, or the changes do not fit it.
        """
        keeper = await self._opened()
        from orchestration.run_forks import ForkPoint, fork

        point = ForkPoint(node_id, turn, seq)
        new_id = await fork(keeper, run_id, point, changes, self._maker.tools_for)
        return await self.resume_run(new_id, overrides=overrides)

    async def compare_runs(self, a: str, b: str) -> RunComparison:
        """Two runs side by side: outputs, time and tokens."""
        keeper = await self._opened()
        from orchestration.run_comparison import compare

        return await compare(keeper, a, b)

    async def rename_run(self, run_id: str, name: str) -> None:
        """Give a run another name."""
        await (await self._opened()).store.rename(run_id, name)

    async def delete_run(self, run_id: str) -> None:
        """Delete a run with its artifacts.

        Raises:
            RunStillActive: a process drives it.
        """
        await (await self._opened()).store.delete(run_id)
        self._forget(run_id)

    async def prune_runs(
        self, *, older_than_s: float | None = None, most_bytes: int | None = None
    ) -> tuple[str, ...]:
        """Delete runs that have ended, the oldest first; gives their ids.

        Those that have not changed for `older_than_s` seconds go, then more until all runs
        together take at most `most_bytes`. Runs that wait for a person or were cut off stay.
        """
        store = (await self._opened()).store
        deleted = await store.prune(older_than_s=older_than_s, most_bytes=most_bytes)
        for run_id in deleted:
            self._forget(run_id)
        return tuple(deleted)

    async def export_run(self, run_id: str, path: Path) -> None:
        """Write a run to one file without secrets.

        Raises:
            HoldsSecret: the file would hold the value of a known key; nothing was written.
        """
        secrets = await asyncio.to_thread(
            known_secrets, self._all.settings, self._all.secrets, self._all.env
        )
        await (await self._opened()).store.export_run(run_id, path, secrets)

    async def import_run(self, path: Path) -> str:
        """Take in a run that was exported; gives its id.

        Raises:
            RunAlreadyStored: it is here already.
            UnreadableRun: the file holds no run.
        """
        return await (await self._opened()).store.import_run(path)

    async def good_copy(self) -> GoodCopy | None:
        """The latest good copy of the run database, if there is one; made once a day."""
        path = (await self._opened()).database.location.path
        return await asyncio.to_thread(_copy_of, path) if path is not None else None

    async def restore_runs(self) -> RestoredRuns:
        """Put the latest good copy in the place of a run database that is damaged.

        What was stored after the copy was made is only in the damaged file, which is put aside.
        No other program may have the database open.

        Raises:
            RunStillActive: a run of this program is on.
            StorageUnavailable: there is no copy, the files cannot be moved, or a server has them.
        """
        self._runs.require_all_over()
        location, copy = (await self._opened()).database.location, await self.good_copy()
        from orchestration.storage.backups import restore
        from orchestration.storage.errors import StorageError, StorageUnavailable

        if location.path is None:
            raise StorageUnavailable(
                f"the runs are on the server {location}; whoever keeps it has its copies"
            )
        if copy is None:
            raise StorageUnavailable(f"there is no copy of {location.path} that could be restored")
        keeper, self._opened_keeper = self._keeper, None
        try:
            await keeper.aclose()
        except StorageError as error:
            logger.warning("what could not be written is lost: %s", error)
        return RestoredRuns(copy, await asyncio.to_thread(restore, location.path))

    async def _begin_run(self, request: RunRequest) -> str:
        workflow = request.workflow
        with self._runs.starting(workflow.id, workflow.name):
            ready = await asyncio.to_thread(self._maker.ready, request)
            run = await (await self._opened()).begin(request, ready)
            self._add(run)
            run.start()
        return run.run_id

    async def _go_on(
        self,
        run: RunCoordinator,
        node_id: str | None,
        message: str | None,
        overrides: RunOverrides = NO_OVERRIDES,
    ) -> None:
        """Continue a run of this process that was stopped or has failed."""
        if not run.is_continuable:
            raise NoContinuableRun(run.run_id, run.view.status if run.is_over else "on")
        with self._runs.starting(run.workflow_id, run.workflow_name):
            if overrides == NO_OVERRIDES and await self._keeper.hold_again(run):
                if message is None:
                    run.continue_()
                else:
                    run.continue_(node_id or run.only_movable, message)
            else:
                await self._take_up(run.run_id, node_id, message, overrides)

    async def _take_up(
        self, run_id: str, node_id: str | None, message: str | None, overrides: RunOverrides
    ) -> None:
        self._forget(run_id)
        run = await (await self._opened()).take_up(run_id, overrides)
        try:
            run.go_on(node_id, message)
        except BaseException:
            await self._keeper.let_go(run_id)
            raise
        self._add(run)

    def _add(self, run: RunCoordinator) -> None:
        for dropped in self._runs.add(run):
            self._keeper.forget(dropped)

    def _forget(self, run_id: str) -> None:
        self._runs.drop(run_id)
        self._keeper.forget(run_id)


def _import_storage() -> None:
    import orchestration.run_comparison
    import orchestration.run_forks
    import orchestration.run_keeping  # noqa: F401


def _copy_of(path: Path) -> GoodCopy | None:
    from orchestration.storage.backups import latest_good

    copy = latest_good(path)
    return GoodCopy(copy, copy.stat().st_mtime) if copy is not None else None

"""The runs of a data folder: begun, listed, loaded, renamed, deleted, handed on and taken in."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from engine.vocabulary.tools import ToolCall
from orchestration.errors import RunStillActive
from orchestration.runs.stored import EVERY_RUN, RunQuery, StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.storage import run_rows, run_upkeep, transfer
from orchestration.storage.backups import backup_file, backup_is_due, copy_of
from orchestration.storage.database import Database
from orchestration.storage.errors import StorageError, StorageUnavailable
from orchestration.storage.facts import NodeStanding, RecordedRun, RunOpening
from orchestration.storage.run_folders import (
    delete_left_overs,
    folder_size,
    put_aside,
    remove,
    run_folder,
)
from orchestration.storage.run_journal import RunJournal
from orchestration.storage.run_rows import StoredEvents
from orchestration.storage.secret_scan import SecretScanner

if TYPE_CHECKING:
    from sqlalchemy import Connection

ENDED = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.STOPPED})


class OpenedRun(Struct, frozen=True):
    """A run that this process drives: its number in the database and its journal."""

    number: int
    journal: RunJournal


class ResumedRun(Struct, frozen=True):
    """A stored run that this process drives from now on."""

    recorded: RecordedRun
    journal: RunJournal


class RunStore:
    """Everything that is kept of runs. Methods raise a `StorageError` where nothing can be kept."""

    def __init__(
        self, database: Database, runs_folder: Path, clock: Callable[[], float] = time.time
    ) -> None:
        """Take the database, and the folder that has a folder for each run."""
        self.database = database
        self._runs_folder = runs_folder
        self._clock = clock

    async def open_run(
        self, opening: RunOpening, *, is_reading: Callable[[ToolCall], bool]
    ) -> OpenedRun:
        """Store a new run and take its lease; `is_reading` says whether a call changes nothing.

        Raises:
            RunAlreadyStored: its id is taken.
        """

        def insert(connection: Connection) -> int:
            number = run_rows.insert_run(connection, opening)
            self.database.leases.take(connection, number, opening.run_id)
            return number

        number = await self.database.run(insert)
        journal = RunJournal(
            self.database,
            number,
            run_id=opening.run_id,
            seed=opening.seed,
            is_reading=is_reading,
            clock=self._clock,
        )
        return OpenedRun(number, journal)

    async def resume_run(
        self, run_id: str, *, is_reading: Callable[[ToolCall], bool]
    ) -> ResumedRun:
        """Take a run's lease and load it, so that it can go on.

        Raises:
            RunNotStored: there is no such run.
            RunIsDriven: another process drives it.
            UnreadableRun: a part of it is missing.
        """
        leases = self.database.leases

        def take(connection: Connection) -> int:
            number = run_rows.run_number(connection, run_id)
            leases.take(connection, number, run_id)
            return number

        number = await self.database.run(take)
        try:
            recorded = await self.load(run_id)
        except StorageError:
            await self.release(number)
            raise
        journal = RunJournal(
            self.database,
            number,
            run_id=run_id,
            seed=recorded.opening.seed,
            next_seq=recorded.next_seq,
            is_reading=is_reading,
            clock=self._clock,
        )
        return ResumedRun(recorded, journal)

    async def answered_anew(self, recorded: RecordedRun, opening: RunOpening) -> None:
        """Note that others answer a run than those that it began with."""
        await self.database.run(lambda c: run_rows.record_again(c, recorded.number, opening))

    async def hold_again(self, number: int, run_id: str, journal: RunJournal) -> bool:
        """Take the lease of a run that was released; false if it went on elsewhere meanwhile.

        Raises:
            RunNotStored: it was deleted.
            RunIsDriven: another process drives it.
        """
        leases = self.database.leases

        def take(connection: Connection) -> bool:
            run_rows.run_number(connection, run_id)
            if run_rows.last_fact(connection, number) >= journal.next_seq:
                return False
            leases.take(connection, number, run_id)
            return True

        return await self.database.run(take)

    async def release(self, number: int) -> None:
        """Give a run's lease back: it is over, or is left for another day."""
        leases = self.database.leases
        await self.database.run(lambda connection: leases.release(connection, number))

    async def load(self, run_id: str) -> RecordedRun:
        """A run with everything that was fed to its engine, read only.

        Raises:
            RunNotStored: there is no such run.
            UnreadableRun: a part of it is missing.
        """
        leases = self.database.leases
        return await self.database.read(lambda c: run_rows.load_run(c, run_id, leases))

    async def list_runs(self, wanted: RunQuery = EVERY_RUN) -> list[StoredRun]:
        """Runs, the latest change first."""
        leases = self.database.leases
        return await self.database.read(lambda c: run_rows.list_runs(c, wanted, leases))

    async def summary(self, run_id: str) -> StoredRun:
        """The row of a run in a list of runs.

        Raises:
            RunNotStored: there is no such run.
        """
        leases = self.database.leases
        return await self.database.read(lambda c: run_rows.summary_of(c, run_id, leases))

    async def events(self, run_id: str, until: int | None = None) -> list[StoredEvents]:
        """What a run told, up to and with event number `until`.

        Raises:
            RunNotStored: there is no such run.
        """
        return await self.database.read(lambda c: run_rows.load_events(c, run_id, until))

    async def nodes(self, run_id: str) -> list[NodeStanding]:
        """How the nodes of a run stand, by id.

        Raises:
            RunNotStored: there is no such run.
        """
        return await self.database.read(lambda c: run_rows.list_nodes(c, run_id))

    async def usage(self, run_id: str) -> dict[str, tuple[int | None, int | None]]:
        """Tokens in and out of each node of a run, its subagents counted in.

        Raises:
            RunNotStored: there is no such run.
        """
        return await self.database.read(lambda c: run_rows.usage_by_node(c, run_id))

    async def rename(self, run_id: str, name: str) -> None:
        """Give a run another name.

        Raises:
            RunNotStored: there is no such run.
        """
        await self.database.run(lambda c: run_upkeep.rename_run(c, run_id, name))

    async def delete(self, run_id: str) -> None:
        """Delete a run with its artifacts and everything else in its folder.

        Raises:
            RunNotStored: there is no such run.
            RunStillActive: a process drives it.
            StorageUnavailable: its folder cannot be deleted; the run is as it was.
        """
        await self._require_idle(run_id)
        if self.database.failure is not None:
            await self.database.recover()
        folder = run_folder(self._runs_folder, run_id)
        aside = await asyncio.to_thread(put_aside, folder)
        try:
            await self.database.run(lambda c: run_upkeep.delete_run(c, run_id))
        except StorageError:
            if aside is not None:
                await asyncio.to_thread(os.rename, aside, folder)
            raise
        if aside is not None:
            await asyncio.to_thread(remove, aside)

    async def prune(
        self, *, older_than_s: float | None = None, most_bytes: int | None = None
    ) -> list[str]:
        """Delete runs that have ended, the oldest first; gives their ids.

        Runs that wait for a person or were cut off stay.

        Args:
            older_than_s: delete what has not changed for so many seconds.
            most_bytes: then delete until all runs together take no more than this.
        """
        await asyncio.to_thread(delete_left_overs, self._runs_folder)
        runs = await self.list_runs()
        sizes = await self.sizes() if most_bytes is not None else {}
        total = sum(sizes.values())
        oldest = self._clock() - older_than_s if older_than_s is not None else float("-inf")
        deleted = []
        for run in reversed(runs):
            is_too_much = most_bytes is not None and total > most_bytes
            if run.status in ENDED and not run.driven_by and (run.updated < oldest or is_too_much):
                await self.delete(run.run_id)
                total -= sizes.get(run.run_id, 0)
                deleted.append(run.run_id)
        return deleted

    async def sizes(self) -> dict[str, int]:
        """How many bytes each run takes, by id: its facts and its folder."""
        stored = await self.database.read(run_upkeep.sizes)

        def with_folders() -> dict[str, int]:
            return {
                run_id: size + folder_size(run_folder(self._runs_folder, run_id))
                for run_id, size in stored.items()
            }

        return await asyncio.to_thread(with_folders)

    async def export_run(self, run_id: str, target: Path, secrets: Iterable[str]) -> None:
        """Write a run to one file that `import_run` takes.

        Args:
            run_id: the run.
            target: the file; replaced if it is there.
            secrets: the values of all known keys; none may be in the file.

        Raises:
            RunNotStored: there is no such run.
            HoldsSecret: the file would hold a key; nothing was written.
            StorageUnavailable: it cannot be written.
        """
        recorded = await self.load(run_id)
        parcel = await self.database.read(
            lambda c: transfer.pack(c, recorded.number, recorded.summary, recorded.opening)
        )
        scanner = SecretScanner(secrets)
        folder = run_folder(self._runs_folder, run_id)
        await asyncio.to_thread(transfer.write_parcel, parcel, folder, target, scanner)

    async def import_run(self, source: Path, new_id: str | None = None) -> str:
        """Take in a run that was exported; gives its id.

        Args:
            source: the file.
            new_id: the id that it gets; its own where there is none.

        Raises:
            RunAlreadyStored: the id is taken.
            UnreadableRun: the file holds no run.
            StorageUnavailable: it cannot be read, or its folder cannot be made.
        """
        arriving = run_folder(self._runs_folder, f".import-{time.time_ns()}")
        try:
            parcel = await asyncio.to_thread(transfer.read_parcel, source, arriving)
            run_id = new_id or parcel.manifest.opening.run_id
            folder = run_folder(self._runs_folder, run_id)
            await self.database.run(lambda c: transfer.unpack(c, parcel, run_id))
            await asyncio.to_thread(_move, arriving, folder)
        finally:
            await asyncio.to_thread(remove, arriving)
        return run_id

    async def back_up_if_due(self) -> Path | None:
        """Copy the database file if the latest copy is older than a day; gives the copy.

        Raises:
            StorageDamaged: the file is damaged; the earlier copy stays.
        """
        path = self.database.location.path
        if path is None:
            return None  # whoever keeps the server keeps its copies
        await self.database.barrier()
        if not await asyncio.to_thread(backup_is_due, path, self._clock()):
            return None
        return await asyncio.to_thread(copy_of, path, backup_file(path))

    async def _require_idle(self, run_id: str) -> None:
        leases = self.database.leases
        if await self.database.read(lambda c: run_upkeep.is_driven(c, run_id, leases)):
            raise RunStillActive(run_id)


def _move(arriving: Path, folder: Path) -> None:
    try:
        if arriving.exists():
            arriving.replace(folder)
    except OSError as error:
        raise StorageUnavailable(
            f"the files of the run cannot be put into {folder} ({error.strerror or error})"
        ) from error

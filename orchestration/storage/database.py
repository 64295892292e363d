"""The one storage thread: takes rows at once, writes them in groups, says when they are safe."""

from __future__ import annotations

import asyncio
import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Protocol, TypeVar

from orchestration.errors import UserError
from orchestration.storage.access import Access
from orchestration.storage.backups import damaged
from orchestration.storage.connections import (
    WAIT_FOR_LOCK_S,
    Location,
    storage_error,
)
from orchestration.storage.errors import (
    LeaseLost,
    StorageClosed,
    StorageDamaged,
    StorageError,
    StorageReadOnly,
)
from orchestration.storage.leases import HEARTBEAT_S, LeaseKeeper
from orchestration.storage.migrate import FOLDER
from orchestration.storage.schema import HEAD
from orchestration.storage.statements import Kind, Row
from orchestration.storage.waiting import Job, Listeners, Trouble, Waiter

if TYPE_CHECKING:
    from sqlalchemy import Connection

logger = logging.getLogger(__name__)

WITHIN_S = 0.1
"""How long a row may wait for others; less than the 250 ms that are promised."""

Result = TypeVar("Result")


class Source(Protocol):
    """Something that makes its rows when they are written."""

    def rows(self) -> Iterable[tuple[Kind, Row]]:
        """Everything since the last call; called on the storage thread."""


class Database:
    """The database of a data folder.

    Nothing is opened before it is first used; then a thread opens it, brings it up to date and
    writes until `aclose`. Methods may be called in the thread of any event loop. After a failure
    what could not be written is kept, `write` refuses, and `recover` tries again; what is stored
    can be read all the same. `on_recovered` is called when it can be written again.
    """

    def __init__(
        self,
        location: Location,
        *,
        within_s: float = WITHIN_S,
        wait_for_lock_s: float = WAIT_FOR_LOCK_S,
        migrations: tuple[Path, str] = (FOLDER, HEAD),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take where it is.

        Args:
            location: the file or the server.
            within_s: how long a row that nobody waits for may wait for others, in seconds.
            wait_for_lock_s: how long another program may keep it locked, in seconds.
            migrations: the folder of the versions and the newest of them.
            clock: seconds since the epoch.
        """
        self.location = location
        self.leases = LeaseKeeper(clock)
        self._within_s = within_s
        self._access = Access(location, wait_for_lock_s, migrations)
        self._queue: deque[tuple[Kind, Row] | Source | Job | Waiter] = deque()
        self._signals: SimpleQueue[None] = SimpleQueue()
        self._roused = self._hurried = self._closing = False
        self._failure: StorageError | None = None
        self._lost: dict[int | None, LeaseLost] = {}
        self._listeners = Listeners()
        self.on_recovered: Callable[[], None] = lambda: None
        self._reopen = False
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def failure(self) -> StorageError | None:
        """Why nothing is written any more."""
        return self._failure

    def write(self, kind: Kind, row: Row, *, soon: bool = False) -> None:
        """Write a row, within 250 ms; with `soon` at once, still without waiting for it.

        Raises:
            StorageError: nothing can be written any more, or the row's run is driven elsewhere.
        """
        self._require_writable(row[0])
        self._queue.append((kind, row))
        self._rouse(soon)

    def collect(self, source: Source, *, soon: bool = False) -> None:
        """Ask the source for its rows within 250 ms, or at once.

        Raises:
            StorageError: nothing can be written any more.
        """
        self._require_writable(None)
        self._queue.append(source)
        self._rouse(soon)

    def barrier(self, run: int | None = None, *, power: bool = False) -> asyncio.Future[None]:
        """A future that ends when everything written so far outlives a kill of the program.

        With `power` it also outlives a power failure. The future holds a `StorageError` if that
        cannot be had, or if `run`, for which it is asked, was taken over elsewhere.
        """
        self._require_writable(run)
        waiter = Waiter(run, power=power)
        self._queue.append(waiter)
        self._rouse(soon=True)
        return waiter.future

    async def run(self, job: Callable[[Connection], Result]) -> Result:
        """Run a function on the storage thread, in a transaction that outlives a power failure.

        After a failure it is first tried whether things are well again.

        Raises:
            StorageError: it could not be carried out, and nothing of it was.
        """
        if self._failure is not None and not self._closing:
            await self.recover()
        self._require_writable(None)
        waiter = Waiter(None, power=True)
        self._queue.append(Job(job, waiter))
        self._rouse(soon=True)
        result: Result = await waiter.future
        return result

    async def read(self, job: Callable[[Connection], Result]) -> Result:
        """Run a function that only reads, in a worker thread: writers do not wait for it.

        It sees everything that was written before; after a failure, everything until then.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            await self.barrier()
        except StorageError:
            if self._closing or not self._access.is_readable:
                raise
        return await asyncio.to_thread(self._read, job)

    async def recover(self) -> None:
        """Try again to write what could not be written.

        Raises:
            StorageError: it still cannot be.
        """
        self._reopen = True
        self._failure = None
        await self.barrier(power=True)
        self.on_recovered()

    def on_trouble(self, listener: Trouble, run: int | None = None) -> Callable[[], None]:
        """Call `listener` in this event loop when nothing can be written any more.

        With `run` also when that run was taken over elsewhere. Gives a function that ends it.
        """
        return self._listeners.add(listener, run)

    async def aclose(self) -> None:
        """Write what is left, give leases back and end the thread. May be called twice.

        Raises:
            StorageError: something was not written.
        """
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """As `aclose`, blocking; also called when the program ends.

        Raises:
            StorageError: something was not written.
        """
        atexit.unregister(self.close)
        with self._starting:
            self._closing = True
            thread = self._thread
        if thread is None:
            return
        self._signals.put(None)
        thread.join()
        self._thread = None
        writer = self._access.writer
        if self._failure is not None and writer is not None and writer.kept:
            raise self._failure.with_traceback(None)

    def _require_writable(self, run: int | None) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        if self._closing:
            raise StorageClosed
        if self._lost and run in self._lost:
            raise self._lost[run].with_traceback(None)

    def _rouse(self, soon: bool) -> None:
        if soon:
            if not self._hurried:
                self._hurried = True
                self._signals.put(None)
        elif not self._roused:
            self._roused = True
            self._signals.put(None)
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closing:
                # A daemon, so that a program that forgot to close still ends; it is closed then.
                self._thread = threading.Thread(target=self._work, name="storage", daemon=True)
                atexit.register(self.close)
                self._thread.start()

    def _work(self) -> None:
        self._open()
        try:
            while True:
                self._wait()
                closing = self._closing
                self._hurried = self._roused = False
                if self._reopen:
                    self._reopen = False
                    self._access.close()
                    self._open()
                self._renew_leases()
                self._carry_out()
                if closing:
                    self._release_leases()
                    break
        finally:
            self._access.leave()
            self.leases.retire()

    def _wait(self) -> None:
        """Wait until something has to be written, or a heartbeat is due."""
        deadline = None
        while not (self._hurried or self._closing):
            now = time.monotonic()
            if self._roused and deadline is None:
                deadline = now + self._within_s
            timeout = HEARTBEAT_S if self.leases.holds_any else None
            if deadline is not None:
                if now >= deadline:
                    return
                timeout = deadline - now
            try:
                self._signals.get(timeout=timeout)
            except Empty:
                if deadline is None:
                    return

    def _carry_out(self) -> None:
        rows: list[tuple[Kind, Row]] = []
        waiters: list[Waiter] = []
        queue = self._queue
        for _ in range(len(queue)):
            item = queue.popleft()
            if type(item) is tuple:
                rows.append(item)
            elif type(item) is Waiter:
                waiters.append(item)
            elif type(item) is Job:
                self._commit(rows, waiters)
                rows, waiters = [], []
                self._do(item)
            else:
                rows.extend(item.rows())  # type: ignore[union-attr]
        self._commit(rows, waiters)

    def _commit(self, rows: list[tuple[Kind, Row]], waiters: list[Waiter]) -> None:
        writer = self._access.writer
        if self._lost:
            rows = [row for row in rows if row[1][0] not in self._lost]
        try:
            if writer is not None:
                if self._failure is not None:
                    writer.keep(rows)
                else:
                    writer.write(rows, power=any(waiter.power for waiter in waiters))
        except Exception as error:  # noqa: BLE001 - it is told to everyone who waits
            self._fail(error)
        for waiter in waiters:
            waiter.settle(None, self._failure or self._lost.get(waiter.run))

    def _do(self, job: Job) -> None:
        connection, writer = self._access.connection, self._access.writer
        if self._failure is not None or connection is None or writer is None:
            job.waiter.settle(None, self._failure)
            return
        try:
            writer.outlive_power_failure(True)
            with connection.begin():
                result = job.function(connection)
        except UserError as error:
            job.waiter.settle(None, error)
        except Exception as error:  # noqa: BLE001 - it is told to whoever waits
            job.waiter.settle(None, self._explained(error))
        else:
            lost = self._lost
            self._lost = {run: lost[run] for run in lost if not self.leases.holds(run)}
            job.waiter.settle(result)

    def _renew_leases(self) -> None:
        connection = self._access.connection
        if connection is None or self._failure is not None or not self.leases.is_due():
            return
        try:
            with connection.begin():
                lost = self.leases.renew(connection)
        except Exception as error:  # noqa: BLE001 - it is told to everyone who waits
            self._fail(error)
            return
        for run in lost:
            taken = self._lost[run] = LeaseLost(self.leases.forget(run))
            self._listeners.tell(taken, run)

    def _open(self) -> None:
        try:
            self._access.open()
        except Exception as error:  # noqa: BLE001 - it is told to everyone who waits
            self._fail(error)
            if isinstance(self._failure, StorageReadOnly):
                self._open_for_reading()

    def _open_for_reading(self) -> None:
        try:
            self._access.open_for_reading()
        except Exception as error:  # noqa: BLE001 - it is told to everyone who waits
            self._fail(error)

    def _read(self, job: Callable[[Connection], Result]) -> Result:
        try:
            return self._access.read(job)
        except UserError:
            raise
        except Exception as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> StorageError:
        explained = storage_error(error, self.location)
        if isinstance(explained, StorageDamaged):
            explained = damaged(explained, self.location.path)
        return explained

    def _fail(self, error: Exception) -> None:
        failure = self._explained(error)
        failure.__cause__ = error if failure is not error else None
        logger.warning("nothing more is written: %s", failure)
        self._failure = failure
        self._listeners.tell(failure)

    def _release_leases(self) -> None:
        connection = self._access.connection
        if connection is None or not self.leases.holds_any:
            return
        try:
            with connection.begin():
                self.leases.release_all(connection)
        except Exception as error:  # noqa: BLE001 - leases end by themselves
            logger.warning("leases were not given back: %s", error)

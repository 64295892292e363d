"""The database while it is open: to write and read, or where nothing can be written, to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from orchestration.storage.connections import (
    ONLY_READS,
    Location,
    open_engine,
    open_for_reading,
)
from orchestration.storage.migrate import bring_up_to_date, require_up_to_date
from orchestration.storage.users import User
from orchestration.storage.writer import GroupWriter

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

Result = TypeVar("Result")


class Access:
    """Belongs to the storage thread, except `read`. What could not be written outlives `close`."""

    def __init__(
        self, location: Location, wait_for_lock_s: float, migrations: tuple[Path, str]
    ) -> None:
        """Take where it is; for the rest see `Database`."""
        self.is_readable = False
        self.connection: Connection | None = None
        self.writer: GroupWriter | None = None
        self._location = location
        self._wait_for_lock_s = wait_for_lock_s
        self._folder, self._head = migrations
        self._engine: Engine | None = None
        self._user = User(location.path) if location.path is not None else None

    def open(self) -> None:
        """Open it and bring it up to date.

        Raises:
            Exception: the driver's, or a `StorageError`.
        """
        if self._user is not None:
            self._user.come()
        self._engine = open_engine(self._location, self._wait_for_lock_s)
        bring_up_to_date(self._engine, self._location, self._folder, self._head)
        self.connection = self._engine.connect()
        self.writer = GroupWriter(self.connection, self.writer.kept if self.writer else [])
        self.is_readable = True

    def open_for_reading(self) -> None:
        """Open a file that cannot be written to; nothing happens if there is none.

        Raises:
            Exception: the driver's, or a `StorageError`.
        """
        path = self._location.path
        if path is None or not path.is_file():
            return
        self.close()
        self._engine = open_for_reading(path)
        require_up_to_date(self._engine, self._location, self._head)
        self.is_readable = True

    def read(self, job: Callable[[Connection], Result]) -> Result:
        """Run a function that only reads, in any thread.

        Raises:
            Exception: the driver's, or what the function raises.
        """
        assert self._engine is not None
        with (
            self._engine.connect().execution_options(**{ONLY_READS: True}) as connection,
            connection.begin(),
        ):
            return job(connection)

    def close(self) -> None:
        """Have no connection any more."""
        self.is_readable = False
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()
        if self._engine is not None:
            self._engine.dispose()

    def leave(self) -> None:
        """Close it, and be seen there no more."""
        self.close()
        if self._user is not None:
            self._user.leave()

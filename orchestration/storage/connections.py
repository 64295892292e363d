"""Connections to the database of a data folder: SQLite in it, or the server that a team shares."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from orchestration.storage.errors import (
    MissingDriver,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

DATABASE_URL_VARIABLE = "OPENFLOW_DATABASE_URL"
FILE_NAME = "openflow.db"
WAIT_FOR_LOCK_S = 10.0
ONLY_READS = "only_reads"

_POSTGRES_SCHEMES = ("postgresql://", "postgres://")
_FULL_STATES = ("53100", "53200", "53400")
_DAMAGED_STATES = ("XX001", "XX002")
_LOCKED_STATES = ("55P03", "40P01")


class Location(Struct, frozen=True):
    """Where the database is: a file, or the URL of a server. One of the two is set."""

    path: Path | None = None
    url: str = ""

    def __str__(self) -> str:
        if self.path is not None:
            return str(self.path)
        return self.url.rpartition("@")[2] or self.url  # without name and password


def database_location(data_dir: Path, env: Mapping[str, str]) -> Location:
    """The database that the environment names, else the file in the data folder."""
    url = env.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        return Location(data_dir / FILE_NAME)
    for scheme in _POSTGRES_SCHEMES:
        if url.startswith(scheme):
            return Location(url="postgresql+psycopg://" + url[len(scheme) :])
    return Location(url=url)


def open_engine(location: Location, wait_for_lock_s: float = WAIT_FOR_LOCK_S) -> Engine:
    """An engine whose transactions are what they say: begun at once, with schema changes in them.

    A connection with the execution option `only_reads` does not wait for writers.

    Raises:
        StorageError: the driver is missing or the place cannot be used.
    """
    import sqlalchemy as sa

    if location.path is None:
        try:
            return sa.create_engine(location.url, pool_pre_ping=True)
        except (ModuleNotFoundError, sa.exc.NoSuchModuleError) as error:
            raise MissingDriver(
                f"the database {location} needs a driver that is not installed "
                f"({getattr(error, 'name', None) or error}): install psycopg, or take "
                f"{DATABASE_URL_VARIABLE} away to keep runs in a file"
            ) from error
        except sa.exc.ArgumentError as error:
            raise StorageUnavailable(
                f"{DATABASE_URL_VARIABLE} is no address of a database: write it as "
                "postgresql://user:password@host/name"
            ) from error
    try:
        location.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(
            f"the folder of {location} cannot be made ({error.strerror or error}): "
            "choose another data folder with --data-dir"
        ) from error
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(location.path)),
        connect_args={"timeout": wait_for_lock_s},
    )

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        # The driver's own transactions leave schema changes out; ours are begun below.
        connection.isolation_level = None
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get(ONLY_READS)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def open_for_reading(path: Path) -> Engine:
    """An engine for a file that nothing can be written to, nor beside it."""
    import sqlalchemy as sa

    def connect() -> sqlite3.Connection:
        # Where the files beside it cannot be made, nobody else can write either.
        for how in ("mode=ro", "mode=ro&immutable=1"):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{how}", uri=True, check_same_thread=False
            )
            connection.isolation_level = None
            try:
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                connection.close()
                refused = error
            else:
                return connection
        raise refused

    return sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool)


def storage_error(error: BaseException, location: Location) -> StorageError:
    """What a driver's error means for a person."""
    if isinstance(error, StorageError):
        return error
    cause: Any = getattr(error, "orig", None) or error
    place = f"the run database {location}"
    code = getattr(cause, "sqlite_errorcode", None)
    state = getattr(cause, "sqlstate", None) or ""
    primary = code & 0xFF if isinstance(code, int) else None
    if primary == sqlite3.SQLITE_FULL or state in _FULL_STATES:
        return StorageFull(f"{place} cannot grow, since the disk is full: free some space")
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or state in _DAMAGED_STATES:
        return StorageDamaged(f"{place} is damaged ({cause})")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or state in _LOCKED_STATES:
        return StorageBusy(
            f"{place} is locked by another program: close whatever else has it open, then try again"
        )
    if primary in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return StorageReadOnly(
            f"{place} cannot be opened for writing ({cause}): see that its folder is there and can "
            "be written, or choose another data folder with --data-dir"
        )
    if isinstance(error, ValueError):
        return StorageDamaged(f"{place} holds something unreadable ({error})")
    reason = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
    return StorageUnavailable(f"{place} cannot be used ({reason})")

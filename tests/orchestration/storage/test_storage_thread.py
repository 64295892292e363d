"""The storage thread: what it takes, when it is there, and what happens when it cannot be."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from orchestration.storage.connections import Location, database_location
from orchestration.storage.database import Database
from orchestration.storage.errors import (
    MissingDriver,
    StorageBusy,
    StorageClosed,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from orchestration.storage.statements import Kind

WAIT_S = 30.0
BODY = b'{"a":1}'


def with_database(path: Path, body: Callable[[Database], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        database = Database(Location(path), **options)
        try:
            await body(database)
        finally:
            await database.aclose()

    asyncio.run(main())


def turns(path: Path) -> list[tuple[int, int, bytes]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT run, seq, body FROM turns ORDER BY run, seq").fetchall()


async def there_are(count: int, path: Path) -> None:
    """Wait until others see so many rows."""

    def wait() -> None:
        deadline = time.monotonic() + WAIT_S
        while len(turns(path)) != count:
            assert time.monotonic() < deadline, turns(path)
            time.sleep(0.01)

    await asyncio.to_thread(wait)


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    async def body(database: Database) -> None:
        assert threading.active_count() == before

    before = threading.active_count()
    with_database(tmp_path / "sub" / "x.db", body)

    assert not (tmp_path / "sub").exists()


def test_what_was_waited_for_is_there_for_others(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def body(database: Database) -> None:
        for seq in range(1, 501):
            database.write(Kind.TURN, (1, seq, BODY))
        await database.barrier()
        assert turns(path) == [(1, seq, BODY) for seq in range(1, 501)]

    with_database(path, body)


@pytest.mark.parametrize("soon", [False, True])
def test_what_nobody_waits_for_gets_there_by_itself(tmp_path: Path, soon: bool) -> None:
    path = tmp_path / "x.db"

    async def body(database: Database) -> None:
        await database.barrier()
        database.write(Kind.TURN, (1, 1, BODY), soon=soon)
        await there_are(1, path)

    with_database(path, body, within_s=3600.0 if soon else 0.05)


def test_closing_writes_what_is_left_and_then_refuses(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def body(database: Database) -> None:
        database.write(Kind.TURN, (1, 1, BODY))
        await database.aclose()
        await database.aclose()
        assert turns(path) == [(1, 1, BODY)]
        with pytest.raises(StorageClosed):
            database.write(Kind.TURN, (1, 2, BODY))
        with pytest.raises(StorageClosed):
            await database.read(lambda connection: None)

    with_database(path, body, within_s=3600.0)


def test_rows_come_before_the_jobs_that_were_asked_for_after_them(tmp_path: Path) -> None:
    async def body(database: Database) -> None:
        def count(connection: Any) -> int:
            return int(connection.exec_driver_sql("SELECT count(*) FROM turns").scalar())

        database.write(Kind.TURN, (1, 1, BODY))
        first = asyncio.ensure_future(database.run(count))
        await asyncio.sleep(0)
        database.write(Kind.TURN, (1, 2, BODY))
        assert await first == 1
        assert await database.read(count) == 2

    with_database(tmp_path / "x.db", body)


def test_a_job_that_fails_changes_nothing_and_hurts_nobody_else(tmp_path: Path) -> None:
    def fail(connection: Any) -> None:
        connection.exec_driver_sql("DELETE FROM turns")
        connection.exec_driver_sql("SELECT * FROM nowhere")

    async def body(database: Database) -> None:
        database.write(Kind.TURN, (1, 1, BODY))
        with pytest.raises(StorageUnavailable, match="nowhere"):
            await database.run(fail)
        database.write(Kind.TURN, (1, 2, BODY))
        await database.barrier(power=True)

    path = tmp_path / "x.db"
    with_database(path, body)
    assert len(turns(path)) == 2


def test_whoever_stopped_waiting_keeps_nobody_else_from_it(tmp_path: Path) -> None:
    async def body(database: Database) -> None:
        gone = database.barrier()
        gone.cancel()
        await database.barrier()
        assert gone.cancelled()

    with_database(tmp_path / "x.db", body)


def test_a_full_disk_is_told_to_everyone_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    told: list[StorageError] = []
    large = b"{" + b" " * 1900 + b"}"

    async def body(database: Database) -> None:
        pages = await database.run(
            lambda c: int(c.exec_driver_sql("PRAGMA page_count").scalar_one())
        )
        await database.run(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count={pages}").all())
        end = database.on_trouble(told.append)
        for seq in range(1, 101):
            database.write(Kind.TURN, (1, seq, large))
        with pytest.raises(StorageFull, match="the disk is full: free some space"):
            await database.barrier()
        with pytest.raises(StorageFull):
            database.write(Kind.TURN, (1, 101, large))
        assert await database.read(lambda c: c.exec_driver_sql("SELECT 1").scalar_one()) == 1
        assert [type(error) for error in told] == [StorageFull]
        assert turns(path) == []

        end()
        await database.recover()  # on a new connection, which has room again
        assert [seq for _, seq, _ in turns(path)] == list(range(1, 101))
        database.write(Kind.TURN, (1, 101, large))
        await database.barrier()

    with_database(path, body)
    assert len(turns(path)) == 101
    assert len(told) == 1


def test_closing_says_that_something_could_not_be_written(tmp_path: Path) -> None:
    async def main() -> None:
        database = Database(Location(tmp_path / "x.db"))
        await database.run(lambda c: c.exec_driver_sql("PRAGMA max_page_count=1").all())
        for seq in range(1, 101):
            database.write(Kind.TURN, (1, seq, b"{" + b" " * 1900 + b"}"))
        with pytest.raises(StorageFull):
            await database.aclose()

    asyncio.run(main())


def test_a_database_that_stays_locked_is_given_up_and_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def body(database: Database) -> None:
        await database.barrier()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            database.write(Kind.TURN, (1, 1, BODY))
            with pytest.raises(StorageBusy, match="locked by another program"):
                await database.barrier()
            other.execute("ROLLBACK")
        await database.recover()

    with_database(path, body, wait_for_lock_s=0.05)
    assert turns(path) == [(1, 1, BODY)]


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "x.db"

    async def body(database: Database) -> None:
        await database.barrier()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            sql = "SELECT count(*) FROM runs"
            assert await database.read(lambda c: c.exec_driver_sql(sql).scalar()) == 0

    with_database(path, body)


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def body(database: Database) -> None:
        with pytest.raises(StorageUnavailable, match="choose another data folder"):
            await database.barrier()
        with pytest.raises(StorageUnavailable):
            database.write(Kind.TURN, (1, 1, BODY))

    with_database(tmp_path / "file" / "x.db", body)


def test_something_else_under_the_name_of_the_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"these are somebody's notes, and no database at all" * 100)

    async def body(database: Database) -> None:
        with pytest.raises(StorageError, match=r"is damaged .*no copy of it was made so far"):
            await database.barrier()

    with_database(path, body)
    assert path.read_bytes().startswith(b"these are somebody's notes")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", Location(Path("data/openflow.db"))),
        (
            "postgres://me:secret@host/runs",
            Location(url="postgresql+psycopg://me:secret@host/runs"),
        ),
        ("postgresql://host/runs", Location(url="postgresql+psycopg://host/runs")),
        ("postgresql+pg8000://host/runs", Location(url="postgresql+pg8000://host/runs")),
    ],
)
def test_the_environment_may_name_another_database(url: str, expected: Location) -> None:
    location = database_location(Path("data"), {"OPENFLOW_DATABASE_URL": url})

    assert location == expected
    assert "secret" not in str(location)


@pytest.mark.parametrize(
    ("url", "kind", "said"),
    [
        ("nonsense", StorageUnavailable, "is no address of a database"),
        ("postgresql+nobody://host/runs", MissingDriver, "needs a driver that is not installed"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained(
    url: str, kind: type[StorageError], said: str
) -> None:
    async def main() -> None:
        database = Database(Location(url=url))
        try:
            with pytest.raises(kind, match=said):
                await database.barrier()
        finally:
            await database.aclose()

    asyncio.run(main())

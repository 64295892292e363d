"""A damaged file: said clearly, with the latest good copy, which can take its place."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.vocabulary.inputs import TimerFired
from orchestration.storage.backups import (
    DUE_AFTER_S,
    backup_file,
    backup_is_due,
    copy_of,
    latest_good,
    restore,
)
from orchestration.storage.errors import StorageBusy, StorageDamaged, StorageUnavailable
from orchestration.storage.run_store import RunStore
from tests.support.engine_driver import workflow
from tests.support.storage_rig import opening_of, stored_runs

FLOW = workflow(nodes=["a"])
PAGE = 4096


async def add(store: RunStore, run_id: str) -> None:
    opened = await store.open_run(opening_of(FLOW, run_id), is_reading=lambda call: True)
    for number in range(200):
        opened.journal.input(TimerFired("a" * 500, float(number)))
    await store.release(opened.number)


def filled(folder: Path) -> None:
    """A database with one run that was copied, and one that came later."""

    async def main() -> None:
        async with stored_runs(folder) as store:
            await add(store, "first")
            assert await store.back_up_if_due() == backup_file(folder / "openflow.db")
            assert await store.back_up_if_due() is None
            await add(store, "second")

    asyncio.run(main())


def overwrite(path: Path, first_page: int, pages: int) -> None:
    with path.open("rb+") as file:
        file.seek(first_page * PAGE)
        file.write(b"\xa5" * PAGE * pages)


def pages_of(path: Path, table: str) -> list[int]:
    """Numbers, from 0, of the pages that hold a table's rows."""
    with closing(sqlite3.connect(path)) as database:
        (root,) = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    return [root - 1]


@pytest.mark.parametrize("table", ["turns", "runs", "sqlite_autoindex_turns_1", "alembic_version"])
def test_a_damaged_page_is_told_with_the_copy_that_there_is(tmp_path: Path, table: str) -> None:
    filled(tmp_path)
    path = tmp_path / "openflow.db"
    for page in pages_of(path, table):
        overwrite(path, page, 1)

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            said = r"is damaged .*the latest good copy is of"
            with pytest.raises(StorageDamaged, match=said) as told:
                await store.load("first")
            assert told.value.backup == backup_file(path)

    asyncio.run(main())


def test_the_latest_good_copy_takes_the_place_of_a_damaged_file(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "openflow.db"
    overwrite(path, 0, 3)
    damaged = path.read_bytes()

    aside = restore(path)

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            assert [run.run_id for run in await store.list_runs()] == ["first"]
            assert len((await store.load("first")).inputs) == 200
            await add(store, "third")

    asyncio.run(main())
    assert aside.read_bytes() == damaged
    assert backup_file(path).exists()


def test_a_database_that_a_program_has_open_is_not_taken_away(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "openflow.db"
    before = path.read_bytes()

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            await store.list_runs()
            with pytest.raises(StorageBusy, match=f"process {os.getpid()} has .* open: close"):
                restore(path)
            assert path.read_bytes() == before

    asyncio.run(main())
    left = tmp_path / "openflow.db.users" / "1-of-a-killed-program.lock"
    left.write_bytes(b"1")
    restore(path)
    assert not left.exists()


def test_a_damaged_file_is_not_copied_over_a_good_copy(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "openflow.db"
    good = backup_file(path).read_bytes()
    (page,) = pages_of(path, "turns")
    overwrite(path, page, 1)

    with pytest.raises(StorageDamaged):
        copy_of(path, backup_file(path))

    assert backup_file(path).read_bytes() == good
    assert not list(tmp_path.glob("*.new-*"))


def test_a_copy_is_due_once_a_day(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / "openflow.db"
    made = backup_file(path).stat().st_mtime

    assert not backup_is_due(path, made + 60.0)
    assert backup_is_due(path, made + DUE_AFTER_S + 1.0)


def test_the_newest_copy_is_the_one_that_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    assert latest_good(path) is None
    with pytest.raises(StorageUnavailable, match="there is no copy"):
        restore(path)
    for name, at in (("x.db.backup", 100), ("x.db.before-0002", 200), ("x.db.before-0001", 50)):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (at, at))

    assert latest_good(path) == tmp_path / "x.db.before-0002"


def test_a_folder_that_cannot_be_written_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "openflow.db").mkdir()  # what no account can open as a file

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            with pytest.raises(StorageUnavailable, match="can be written, or choose another"):
                await store.list_runs()

    asyncio.run(main())

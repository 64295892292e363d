"""Databases of other versions: older ones are brought up to date, newer ones are left alone."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.inputs import Started
from orchestration.storage.connections import Location, open_engine
from orchestration.storage.database import Database
from orchestration.storage.errors import NewerDatabase, StorageError, StorageUnavailable
from orchestration.storage.migrate import FOLDER, bring_up_to_date
from orchestration.storage.rebuilding import view_of, workflow_of
from orchestration.storage.schema import HEAD, tables
from orchestration.storage.statements import Kind
from tests.support.storage_rig import stored_runs

DUMP = Path(__file__).with_name("version_1.sql")

SECOND = """
revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    from alembic import op
    import sqlalchemy as sa

    op.add_column("runs", sa.Column("mood", sa.Text, nullable=False, server_default="good"))
    {then}
"""


def made_of_dump(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(DUMP.read_text(encoding="utf-8"))


def with_second_version(folder: Path, then: str = "") -> tuple[Path, str]:
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "v0002_moods.py").write_text(SECOND.format(then=then))
    return folder, "0002"


def opened(path: Path, **options: Any) -> None:
    async def main() -> None:
        database = Database(Location(path), **options)
        try:
            await database.barrier()
        finally:
            await database.aclose()

    asyncio.run(main())


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchall()


def test_the_tables_are_those_that_the_versions_lead_to(tmp_path: Path) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    location = Location(tmp_path / "x.db")
    engine = open_engine(location)
    bring_up_to_date(engine, location)
    with engine.begin() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, tables().metadata) == []
        assert context.get_current_revision() == HEAD
    engine.dispose()


def test_the_newest_version_is_the_one_that_is_read_and_written() -> None:
    from alembic.script import ScriptDirectory

    assert ScriptDirectory(str(FOLDER)).get_current_head() == HEAD


def test_a_run_of_the_first_version_can_be_read(tmp_path: Path) -> None:
    made_of_dump(tmp_path / "openflow.db")

    async def main() -> None:
        async with stored_runs(tmp_path) as store:
            (summary,) = await store.list_runs()
            run = await store.load(summary.run_id)
            view = view_of(run, workflow_of(run), await store.events(summary.run_id))
            assert summary.name == "Tell me about rivers"
            assert isinstance(run.inputs[0], Started)
            assert view.status is summary.status
            assert view.outputs == {"a": {"summary": "ok"}}
            assert [call.tool_name for call in view.tool_calls["a"].values()] == ["read", "write"]

    asyncio.run(main())


def test_an_older_database_is_changed_after_a_copy_was_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "openflow.db"
    made_of_dump(path)

    opened(path, migrations=with_second_version(tmp_path / "versions"))

    assert rows(path, "SELECT id, mood FROM runs") == [("run", "good")]
    assert rows(path, "SELECT version_num FROM alembic_version") == [("0002",)]
    copy = tmp_path / "openflow.db.before-0002"
    assert rows(copy, "SELECT version_num FROM alembic_version") == [("0001",)]
    assert rows(copy, "SELECT count(*) FROM turns") == rows(path, "SELECT count(*) FROM turns")


def test_a_change_that_fails_midway_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "openflow.db"
    made_of_dump(path)
    folder = with_second_version(
        tmp_path / "versions", 'op.execute("INSERT INTO nowhere VALUES (1)")'
    )

    with pytest.raises(StorageUnavailable, match="nowhere"):
        opened(path, migrations=folder)

    assert "mood" not in str(rows(path, "SELECT sql FROM sqlite_master"))
    assert rows(path, "SELECT version_num FROM alembic_version") == [("0001",)]
    opened(path)


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "openflow.db"
    opened(path, migrations=with_second_version(tmp_path / "versions"))
    before = path.read_bytes()

    async def main() -> None:
        database = Database(Location(path))
        try:
            with pytest.raises(NewerDatabase, match=r"newer version of OpenFlow.*update OpenFlow"):
                await database.barrier()
            with pytest.raises(StorageError):
                database.write(Kind.TURN, (1, 1, b"{}"))
        finally:
            await database.aclose()

    asyncio.run(main())
    assert path.read_bytes() == before


def test_a_folder_with_odd_signs_in_its_name_is_as_good_as_any(tmp_path: Path) -> None:
    folder = tmp_path / "50% off; a:b"
    migrations = with_second_version(folder / "versions")

    opened(folder / "x.db", migrations=migrations)

    assert rows(folder / "x.db", "SELECT version_num FROM alembic_version") == [("0002",)]


def test_two_that_open_a_new_database_at_once_agree(tmp_path: Path) -> None:
    async def main() -> None:
        databases = [Database(Location(tmp_path / "x.db")) for _ in range(4)]
        try:
            await asyncio.gather(*(database.barrier() for database in databases))
        finally:
            for database in databases:
                await database.aclose()

    asyncio.run(main())
    assert rows(tmp_path / "x.db", "SELECT version_num FROM alembic_version") == [(HEAD,)]

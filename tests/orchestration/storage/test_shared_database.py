"""Runs on a server that a team shares.

Where no server can be had, and the test's name says why, the statements are held against what such
a server understands: they are compiled for it as they would be sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import Started
from engine.vocabulary.tools import ToolCall
from orchestration.runs.stored import RunQuery
from orchestration.storage.connections import Location, database_location
from orchestration.storage.database import Database
from orchestration.storage.errors import RunIsDriven, StorageUnavailable
from orchestration.storage.rebuilding import rebuilt_engine, workflow_of
from orchestration.storage.run_store import RunStore
from orchestration.storage.schema import tables
from orchestration.storage.statements import Kind, compiled_statements
from tests.support.engine_driver import workflow
from tests.support.postgres_server import postgres_server, why_there_is_none
from tests.support.scripted_model import OK, use
from tests.support.storage_rig import StoredRig, opening_of

WHY_NONE = why_there_is_none()
FLOW = workflow(nodes=["a"])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server, or nothing where none can be had."""
    if WHY_NONE:
        yield ""
    else:
        with postgres_server() as url:
            yield url


def location(url: str) -> Location:
    return database_location(Path("unused"), {"OPENFLOW_DATABASE_URL": url})


def check_the_statements() -> None:
    """Without a server: what would be sent is what PostgreSQL understands."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    texts = {kind: each.text for kind, each in compiled_statements(dialect).items()}
    assert set(texts) == set(Kind)
    assert all("?" not in text and "%(run)s" in text for text in texts.values())
    assert "ON CONFLICT (run, node_id) DO UPDATE" in texts[Kind.NODE]
    assert "coalesce(excluded.started, nodes.started)" in texts[Kind.NODE]
    assert texts[Kind.PROGRESS].startswith("UPDATE runs SET status=")
    row = compiled_statements(dialect)[Kind.TURN].bind((1, 2, b"{}"))
    assert row == {"run": 1, "seq": 2, "body": b"{}"}
    made = {
        table.name: str(CreateTable(table).compile(dialect=dialect))
        for table in tables().metadata.sorted_tables
    }
    assert "number BIGSERIAL NOT NULL" in made["runs"]
    assert "body BYTEA NOT NULL" in made["turns"]
    assert "PRIMARY KEY (run, seq)" in made["turns"]
    assert "started DOUBLE PRECISION" in made["runs"]
    limited = sa.select(tables().runs.c.id).limit(5).offset(2)
    assert "LIMIT" in str(limited.compile(dialect=dialect))


def where(what: str) -> pytest.MarkDecorator:
    name = "a server" if not WHY_NONE else f"no server: {WHY_NONE}"
    return pytest.mark.parametrize("place", [pytest.param(what, id=name)])


@where("runs")
def test_a_run_is_kept_listed_rebuilt_handed_on_and_deleted(
    server: str, place: str, tmp_path: Path
) -> None:
    if not server:
        check_the_statements()
        return

    async def main() -> None:
        database = Database(location(server))
        store = RunStore(database, tmp_path / place)
        try:
            script = {
                "a": [use(("read", {"path": "f"}), ("write", {"path": "g", "content": "h"})), OK]
            }
            rig = StoredRig(store, FLOW, script, tmp_path / "cwd", text="Gehe über 100%")
            (rig.folder / "f").write_text("text" * 2000)
            outcome: Any = await rig.start()
            await rig.run.decide(outcome.approvals[0].approval_id, True)
            await rig.run.settled()
            await rig.run.stop()
            await store.release(rig.number)

            run = await store.load("run")
            assert rebuilt_engine(run, workflow_of(run), rig.catalog).is_over
            assert [node.status for node in await store.nodes("run")] == ["completed"]
            for text, found in (("ÜBER 100%", 1), ("_", 0)):
                assert len(await store.list_runs(RunQuery(text, limit=5))) == found
            await store.rename("run", "Another")
            await store.export_run("run", tmp_path / "file", [])
            assert await store.import_run(tmp_path / "file", "copy") == "copy"
            assert (await store.load("copy")).inputs == run.inputs
            assert set(await store.sizes()) == {"run", "copy"}
            assert await store.back_up_if_due() is None
            assert sorted(await store.prune(most_bytes=0)) == ["copy", "run"]
            assert await store.list_runs() == []
        finally:
            await database.aclose()

    asyncio.run(main())


@where("leases")
def test_members_of_a_team_do_not_drive_the_same_run(
    server: str, place: str, tmp_path: Path
) -> None:
    if not server:
        check_the_statements()
        return

    async def main() -> None:
        async with AsyncExitStack() as stack:
            stores = []
            for _ in range(2):
                database = Database(location(server))
                stack.push_async_callback(database.aclose)
                stores.append(RunStore(database, tmp_path / place))
            one, other = stores
            opening = opening_of(FLOW, "shared")
            opened = await one.open_run(opening, is_reading=lambda call: False)
            opened.journal.input(Started(1.0))
            await opened.journal.intent("a", AdmittedCall(ToolCall("c", "write", {}), "d"))
            with pytest.raises(RunIsDriven):
                await other.resume_run("shared", is_reading=lambda call: False)
            await one.database.barrier(power=True)
            await one.release(opened.number)
            resumed = await other.resume_run("shared", is_reading=lambda call: False)
            assert resumed.recorded.inputs == (Started(1.0),)
            assert len(resumed.recorded.open_calls) == 1

    asyncio.run(main())


@where("nowhere")
def test_a_server_that_is_not_there_is_said(server: str, place: str, tmp_path: Path) -> None:
    if not server:
        check_the_statements()
        return

    async def main() -> None:
        url = f"postgresql://nobody@/{place}?host={tmp_path}"
        database = Database(location(url))
        try:
            with pytest.raises(StorageUnavailable, match="cannot be used"):
                await database.barrier()
        finally:
            await database.aclose()

    asyncio.run(main())

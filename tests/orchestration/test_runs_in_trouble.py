"""Runs whose facts cannot be kept: they end with a clear error, and go on from what was kept."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.messages import ResultItem
from engine.vocabulary.recovery import UncertainChoice
from engine.vocabulary.report import NeedsInteraction, RunCompleted, RunFailed
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from orchestration.storage import access, connections
from orchestration.storage.backups import backup_file, restore
from orchestration.storage.errors import StorageDamaged, StorageFull
from tests.support.engine_driver import workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Scripted, summary, use

FLOW = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "yolo"}})
TURNS = 30
EMPTY_PAGES = 40
"""More than a database without runs has."""
PAGE = 4096


def writing(request: AgentRequest) -> Scripted:
    """Write one file a turn, with a text that no compression makes small."""
    done = sum(isinstance(item, ResultItem) for item in request.transcript)
    if done == TURNS:
        return summary("all written")
    return use(("write", {"path": f"{done:02}", "content": os.urandom(3000).hex()}))


class Disk:
    """How many pages the database may have; counts for connections that are opened from then on."""

    most: int | None = None


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    import sqlalchemy as sa

    disk, open_engine = Disk(), connections.open_engine

    def opened(*args: Any) -> Any:
        engine = open_engine(*args)

        @sa.event.listens_for(engine, "connect")
        def limit(connection: sqlite3.Connection, _record: object) -> None:
            if disk.most is not None:
                connection.execute(f"PRAGMA max_page_count={disk.most}")

        return engine

    monkeypatch.setattr(access, "open_engine", opened)
    return disk


async def seen_through(backend: Backend, run_id: str) -> None:
    """The run completes once every call of unknown end is made again."""
    outcome = await backend.settled(run_id)
    while isinstance(outcome, NeedsInteraction):
        for call in outcome.uncertain:
            await backend.settle_uncertain(run_id, call.call_id, UncertainChoice.REDO)
        outcome = await backend.settled(run_id)
    assert isinstance(outcome, RunCompleted), outcome


def written(data_dir: Path) -> list[str]:
    return sorted(path.name for path in (data_dir / "written").iterdir())


async def run_into_the_end(backend: Backend) -> str:
    """A run that the disk was too small for."""
    run_id = await backend.start_run(request_of(FLOW))
    outcome = await backend.settled(run_id)
    assert isinstance(outcome, RunFailed), outcome
    assert "the disk is full: free some space" in outcome.message
    assert backend.view(run_id).last_error == outcome.message
    return run_id


@pytest.mark.parametrize("pages", [5, 30, 70])
def test_a_full_disk_ends_a_run_that_goes_on_when_there_is_room(
    data_dir: Path, disk: Disk, pages: int
) -> None:
    async def body() -> None:
        disk.most = EMPTY_PAGES + pages
        backend = scripted_backend(writing, data_dir)
        run_id = await run_into_the_end(backend)
        before = written(data_dir)
        assert len(before) < TURNS
        with pytest.raises(StorageFull):
            await backend.start_run(request_of(FLOW))

        disk.most = None
        assert await backend.resume_run(run_id) == run_id
        await seen_through(backend, run_id)
        assert written(data_dir) == [f"{number:02}" for number in range(TURNS)]
        await backend.aclose()

    run_async(body)


def test_another_program_takes_up_what_a_full_disk_ended(data_dir: Path, disk: Disk) -> None:
    async def body() -> None:
        disk.most = EMPTY_PAGES + 30
        first = scripted_backend(writing, data_dir)
        run_id = await run_into_the_end(first)
        with pytest.raises(StorageFull):
            await first.aclose()

        disk.most = None
        second = scripted_backend(writing, data_dir)
        (stored,) = await second.runs()
        assert stored.run_id == run_id
        await second.resume_run(run_id)
        await seen_through(second, run_id)
        await second.aclose()

    run_async(body)


def test_a_damaged_page_is_told_and_the_last_good_state_goes_on(data_dir: Path) -> None:
    database = data_dir / "openflow.db"

    async def body() -> None:
        backend = scripted_backend(writing, data_dir)
        run_id = await backend.start_run(request_of(FLOW, "kept"))
        assert isinstance(await backend.settled(run_id), RunCompleted)
        await backend.aclose()
        assert backup_file(database).exists()
        with closing(sqlite3.connect(database)) as connection:
            (root,) = connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
            ).fetchone()
        with database.open("rb+") as file:
            file.seek((root - 1) * PAGE)
            file.write(b"\xa5" * PAGE)

        broken = scripted_backend(writing, data_dir)
        with pytest.raises(StorageDamaged, match="the latest good copy is of") as told:
            await broken.runs()
        assert told.value.backup == backup_file(database)
        await broken.aclose()

        restore(database)
        again = scripted_backend(writing, data_dir)
        assert all(run.run_id == run_id for run in await again.runs())
        other = await again.start_run(request_of(FLOW, "after"))
        assert isinstance(await again.settled(other), RunCompleted)
        await again.aclose()

    run_async(body)

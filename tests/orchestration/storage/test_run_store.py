"""Lists of runs, and what can be done to a run as a whole."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import TimerFired
from engine.vocabulary.tools import ToolCall
from orchestration.errors import RunStillActive
from orchestration.runs.stored import EVERY_RUN, RunQuery
from orchestration.runs.view_values import RunStatus
from orchestration.storage import run_upkeep
from orchestration.storage.errors import RunNotStored, StorageFull, StorageUnavailable
from orchestration.storage.run_store import RunStore
from orchestration.storage.statements import Kind
from tests.support.engine_driver import workflow
from tests.support.storage_rig import opening_of, stored_runs

FLOW = workflow(nodes=["a"])
DAY_S = 86400.0
NOW = 100 * DAY_S


def with_store(folder: Path, body: Callable[[RunStore], Awaitable[None]]) -> None:
    async def main() -> None:
        async with stored_runs(folder, clock=lambda: NOW) as store:
            await body(RunStore(store.database, folder / "runs", lambda: NOW))

    asyncio.run(main())


async def add(
    store: RunStore,
    run_id: str,
    status: RunStatus = RunStatus.COMPLETED,
    *,
    at: float = 0.0,
    released: bool = True,
    facts: int = 0,
    **opening: Any,
) -> int:
    """A run that stands like this since `at`."""
    opened = await store.open_run(
        msgspec.structs.replace(opening_of(FLOW, run_id, started=at), **opening),
        is_reading=lambda call: True,
    )
    for number in range(facts):
        opened.journal.input(TimerFired("a", float(number)))
        call = ToolCall(f"{number}", "read", {"path": "p"})
        await opened.journal.intent("a", AdmittedCall(call, "digest"))
    store.database.write(Kind.PROGRESS, (opened.number, status.value, at, None, None))
    if released:
        await store.release(opened.number)
    return opened.number


async def ids(store: RunStore, wanted: RunQuery = EVERY_RUN) -> list[str]:
    return [run.run_id for run in await store.list_runs(wanted)]


def test_the_latest_change_comes_first(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        for run_id, at in (("one", 5.0), ("two", 9.0), ("three", 7.0)):
            await add(store, run_id, at=at)
        assert await ids(store) == ["two", "three", "one"]
        assert await ids(store, RunQuery(limit=1, offset=1)) == ["three"]

    with_store(tmp_path, body)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RunQuery("RIVERS"), ["r"]),
        (RunQuery("grüße"), ["g"]),
        (RunQuery("100%"), ["p"]),
        (RunQuery("a_b"), ["u"]),
        (RunQuery("Test"), ["u", "p", "g", "r"]),
        (RunQuery("nothing of it"), []),
        (RunQuery(workflow_id="wf"), ["u", "p", "g", "r"]),
        (RunQuery(workflow_id="other"), []),
        (RunQuery(statuses=frozenset({RunStatus.FAILED, RunStatus.PAUSED})), ["p", "g"]),
        (RunQuery(changed_from=2.0, changed_before=4.0), ["p", "g"]),
    ],
)
def test_runs_are_found(tmp_path: Path, wanted: RunQuery, expected: list[str]) -> None:
    async def body(store: RunStore) -> None:
        await add(store, "r", at=1.0, name="Tell me about rivers")
        await add(store, "g", RunStatus.FAILED, at=2.0, name="GRÜSSE UND GRÜßE")
        await add(store, "p", RunStatus.PAUSED, at=3.0, name="all 100% of it, axb")
        await add(store, "u", at=4.0, name="1000 a_b")
        assert await ids(store, wanted) == expected

    with_store(tmp_path, body)


def test_a_renamed_run_is_found_under_its_new_name_and_its_text(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        opening = opening_of(FLOW, text="Compare the two drafts")
        opened = await store.open_run(opening, is_reading=lambda call: True)
        await store.rename("run", "Drafts, second try")
        for text, expected in (("second try", ["run"]), ("compare the", ["run"]), ("third", [])):
            assert await ids(store, RunQuery(text)) == expected
        assert (await store.load("run")).opening.name == "Drafts, second try"
        await store.release(opened.number)

    with_store(tmp_path, body)


def test_a_run_whose_process_is_gone_is_told_from_one_that_is_on(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await add(store, "on", RunStatus.RUNNING, released=False)
        await add(store, "cut", RunStatus.RUNNING)
        await add(store, "waits", RunStatus.PAUSED)
        await add(store, "done")
        runs = {run.run_id: run for run in await store.list_runs()}
        assert runs["on"].driven_by == f"process {os.getpid()}"
        found = {run_id: (run.was_cut_off, run.can_resume) for run_id, run in runs.items()}
        assert found == {
            "on": (False, False),
            "cut": (True, True),
            "waits": (False, True),
            "done": (False, False),
        }

    with_store(tmp_path, body)


def test_a_deleted_run_is_gone_with_all_that_was_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "runs"

    async def body(store: RunStore) -> None:
        for run_id in ("one", "two"):
            await add(store, run_id, facts=3)
            (folder / run_id / "artifacts").mkdir(parents=True)
            (folder / run_id / "artifacts" / "x").write_text("x")
        await store.delete("one")
        assert await ids(store) == ["two"]
        assert [path.name for path in folder.iterdir()] == ["two"]
        with pytest.raises(RunNotStored):
            await store.load("one")
        # The two share a workflow, which goes with the last of them.
        assert (await store.load("two")).inputs == tuple(
            TimerFired("a", float(n)) for n in range(3)
        )
        await store.delete("two")

        def left(connection: Any) -> dict[str, int]:
            names = ("recordings", "workflows", "nodes", "turns", "calls", "events", "leases")
            return {
                name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar()
                for name in names
            }

        assert set((await store.database.read(left)).values()) == {0}

    with_store(tmp_path, body)


def test_a_run_that_is_on_cannot_be_deleted(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await add(store, "on", RunStatus.RUNNING, released=False)
        with pytest.raises(RunStillActive):
            await store.delete("on")
        assert await ids(store) == ["on"]

    with_store(tmp_path, body)


def test_a_folder_that_cannot_be_deleted_keeps_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    async def body(store: RunStore) -> None:
        await add(store, "one")
        (tmp_path / "runs" / "one").mkdir(parents=True)
        with monkeypatch.context() as patch:
            patch.setattr("os.rename", refuse)
            with pytest.raises(StorageUnavailable, match="one cannot be deleted"):
                await store.delete("one")
        assert await ids(store) == ["one"]
        assert (tmp_path / "runs" / "one").is_dir()

    with_store(tmp_path, body)


def test_what_could_not_be_removed_goes_with_the_next_pruning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs"

    def refuse(path: Path) -> None:
        raise OSError(39, "Directory not empty")

    async def body(store: RunStore) -> None:
        await add(store, "one")
        (folder / "one").mkdir(parents=True)
        with monkeypatch.context() as patch:
            patch.setattr("shutil.rmtree", refuse)
            await store.delete("one")
        assert [path.name[:8] for path in folder.iterdir()] == [".delete-"]
        assert await store.prune() == []
        assert list(folder.iterdir()) == []

    with_store(tmp_path, body)


def test_pruning_by_age_spares_what_has_not_ended(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        old, new = NOW - 40 * DAY_S, NOW - DAY_S
        for status in RunStatus:
            await add(store, f"old {status}", status, at=old)
        await add(store, "new", at=new)
        await add(store, "old but on", released=False, at=old)
        deleted = await store.prune(older_than_s=30 * DAY_S)
        assert sorted(deleted) == ["old completed", "old failed", "old stopped"]
        assert set(await ids(store)) == {"new", "old but on", "old paused", "old running"}

    with_store(tmp_path, body)


def test_pruning_by_size_takes_the_oldest_first(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        for at, run_id in enumerate(("oldest", "older", "newest")):
            await add(store, run_id, at=float(at), facts=5)
            (tmp_path / "runs" / run_id).mkdir(parents=True)
            (tmp_path / "runs" / run_id / "artifact").write_bytes(b"x" * 10_000)
        sizes = await store.sizes()
        assert all(10_000 < size < 12_000 for size in sizes.values())
        assert await store.prune(most_bytes=25_000) == ["oldest"]
        assert await store.prune(most_bytes=25_000) == []
        assert await ids(store) == ["newest", "older"]

    with_store(tmp_path, body)


def test_a_run_that_cannot_be_deleted_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(connection: object, run_id: str) -> None:
        raise StorageFull("the disk is full")

    async def body(store: RunStore) -> None:
        await add(store, "one")
        artifact = tmp_path / "runs" / "one" / "artifact"
        artifact.parent.mkdir(parents=True)
        artifact.write_bytes(b"kept")
        monkeypatch.setattr(run_upkeep, "delete_run", refuse)
        with pytest.raises(StorageFull):
            await store.delete("one")
        assert artifact.read_bytes() == b"kept"

    with_store(tmp_path, body)


def test_space_of_deleted_runs_is_given_back(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        number = await add(store, "large", released=False)
        for seq in range(1, 501):
            store.database.write(Kind.TURN, (number, seq, b"{" + b" " * 1900 + b"}"))
        await store.release(number)

        def pages(connection: Any) -> int:
            return int(connection.exec_driver_sql("PRAGMA page_count").scalar())

        before = await store.database.read(pages)
        await store.delete("large")
        assert await store.database.read(pages) < before / 4

    with_store(tmp_path, body)

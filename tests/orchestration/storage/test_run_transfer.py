"""A run as one file: all of it, nothing that is secret, and nothing taken in that is no run."""

from __future__ import annotations

import asyncio
import base64
import json
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from engine.vocabulary.inputs import HumanAnswered
from orchestration.storage.errors import (
    HoldsSecret,
    RunAlreadyStored,
    StorageUnavailable,
    UnreadableRun,
)
from orchestration.storage.rebuilding import rebuilt_engine, workflow_of
from orchestration.storage.run_store import RunStore
from orchestration.storage.secret_scan import SecretScanner
from tests.support.engine_driver import workflow
from tests.support.scripted_model import OK, use
from tests.support.storage_rig import StoredRig, opening_of, stored_runs

FLOW = workflow(nodes=["a"])
KEY = 'sk-live/"1234567890+abc'


def with_store(folder: Path, body: Callable[[RunStore], Awaitable[None]]) -> None:
    async def main() -> None:
        async with stored_runs(folder) as store:
            await body(store)

    asyncio.run(main())


async def whole_run(store: RunStore, folder: Path) -> StoredRig:
    script = {"a": [use(("read", {"path": "f"}), ("write", {"path": "g", "content": "h"})), OK]}
    rig = StoredRig(store, FLOW, script, folder / "cwd", text="Go")
    (rig.folder / "f").write_text("text")
    outcome: Any = await rig.start()
    await rig.run.decide(outcome.approvals[0].approval_id, True)
    await rig.run.settled()
    await rig.run.stop()
    await store.release(rig.number)
    return rig


def said(store: RunStore, text: str) -> Awaitable[None]:
    """A run in which a person said this."""

    async def add() -> None:
        opened = await store.open_run(opening_of(FLOW), is_reading=lambda call: True)
        opened.journal.input(HumanAnswered("a", text, 1.0))
        await store.release(opened.number)

    return add()


def test_a_run_arrives_as_it_was_sent(tmp_path: Path) -> None:
    file = tmp_path / "run.openflow"
    sent: list[Any] = []

    async def send(store: RunStore) -> None:
        rig = await whole_run(store, tmp_path)
        artifact = tmp_path / "here" / "runs" / "run" / "artifacts" / "a.txt"
        artifact.parent.mkdir(parents=True)
        artifact.write_text("kept")
        await store.export_run("run", file, [KEY])
        run = await store.load("run")
        engine = rebuilt_engine(run, workflow_of(run), rig.catalog)
        sent.extend((run, await store.events("run"), await store.nodes("run"), engine.checkpoint()))
        sent.append(rig.catalog)

    async def take_in(store: RunStore) -> None:
        assert await store.import_run(file) == "run"
        run, events, nodes, checkpoint, catalog = sent
        arrived = await store.load("run")
        assert msgspec.structs.replace(arrived, number=run.number) == run
        assert await store.events("run") == events
        assert await store.nodes("run") == nodes
        again = rebuilt_engine(arrived, workflow_of(arrived), catalog)
        assert again.checkpoint() == checkpoint
        folder = tmp_path / "there" / "runs"
        assert (folder / "run" / "artifacts" / "a.txt").read_text() == "kept"
        with pytest.raises(RunAlreadyStored):
            await store.import_run(file)
        assert await store.import_run(file, "copy") == "copy"
        assert sorted(path.name for path in folder.iterdir()) == ["copy", "run"]

    with_store(tmp_path / "here", send)
    with_store(tmp_path / "there", take_in)


def test_what_is_in_the_file_can_be_read_by_a_person(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await said(store, "x" * 5000)
        await store.export_run("run", tmp_path / "file", [])

    with_store(tmp_path, body)
    with zipfile.ZipFile(tmp_path / "file") as archive:
        (line,) = archive.read("turns.jsonl").splitlines()
        assert json.loads(line)["body"]["text"] == "x" * 5000
        assert json.loads(archive.read("workflow.json"))["id"] == "wf"


@pytest.mark.parametrize(
    "hidden",
    [
        KEY,
        f"Bearer {KEY}!",
        quote(KEY, safe=""),
        json.dumps({"key": KEY}),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"us:{KEY}".encode()).decode(),
        base64.b64encode(f"u:{KEY}.".encode()).decode(),
    ],
)
def test_a_file_that_would_hold_a_key_is_not_written(tmp_path: Path, hidden: str) -> None:
    async def body(store: RunStore) -> None:
        await said(store, f"look: {hidden}")
        with pytest.raises(HoldsSecret, match=r"was not exported.*turns\.jsonl") as refusal:
            await store.export_run("run", tmp_path / "file", [KEY, "short", ""])
        assert KEY not in str(refusal.value)

    with_store(tmp_path, body)
    assert list(tmp_path.glob("*file*")) == []


def test_keys_are_looked_for_in_the_files_of_a_run_too(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await said(store, "nothing")
        folder = tmp_path / "runs" / "run"
        folder.mkdir(parents=True)
        (folder / "big").write_bytes(b"x" * ((1 << 20) - 5) + KEY.encode() + b"y" * 100)
        with pytest.raises(HoldsSecret, match="files/big"):
            await store.export_run("run", tmp_path / "file", [KEY])

    with_store(tmp_path, body)


def test_no_key_no_finding() -> None:
    assert not SecretScanner([]).is_in(b"anything")
    assert not SecretScanner([KEY]).is_in(b"sk-live and 1234567890")


def manifest_of(file: Path) -> dict[str, Any]:
    with zipfile.ZipFile(file) as archive:
        return dict(json.loads(archive.read("run.json")))


def changed(file: Path, target: Path, changes: dict[str, bytes | None]) -> Path:
    """A copy of an exported file in which some parts are others."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            if name not in changes:
                copy.writestr(name, source.read(name))
        for name, data in changes.items():
            if data is not None:
                copy.writestr(name, data)
    return target


@pytest.mark.parametrize(
    "changes",
    [
        {"run.json": None},
        {"run.json": b"{}"},
        {"workflow.json": None},
        {"turns.jsonl": b'{"seq":1,"body":{"type":"no such input"}}'},
        {"turns.jsonl": b'{"seq":1,"body":{"type":"started","at":1.0},"more":2}'},
        {"turns.jsonl": b"nothing"},
        {"calls.jsonl": b'{"seq":1,"call_id":"c","fact":"no such fact","body":{}}'},
        {"files/../../../escaped": b"x"},
        {"files//escaped": b"x"},
        {"files/C:\\escaped": b"x"},
    ],
)
def test_what_is_no_run_is_not_taken_in(tmp_path: Path, changes: dict[str, bytes | None]) -> None:
    async def body(store: RunStore) -> None:
        await said(store, "hello")
        await store.export_run("run", tmp_path / "good", [])
        bad = changed(tmp_path / "good", tmp_path / "bad", changes)
        with pytest.raises(UnreadableRun, match="is not a run that OpenFlow exported"):
            await store.import_run(bad, "new")
        assert [run.run_id for run in await store.list_runs()] == ["run"]

    with_store(tmp_path / "data", body)
    assert list(tmp_path.rglob("*escaped*")) == []
    assert list((tmp_path / "data").rglob(".import-*")) == []


def test_a_file_of_a_newer_version_says_so(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await said(store, "hello")
        await store.export_run("run", tmp_path / "good", [])
        manifest = {**manifest_of(tmp_path / "good"), "openflow_run": 99}
        newer: dict[str, bytes | None] = {"run.json": json.dumps(manifest).encode()}
        with pytest.raises(UnreadableRun, match="newer version"):
            await store.import_run(changed(tmp_path / "good", tmp_path / "newer", newer))

    with_store(tmp_path, body)


def test_places_that_are_not_there_are_named(tmp_path: Path) -> None:
    async def body(store: RunStore) -> None:
        await said(store, "hello")
        with pytest.raises(StorageUnavailable, match="cannot be written to"):
            await store.export_run("run", tmp_path / "nowhere" / "file", [])
        with pytest.raises(StorageUnavailable, match="cannot be imported"):
            await store.import_run(tmp_path / "nothing")

    with_store(tmp_path, body)

"""What a run knows of files outlives its program: what was read, what may be edited and undone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from engine.graph.workflow import Workflow
from engine.vocabulary.events import EditBatchRecorded, FileChanged, ToolCompleted
from engine.vocabulary.messages import ModelTurn, ResultItem, UserMessage
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from orchestration.settings.model import ToolSettings
from orchestration.tools.catalogue import builtin_tools
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Scripted, ask, summary, use

FREE: Workflow = workflow(nodes=["a"], agents={"a": {**ASKING, "tools": {"approvalMode": "yolo"}}})
READ = use(("read", {"path": "notes.txt"}))


def edit(old: str, new: str) -> ModelTurn:
    edits = [{"old_text": old, "new_text": new}]
    return use(("edit", {"path": "notes.txt", "edits": edits}))


def playing(*turns: ModelTurn) -> Any:
    """The turns in order, as many as the conversation has had; then the last result is said."""

    def script(request: AgentRequest) -> Scripted:
        results = [item.result for item in request.transcript if isinstance(item, ResultItem)]
        answers = [item for item in request.transcript if isinstance(item, UserMessage)]
        done = len(results) + sum(item.content == "yes" for item in answers)
        return turns[done] if done < len(turns) else summary(results[-1].content)

    return script


def opened(data_dir: Path, *turns: ModelTurn) -> Backend:
    return scripted_backend(playing(*turns), data_dir, tools=builtin_tools(ToolSettings()))


async def said(backend: Backend, run_id: str) -> str:
    outcome = await backend.settled(run_id)
    assert isinstance(outcome, RunCompleted), outcome
    return str(backend.view(run_id).outputs["a"]["summary"])


async def asked(backend: Backend, folder: Path) -> str:
    """A run that waits for a person, after what it did before."""
    run_id = await backend.start_run(request_of(FREE, "go", cwd=folder))
    outcome = await backend.settled(run_id)
    assert isinstance(outcome, NeedsInteraction), outcome
    return run_id


def changed(file: Path, text: str) -> None:
    file.write_text(text)


def text_of(file: Path) -> str:
    return file.read_text()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    file = tmp_path / "work" / "notes.txt"
    file.parent.mkdir()
    file.write_text("one\ntwo\nthree\n")
    return file


@pytest.mark.parametrize("how", ["resumed", "forked"])
def test_a_file_that_changed_meanwhile_is_not_edited(how: str, data_dir: Path, notes: Path) -> None:
    turns = (READ, ask("Go on?"), edit("two", "2"))

    async def body() -> None:
        before = opened(data_dir, *turns)
        run_id = await asked(before, notes.parent)
        await before.aclose()
        changed(notes, "one\ntwo\nand another\n")
        backend = opened(data_dir, *turns)
        if how == "forked":
            run_id = await backend.fork_run(run_id)
        else:
            await backend.resume_run(run_id)
        await backend.answer(run_id, "a", "yes")
        refusal = await said(backend, run_id)
        assert "and another" in refusal
        assert text_of(notes) == "one\ntwo\nand another\n"
        await backend.aclose()

    run_async(body)


def test_a_file_that_is_as_it_was_read_is_edited(data_dir: Path, notes: Path) -> None:
    turns = (READ, ask("Go on?"), edit("two", "2"))

    async def body() -> None:
        before = opened(data_dir, *turns)
        run_id = await asked(before, notes.parent)
        await before.aclose()
        backend = opened(data_dir, *turns)
        await backend.resume_run(run_id)
        await backend.answer(run_id, "a", "yes")
        await said(backend, run_id)
        assert text_of(notes) == "one\n2\nthree\n"
        await backend.aclose()

    run_async(body)


def test_its_own_edits_are_no_surprise(data_dir: Path, notes: Path) -> None:
    turns = (READ, edit("one", "1"), ask("Go on?"), edit("two", "2"))

    async def body() -> None:
        before = opened(data_dir, *turns)
        run_id = await asked(before, notes.parent)
        await before.aclose()
        backend = opened(data_dir, *turns)
        await backend.resume_run(run_id)
        await backend.answer(run_id, "a", "yes")
        await said(backend, run_id)
        assert text_of(notes) == "1\n2\nthree\n"
        await backend.aclose()

    run_async(body)


def test_an_edit_that_was_not_told_before_the_kill_can_be_undone(
    data_dir: Path, notes: Path
) -> None:
    turns = (READ, edit("two", "2"), ask("Go on?"))

    async def body() -> None:
        before = opened(data_dir, *turns)
        run_id = await asked(before, notes.parent)
        told = await before.stored_events(run_id)
        (batch_id,) = [
            each.event.batch.batch_id for each in told if isinstance(each.event, EditBatchRecorded)
        ]
        await before.aclose()
        _forget_all_events(data_dir)

        backend = opened(data_dir, *turns)
        await backend.resume_run(run_id)
        assert isinstance(await backend.settled(run_id), NeedsInteraction)
        events = [each.event for each in await backend.stored_events(run_id)]
        (again,) = [each for each in events if isinstance(each, EditBatchRecorded)]
        assert again.batch.batch_id == batch_id
        assert [each.path for each in again.batch.snapshots] == ["notes.txt"]
        kinds = [type(each) for each in events]
        assert kinds.count(FileChanged) == 1
        assert kinds.index(EditBatchRecorded) < kinds.index(FileChanged)
        assert kinds.count(ToolCompleted) == 2
        report = await backend.revert_edit_batch(run_id, batch_id)
        assert report.restored == ("notes.txt",)
        assert text_of(notes) == "one\ntwo\nthree\n"
        await backend.aclose()

    run_async(body)


def _forget_all_events(data_dir: Path) -> None:
    """What a kill takes at worst: facts are safe before their events are."""
    with closing(sqlite3.connect(data_dir / "openflow.db")) as database:
        database.execute("DELETE FROM events")
        database.commit()

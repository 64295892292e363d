"""One run may write in a folder at a time; who waits is told why, and a paused run gives way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.graph.workflow import Workflow
from engine.vocabulary.events import Aborted, NodeStarted, RunWaiting
from engine.vocabulary.report import RunCancelled, RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.folder_turns import FolderBusy
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Held, Scripted, ask, summary

PATIENCE_S = 30.0


def named(workflow_id: str, mode: str = "write") -> Workflow:
    agents = {"a": {**ASKING, "tools": {"approvalMode": mode}}}
    return workflow(nodes=["a"], agents=agents).model_copy(update={"id": workflow_id})


def answered(request: AgentRequest) -> Scripted:
    """Ask once, then submit."""
    return summary("ok") if list(request.transcript) else ask("What now?")


async def come_true(backend: Backend, run_id: str, condition: Callable[[], object]) -> None:
    """Wait for an event of the run after which the condition holds."""
    events, told = backend.subscribe(run_id), asyncio.Event()
    events.on_ready = told.set
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await told.wait()
            told.clear()
            events.drain()
    events.close()


def test_a_writer_waits_for_the_one_before_and_says_why(data_dir: Path, tmp_path: Path) -> None:
    told: list[EventRecord] = []

    async def body() -> None:
        held = Held(summary("first"))
        script: dict[str, Scripted] = {"first": held, "second": summary("second")}
        backend = scripted_backend(lambda request: script[request.workflow_id], data_dir)
        first = await backend.start_run(request_of(named("first"), "one", cwd=tmp_path))
        await held.begun.wait()
        link = data_dir / "link"
        link.symlink_to(tmp_path)
        second = await backend.start_run(
            request_of(named("second"), cwd=link, on_event=told.append)
        )
        view = backend.view(second)
        await come_true(backend, second, lambda: view.waiting_reason)
        assert view.waiting_reason == "waiting for run 'one', which works in this folder"
        assert not view.may_go_first
        with pytest.raises(FolderBusy, match="at work"):
            await backend.give_way(second)
        held.release.set()
        assert isinstance(await backend.settled(second), RunCompleted)
        assert not view.waiting_reason
        waits = [record.event for record in told if isinstance(record.event, RunWaiting)]
        assert [bool(event.reason) for event in waits] == [True, False]
        kinds = [type(record.event) for record in told]
        assert kinds.index(NodeStarted) > kinds.index(RunWaiting)
        assert isinstance(await backend.settled(first), RunCompleted)
        await backend.aclose()

    run_async(body)


def test_readers_and_other_folders_wait_for_nobody(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(summary("first"))
        backend = scripted_backend(
            lambda request: held if request.workflow_id == "first" else summary("ok"), data_dir
        )
        (tmp_path / "other").mkdir()
        await backend.start_run(request_of(named("first"), cwd=tmp_path))
        await held.begun.wait()
        for flow, cwd in ((named("r", "read_only"), tmp_path), (named("o"), tmp_path / "other")):
            run_id = await backend.start_run(request_of(flow, cwd=cwd))
            assert isinstance(await backend.settled(run_id), RunCompleted)
        await backend.aclose()

    run_async(body)


def test_a_run_that_is_stopped_while_it_waits_ends_quietly(data_dir: Path, tmp_path: Path) -> None:
    told: list[EventRecord] = []

    async def body() -> None:
        held = Held(summary("first"))
        backend = scripted_backend(lambda request: held, data_dir)
        await backend.start_run(request_of(named("first"), cwd=tmp_path))
        await held.begun.wait()
        second = await backend.start_run(
            request_of(named("second"), cwd=tmp_path, on_event=told.append)
        )
        await come_true(backend, second, lambda: backend.view(second).waiting_reason)
        await backend.stop_run(second)
        assert isinstance(await backend.settled(second), RunCancelled)
        assert NodeStarted not in {type(record.event) for record in told}
        assert type(told[-1].event) is Aborted
        await backend.aclose()

    run_async(body)


def test_a_paused_run_gives_way_and_goes_on_in_its_turn(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(summary("second"))
        backend = scripted_backend(
            lambda request: held if request.workflow_id == "second" else answered(request),
            data_dir,
        )
        first = await backend.start_run(request_of(named("first"), "one", cwd=tmp_path))
        await backend.settled(first)
        second = await backend.start_run(request_of(named("second"), "two", cwd=tmp_path))
        view = backend.view(second)
        await come_true(backend, second, lambda: view.waiting_reason)
        assert "let this run go first" in str(view.waiting_reason)
        assert view.may_go_first
        assert not held.begun.is_set()

        await backend.give_way(second)
        await held.begun.wait()
        await backend.answer(first, "a", "go")
        await come_true(backend, first, lambda: backend.view(first).waiting_reason)
        assert "run 'two', which works" in str(backend.view(first).waiting_reason)
        held.release.set()
        assert isinstance(await backend.settled(second), RunCompleted)
        await come_true(backend, first, lambda: not backend.view(first).active)
        assert backend.view(first).outputs["a"] == {"summary": "ok"}
        await backend.aclose()

    run_async(body)


def test_another_program_is_waited_for_too(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(summary("first"))
        one = scripted_backend(lambda request: held, data_dir)
        other: Backend = scripted_backend(lambda request: summary("ok"), data_dir)
        await one.start_run(request_of(named("first"), "one", cwd=tmp_path))
        await held.begun.wait()
        second = await other.start_run(request_of(named("second"), cwd=tmp_path))
        view = other.view(second)
        await come_true(other, second, lambda: view.waiting_reason)
        assert "run 'one'" in str(view.waiting_reason)
        with pytest.raises(FolderBusy, match="at work in the folder"):
            await other.give_way(second)
        await one.aclose()
        assert isinstance(await other.settled(second), RunCompleted)
        await other.aclose()

    run_async(body)


def test_another_program_lets_go_when_its_run_waits(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        one = scripted_backend(answered, data_dir)
        other: Backend = scripted_backend(lambda request: summary("ok"), data_dir)
        first = await one.start_run(request_of(named("first"), "one", cwd=tmp_path))
        await one.settled(first)
        second = await other.start_run(request_of(named("second"), "two", cwd=tmp_path))
        view = other.view(second)
        await come_true(other, second, lambda: view.may_go_first)
        await other.give_way(second)
        assert isinstance(await other.settled(second), RunCompleted)
        assert not view.waiting_reason
        await one.answer(first, "a", "go")
        await come_true(one, first, lambda: not one.view(first).active)
        assert one.view(first).outputs["a"] == {"summary": "ok"}
        await one.aclose()
        await other.aclose()

    run_async(body)


def test_a_run_that_no_longer_waits_leaves_the_line(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(summary("first"))
        backends = [scripted_backend(lambda request: held, data_dir) for _ in range(3)]
        one, two, three = backends
        await one.start_run(request_of(named("first"), "one", cwd=tmp_path))
        await held.begun.wait()
        second = await two.start_run(request_of(named("second"), cwd=tmp_path))
        await come_true(two, second, lambda: two.view(second).waiting_reason)
        third = await three.start_run(request_of(named("third"), cwd=tmp_path))
        await come_true(three, third, lambda: three.view(third).waiting_reason)
        await two.stop_run(second)
        held.release.set()
        assert isinstance(await three.settled(third), RunCompleted)
        for backend in backends:
            await backend.aclose()

    run_async(body)


def test_a_folder_that_cannot_be_locked_begins_nothing(data_dir: Path, tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: summary("ok"), data_dir)
        (data_dir / "folders").write_text("in the way")
        with pytest.raises(FolderBusy, match="cannot be locked"):
            await backend.start_run(request_of(named("first"), cwd=tmp_path))
        assert await backend.runs() == ()
        (data_dir / "folders").unlink()
        run_id = await backend.start_run(request_of(named("first"), cwd=tmp_path))
        assert isinstance(await backend.settled(run_id), RunCompleted)
        await backend.aclose()

    run_async(body)

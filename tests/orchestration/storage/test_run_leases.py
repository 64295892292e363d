"""One process drives a run; one that slept too long finds out before it writes."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import TimerFired
from engine.vocabulary.tools import ToolCall
from orchestration.errors import RunStillActive
from orchestration.storage.errors import LeaseLost, RunIsDriven, StorageError
from orchestration.storage.leases import HEARTBEAT_S, LASTS_S
from tests.support.engine_driver import workflow
from tests.support.storage_rig import opening_of, stored_runs

FLOW = workflow(nodes=["a"])
CALL = AdmittedCall(ToolCall("c", "write", {}), "digest")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def may_write(call: ToolCall) -> bool:
    return False


def test_a_lease_that_was_given_back_can_be_taken(tmp_path: Path) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(stored_runs(tmp_path))
            other = await stack.enter_async_context(stored_runs(tmp_path))
            opened = await one.open_run(opening_of(FLOW), is_reading=may_write)
            with pytest.raises(RunIsDriven):
                await other.resume_run("run", is_reading=may_write)
            with pytest.raises(RunStillActive):
                await other.delete("run")
            await one.release(opened.number)
            await other.resume_run("run", is_reading=may_write)
            with pytest.raises(RunIsDriven):
                await one.resume_run("run", is_reading=may_write)

    asyncio.run(main())


def test_closing_gives_all_leases_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with stored_runs(tmp_path) as one:
            await one.open_run(opening_of(FLOW), is_reading=may_write)
        async with stored_runs(tmp_path) as other:
            (run,) = await other.list_runs()
            assert run.can_resume
            await other.resume_run("run", is_reading=may_write)

    asyncio.run(main())


def test_heartbeats_keep_a_lease(tmp_path: Path) -> None:
    here, there = Clock(), Clock()

    async def main() -> None:
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(stored_runs(tmp_path, clock=here))
            other = await stack.enter_async_context(stored_runs(tmp_path, clock=there))
            opened = await one.open_run(opening_of(FLOW), is_reading=may_write)
            for _ in range(10):
                here.now += LASTS_S / 2
                there.now = here.now
                opened.journal.input(TimerFired("a", here.now))
                await one.database.barrier()
                with pytest.raises(RunIsDriven):
                    await other.resume_run("run", is_reading=may_write)

    asyncio.run(main())


def test_a_process_that_slept_writes_nothing_into_a_run_that_was_taken_over(
    tmp_path: Path,
) -> None:
    here, there = Clock(), Clock()
    told: list[StorageError] = []

    async def main() -> None:
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(stored_runs(tmp_path, clock=here))
            other = await stack.enter_async_context(stored_runs(tmp_path, clock=there))
            opened = await one.open_run(opening_of(FLOW), is_reading=may_write)
            mine = await one.open_run(opening_of(FLOW, "mine"), is_reading=may_write)
            one.database.on_trouble(told.append, opened.number)
            there.now += LASTS_S + 1
            taken = await other.resume_run("run", is_reading=may_write)

            here.now += HEARTBEAT_S
            opened.journal.input(TimerFired("a", 1.0))
            with pytest.raises(LeaseLost, match="taken over by another process"):
                await opened.journal.intent("a", CALL)
            with pytest.raises(LeaseLost):
                opened.journal.input(TimerFired("a", 2.0))
            assert [type(error) for error in told] == [LeaseLost]

            taken.journal.input(TimerFired("a", 3.0))
            mine.journal.input(TimerFired("a", 4.0))
            await mine.journal.intent("a", CALL)
            assert (await other.load("run")).inputs == (TimerFired("a", 3.0),)
            assert (await other.load("mine")).inputs == (TimerFired("a", 4.0),)

    asyncio.run(main())


def test_a_run_that_was_lost_can_be_taken_up_here_again(tmp_path: Path) -> None:
    here, there = Clock(), Clock()

    async def main() -> None:
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(stored_runs(tmp_path, clock=here))
            other = await stack.enter_async_context(stored_runs(tmp_path, clock=there))
            opened = await one.open_run(opening_of(FLOW), is_reading=may_write)
            there.now += LASTS_S + 1
            taken = await other.resume_run("run", is_reading=may_write)
            here.now = there.now
            opened.journal.input(TimerFired("a", 1.0))
            with pytest.raises(LeaseLost):
                await opened.journal.intent("a", CALL)
            taken.journal.input(TimerFired("a", 2.0))
            await other.database.barrier()
            await other.release(taken.recorded.number)

            again = await one.resume_run("run", is_reading=may_write)
            again.journal.input(TimerFired("a", 3.0))
            await again.journal.intent("a", CALL)
            recorded = await other.load("run")
            assert recorded.inputs == (TimerFired("a", 2.0), TimerFired("a", 3.0))

    asyncio.run(main())


def test_what_could_not_be_given_back_is_free_in_the_same_process(tmp_path: Path) -> None:
    def refuse(connection: object) -> None:
        raise OSError("the disk is full")

    async def main() -> None:
        async with stored_runs(tmp_path) as one:
            await one.open_run(opening_of(FLOW), is_reading=may_write)
            one.database.leases.release_all = refuse  # type: ignore[method-assign]
        async with stored_runs(tmp_path) as other:
            await other.resume_run("run", is_reading=may_write)

    asyncio.run(main())

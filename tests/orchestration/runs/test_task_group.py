import asyncio
import logging
from typing import Any

import pytest

from orchestration.runs.limits import Permits
from orchestration.runs.task_group import TaskGroup, Work


def run(body: Any) -> None:
    async def main() -> None:
        before = asyncio.all_tasks()
        await body()
        assert asyncio.all_tasks() == before

    asyncio.run(main())


async def turns_of_the_loop(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def ignore(result: object, alone: bool) -> None:
    pass


async def for_ever(work: Work) -> None:
    await asyncio.get_running_loop().create_future()


def test_work_runs_as_far_as_there_are_permits_and_in_order() -> None:
    async def body() -> None:
        permits, began, done = Permits(2), [], []
        gates = {key: asyncio.Event() for key in "abcd"}

        async def job(work: Work) -> None:
            began.append(work.key)
            await gates[work.key].wait()
            done.append(work.job)

        group = TaskGroup(asyncio.get_running_loop(), ignore)
        for number, key in enumerate("abcd"):
            group.start(key, number, job, permits)
        await turns_of_the_loop()
        assert began == ["a", "b"]
        # Those that wait for a permit cost no task: the two that run and this one.
        assert len(asyncio.all_tasks()) == 3
        gates["b"].set()
        await turns_of_the_loop()
        assert began == ["a", "b", "c"]
        for gate in gates.values():
            gate.set()
        await turns_of_the_loop(6)
        assert sorted(done) == [0, 1, 2, 3]
        assert permits.in_use == 0

    run(body)


@pytest.mark.parametrize(
    "moment", ["waiting for a permit", "before it has a task", "before its first step", "at work"]
)
def test_cancelled_work_gives_its_permit_back_once(moment: str) -> None:
    async def body() -> None:
        permits = Permits(1)
        group = TaskGroup(asyncio.get_running_loop(), ignore)
        if moment == "waiting for a permit":
            assert permits.try_take()
        group.start("a", None, for_ever, permits)
        if moment == "before its first step":
            await turns_of_the_loop(1)
        if moment == "at work":
            await turns_of_the_loop()
        group.cancel("a")
        group.cancel("a")
        if moment == "waiting for a permit":
            permits.give_back()
        await turns_of_the_loop()
        assert (permits.in_use, permits.waiting) == (0, 0)
        assert await group.close(1.0) == ()

    run(body)


def test_closing_leaves_no_task_behind_even_those_that_had_not_begun() -> None:
    async def body() -> None:
        permits = Permits(2)
        group = TaskGroup(asyncio.get_running_loop(), ignore)
        group.start("a", None, for_ever, permits)
        await turns_of_the_loop()
        group.start("b", None, for_ever, permits)
        group.start("c", None, for_ever, permits)
        assert await group.close(1.0) == ()
        assert (permits.in_use, permits.waiting) == (0, 0)

    run(body)


def test_a_key_can_be_used_again_while_cancelled_work_still_winds_down() -> None:
    async def body() -> None:
        permits, seen = Permits(5), []
        slow_end = asyncio.Event()

        async def slow_to_end(work: Work) -> None:
            try:
                await for_ever(work)
            finally:
                await slow_end.wait()
                seen.append(("old", work.cancelled))

        async def quick(work: Work) -> None:
            seen.append(("new", work.cancelled))

        group = TaskGroup(asyncio.get_running_loop(), ignore)
        group.start("a", None, slow_to_end, permits)
        await turns_of_the_loop()
        group.cancel("a")
        group.start("a", None, quick, permits)
        await turns_of_the_loop()
        slow_end.set()
        await turns_of_the_loop()
        assert seen == [("new", False), ("old", True)]
        assert permits.in_use == 0

    run(body)


def test_work_that_does_not_end_is_named_after_the_time_is_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body() -> None:
        let_go = asyncio.Event()

        async def stubborn(work: Work) -> None:
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue

        group = TaskGroup(asyncio.get_running_loop(), ignore)
        group.start("mule", None, stubborn)
        await turns_of_the_loop()
        with caplog.at_level(logging.WARNING):
            assert await group.close(0.01) == ("mule",)
        let_go.set()
        await turns_of_the_loop()

    run(body)
    assert "mule" in caplog.text

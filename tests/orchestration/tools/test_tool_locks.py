from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.vocabulary.tools import ToolConcurrency
from orchestration.tools.locks import Keys, RunLocks, fixed_keys, path_keys
from orchestration.workspace.paths import Workspace
from tests.support.tool_bench import made_tool, say, turn_the_loop


def test_a_key_that_changes_during_the_wait_is_taken_in_place_of_the_old_one() -> None:
    """What the second caller wants is `a` when it begins to wait and `b` when it gets `a`."""

    async def scenario() -> list[str]:
        locks, order = RunLocks(), list[str]()
        now = "a"

        async def wanted() -> Keys:
            return (now,)

        async def second() -> None:
            async with locks.hold_current(wanted):
                order.append("second")

        async with locks.hold(("b",)):
            async with locks.hold(("a",)):
                waiting = asyncio.create_task(second())
                await turn_the_loop()
                now = "b"
            await turn_the_loop()
            order.append("b is free")
        await asyncio.wait_for(waiting, 20)
        return order

    assert asyncio.run(scenario()) == ["b is free", "second"]


def test_who_need_not_wait_is_told_so() -> None:
    async def scenario() -> tuple[bool, bool]:
        locks = RunLocks()
        async with locks.hold(("a", "b")) as first:
            pass
        async with locks.hold(("b",)):

            async def ask() -> bool:
                async with locks.hold(("a", "b")) as has_waited:
                    return has_waited

            waiting = asyncio.create_task(ask())
            await turn_the_loop()
        return first, await waiting

    assert asyncio.run(scenario()) == (False, True)


SPELLINGS = ["./a.txt", "sub/../a.txt", "link.txt", "A.TXT", "{root}/a.txt"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_two_spellings_of_one_path_are_one_key(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.txt").symlink_to("a.txt")
    workspace = Workspace(tmp_path)

    def keys(path: str) -> Keys:
        return asyncio.run(path_keys([path], workspace))

    assert keys(spelling.format(root=tmp_path)) == keys("a.txt")
    assert keys("b.txt") != keys("a.txt")


def test_keys_of_several_paths_come_in_one_order_and_once(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    keys = asyncio.run(path_keys(["b", "a", "./b"], workspace))
    assert keys == asyncio.run(path_keys(["a", "b"], workspace))
    assert len(keys) == 2


def test_a_path_that_is_refused_is_locked_as_it_was_written(tmp_path: Path) -> None:
    assert asyncio.run(path_keys(["../a"], Workspace(tmp_path))) == ("path:../a",)


@pytest.mark.parametrize(
    ("concurrency", "changes", "keys"),
    [
        (ToolConcurrency.SHARED, False, ()),
        (ToolConcurrency.EXCLUSIVE, True, ("tool:t",)),
        (ToolConcurrency.NODE_EXCLUSIVE, False, ("n\x1ftool:t",)),
        (ToolConcurrency.NODE_EXCLUSIVE, True, ("tool:t",)),
    ],
)
def test_without_paths_the_tool_is_the_key(
    concurrency: ToolConcurrency, changes: bool, keys: Keys
) -> None:
    assert fixed_keys(made_tool("t", say, concurrency), "n", changes=changes) == keys


def test_who_is_cancelled_while_it_waits_holds_nothing() -> None:
    async def scenario() -> None:
        locks = RunLocks()
        async with locks.hold(("b",)):

            async def both() -> None:
                async with locks.hold(("a", "b")):
                    raise AssertionError("it cannot get here")

            waiting = asyncio.create_task(both())
            await turn_the_loop()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            async with locks.hold(("a",)) as has_waited:
                assert not has_waited
        async with locks.hold(("a", "b")) as has_waited:
            assert not has_waited

    asyncio.run(scenario())

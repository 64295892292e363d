"""Equal calls at the same time, calls that are overtaken, and answers that nobody saw."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from engine.vocabulary.tools import (
    JsonObject,
    ToolConcurrency,
    ToolTier,
)
from orchestration.tools.builtin.read import READ
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure, ToolOutput
from tests.support.cached_calls import CACHED_FOR_OTHERS, Searches, Talk, within_a_minute, writer
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, made_tool


def test_a_cancelled_writing_call_ends_it_too(tmp_path: Path) -> None:
    async def body() -> None:
        writing = asyncio.Event()

        async def write(_: JsonObject, __: ToolContext) -> ToolOutput:
            writing.set()
            await asyncio.Event().wait()
            return ToolOutput("never")

        searches = Searches(tmp_path)
        tool = made_tool("w", write, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, writes=True)
        bench = ToolBench(tmp_path, searches.tool, tool)
        talk = Talk(bench)
        await talk("a", "list")
        task = asyncio.create_task(talk("a", "w"))
        await writing.wait()
        # While something is being written, nothing that rests on the folder is known.
        assert "[cached]" not in (await talk("a", "list")).content
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "[cached]" not in (await talk("a", "list")).content
        assert "[cached]" in (await talk("a", "list")).content
        assert searches.runs == 3

    within_a_minute(body)


def test_two_nodes_that_ask_the_same_at_the_same_time_run_it_once(tmp_path: Path) -> None:
    async def body() -> None:
        running, go_on = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            running.set()
            await go_on.wait()

        searches = Searches(tmp_path, hold)
        bench = ToolBench(tmp_path, searches.tool, watched=True)
        talk = Talk(bench)
        first = asyncio.create_task(talk("a", "list"))
        await running.wait()
        others = [asyncio.create_task(talk(node, "list")) for node in "bcd"]
        await asyncio.sleep(0)
        go_on.set()
        plain = await first
        for other in others:
            assert (await other).content == CACHED_FOR_OTHERS + plain.content
        assert searches.runs == 1
        bench.runner.close()

    within_a_minute(body)


def test_equal_calls_of_one_turn_run_once(tmp_path: Path) -> None:
    async def body() -> None:
        searches = Searches(tmp_path)
        bench = ToolBench(tmp_path, searches.tool, watched=True)
        (first, second), _ = await bench.execute(
            admitted_call("list", "x"), admitted_call("list", "y")
        )
        assert first.content == ""
        assert "call x" in second.content
        assert searches.runs == 1
        bench.runner.close()

    within_a_minute(body)


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_the_next_one_runs_where_the_first_comes_to_nothing(tmp_path: Path, how: str) -> None:
    async def body() -> None:
        running, go_on = asyncio.Event(), asyncio.Event()
        runs = 0

        async def run(_: JsonObject, __: ToolContext) -> ToolOutput:
            nonlocal runs
            runs += 1
            if runs == 1:
                running.set()
                await go_on.wait()
                raise ToolFailure(FailureKind.FAILED, "no")
            return ToolOutput("found")

        bench = ToolBench(tmp_path, made_tool("t", run, is_cacheable=lambda _: True), watched=True)
        talk = Talk(bench)
        first = asyncio.create_task(talk("a", "t"))
        await running.wait()
        others = [asyncio.create_task(talk(node, "t")) for node in "bcd"]
        await asyncio.sleep(0)
        if how == "fails":
            go_on.set()
        else:
            first.cancel()
        contents = [(await other).content for other in others]
        assert runs == 2
        assert contents.count("found") == 1
        assert sum("[cached]" in content for content in contents) == 2
        if how == "fails":
            assert (await first).is_error
        else:
            with pytest.raises(asyncio.CancelledError):
                await first
        bench.runner.close()

    within_a_minute(body)


def test_who_waits_for_another_can_be_cancelled(tmp_path: Path) -> None:
    async def body() -> None:
        running, go_on = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            running.set()
            await go_on.wait()

        searches = Searches(tmp_path, hold)
        talk = Talk(ToolBench(tmp_path, searches.tool))
        first = asyncio.create_task(talk("a", "list"))
        await running.wait()
        other = asyncio.create_task(talk("b", "list"))
        await asyncio.sleep(0)
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
        go_on.set()
        assert (await first).content == ""

    within_a_minute(body)


def test_an_answer_that_was_overtaken_by_a_write_is_not_kept(tmp_path: Path) -> None:
    async def body() -> None:
        running, go_on = asyncio.Event(), asyncio.Event()

        async def hold() -> None:
            running.set()
            await go_on.wait()

        searches = Searches(tmp_path, hold)
        write = writer(lambda: (tmp_path / "new").touch())
        talk = Talk(ToolBench(tmp_path, searches.tool, write))
        first = asyncio.create_task(talk("a", "list"))
        await running.wait()
        await talk("b", "w")
        go_on.set()
        assert (await first).content == ""
        assert (await talk("a", "list")).content == "new"

    within_a_minute(body)


def test_a_read_that_was_overtaken_by_a_change_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("one\n")
    os.utime(file, (1_000_000_000, 1_000_000_000))

    async def body() -> None:
        async def read(arguments: JsonObject, context: ToolContext) -> ToolOutput:
            output = await READ.run(arguments, context)
            if "one" in output.content:
                file.write_text("two\n")
            return output

        tool = made_tool("read", read, is_cacheable=lambda _: True)
        talk = Talk(ToolBench(tmp_path, tool))
        assert "1:one" in (await talk("a", "read", path="f.txt")).content
        assert (await talk("a", "read", path="f.txt")).content.endswith("1:two")

    within_a_minute(body)


def test_what_did_not_reach_the_transcript_is_no_earlier_answer(tmp_path: Path) -> None:
    """The node was interrupted as its batch ended, so its model never saw the text."""
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        talk = Talk(bench)
        await talk("a", "read", path="f.txt")
        bench.runner.discard("a")
        again = await talk("a", "read", path="f.txt")
        assert again.content.startswith(CACHED_FOR_OTHERS)
        assert again.content.endswith("1:one")

    within_a_minute(body)


def test_a_cancelled_batch_has_shown_nothing(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        waiting = asyncio.Event()

        async def wait(_: JsonObject, __: ToolContext) -> ToolOutput:
            waiting.set()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = ToolBench(tmp_path, READ, made_tool("w", wait, ToolConcurrency.EXCLUSIVE))
        calls = [admitted_call("read", "1", "a", path="f.txt"), admitted_call("w", "2", "a")]
        task = asyncio.create_task(bench.runner.execute_batch(batch_of(calls, "a")))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        again = await Talk(bench)("a", "read", path="f.txt")
        assert again.content.endswith("1:one")

    within_a_minute(body)

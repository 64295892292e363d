"""However and whenever a batch is cancelled: each call that began has one result, told and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.events import FileChanged, ToolCompleted, ToolStarted
from engine.vocabulary.tools import (
    FileChangeOp,
    FileChangeRecord,
    JsonObject,
    ToolConcurrency,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.hosted_tools import BatchStopped
from orchestration.runs.journal import CallIntent, CallResult, MemoryJournal
from orchestration.tools.tool import ToolContext, ToolOutput
from tests.support.tool_bench import ToolBench, admitted_call, made_tool, turn_the_loop

RECORD = FileChangeRecord("a.txt", FileChangeOp.CREATE, 1)


class SlowJournal(MemoryJournal):
    """Takes its time over every fact, as a disk does."""

    async def intent(self, node_id: str, call: AdmittedCall, **more: Any) -> None:
        await super().intent(node_id, call, **more)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def result(self, node_id: str, result: ToolResult, **more: Any) -> None:
        await super().result(node_id, result, **more)
        await asyncio.sleep(0)
        await asyncio.sleep(0)


async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
    await asyncio.sleep(0)
    return ToolOutput("done", effects=ToolEffects(file_changes=(RECORD,)))


def assert_each_has_one_result(bench: ToolBench) -> None:
    begun = [e.tool_call_id for e in bench.events if isinstance(e, ToolStarted)]
    ended = [e.tool_call_id for e in bench.events if isinstance(e, ToolCompleted)]
    assert sorted(begun) == sorted(ended)
    facts = bench.journal.tool_facts
    meant = [fact.call.call.id for fact in facts if isinstance(fact, CallIntent)]
    results = {fact.result.call_id: fact.result for fact in facts if isinstance(fact, CallResult)}
    assert len(results) == sum(isinstance(fact, CallResult) for fact in facts)
    assert set(begun) <= set(results) <= set(meant)
    told = {e.tool_call_id: e for e in bench.events if isinstance(e, ToolCompleted)}
    for call_id, event in told.items():
        assert results[call_id].content == event.content
        assert results[call_id].is_error == event.is_error
    assert bench.permits.in_use == 0


@given(turns=st.integers(0, 60), again=st.integers(0, 6))
def test_a_batch_that_is_cancelled_at_any_moment(
    tmp_path_factory: pytest.TempPathFactory, turns: int, again: int
) -> None:
    bench = ToolBench(
        tmp_path_factory.mktemp("root"),
        made_tool("look", work),
        made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, writes=True),
        journal=SlowJournal(),
    )

    async def scenario() -> None:
        calls = [
            admitted_call(name, f"{at}")
            for at, name in enumerate(["look", "look", "w", "look", "w", "w"])
        ]
        task = asyncio.create_task(bench.execute(*calls))
        for _ in range(turns):
            await asyncio.sleep(0)
        was_done = task.done()
        for _ in range(again + 1):
            task.cancel()
            await asyncio.sleep(0)
        try:
            await task
        except asyncio.CancelledError:
            assert not was_done

    asyncio.run(scenario())
    assert_each_has_one_result(bench)


def cancelled_while(
    root: Path, at_work: Callable[[asyncio.Event], Awaitable[ToolOutput]], tier: ToolTier
) -> ToolBench:
    """A batch of two calls that is cancelled while the first is at work."""
    bench: ToolBench

    async def scenario() -> ToolBench:
        began = asyncio.Event()

        async def run(_: JsonObject, __: ToolContext) -> ToolOutput:
            return await at_work(began)

        bench = ToolBench(root, made_tool("t", run, ToolConcurrency.EXCLUSIVE, tier))
        task = asyncio.create_task(bench.execute(admitted_call("t", "1"), admitted_call("t", "2")))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return bench

    bench = asyncio.run(scenario())
    assert_each_has_one_result(bench)
    return bench


def test_a_tool_that_finishes_all_the_same_is_told_as_what_it_did(tmp_path: Path) -> None:
    async def at_work(began: asyncio.Event) -> ToolOutput:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await turn_the_loop()
        return ToolOutput("done", effects=ToolEffects(file_changes=(RECORD,)))

    bench = cancelled_while(tmp_path, at_work, ToolTier.WRITE)
    completed = [event for event in bench.events if isinstance(event, ToolCompleted)]
    assert [(event.tool_call_id, event.content) for event in completed] == [("1", "done")]
    assert FileChanged("n", RECORD) in bench.events


def test_a_tool_that_cleans_up_has_done_so_before_its_end_is_told(tmp_path: Path) -> None:
    cleaned: list[str] = []

    async def at_work(began: asyncio.Event) -> ToolOutput:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await turn_the_loop()
            cleaned.append("up")
        return ToolOutput("never")

    bench = cancelled_while(tmp_path, at_work, ToolTier.WRITE)
    (completed,) = [event for event in bench.events if isinstance(event, ToolCompleted)]
    assert cleaned == ["up"]
    assert (completed.is_error, completed.content) == (True, "[cancelled] the call was stopped")


def test_a_call_that_has_not_begun_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> ToolBench:
        holding, let_go = asyncio.Event(), asyncio.Event()

        async def hold(_: JsonObject, __: ToolContext) -> ToolOutput:
            holding.set()
            await let_go.wait()
            return ToolOutput("held")

        bench = ToolBench(tmp_path, made_tool("t", hold, ToolConcurrency.EXCLUSIVE))
        first = asyncio.create_task(bench.execute(admitted_call("t", "1")))
        await holding.wait()
        second = asyncio.create_task(bench.execute(admitted_call("t", "2")))
        await turn_the_loop()
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        let_go.set()
        await first
        return bench

    bench = asyncio.run(scenario())
    assert_each_has_one_result(bench)
    assert [e.tool_call_id for e in bench.events if isinstance(e, ToolStarted)] == ["1"]


def test_what_had_ended_before_is_handed_on(tmp_path: Path) -> None:
    async def scenario() -> BatchStopped:
        waiting = asyncio.Event()

        async def wait(_: JsonObject, __: ToolContext) -> ToolOutput:
            waiting.set()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = ToolBench(
            tmp_path, made_tool("look", work), made_tool("w", wait, ToolConcurrency.EXCLUSIVE)
        )
        calls = [admitted_call("look", "1"), admitted_call("w", "2"), admitted_call("look", "3")]
        task = asyncio.create_task(bench.execute(*calls))
        await waiting.wait()
        task.cancel()
        with pytest.raises(BatchStopped) as caught:
            await task
        assert task.cancelled()
        return caught.value

    stopped = asyncio.run(scenario())
    assert stopped.results == (ToolResult("1", "look", "done"),)
    assert stopped.effects.file_changes == (RECORD,)

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engine.graph.workflow import RetryPolicy
from engine.vocabulary.events import (
    PhaseTimed,
    RunEvent,
    ToolCompleted,
)
from engine.vocabulary.tools import (
    JsonObject,
    ToolConcurrency,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import CallResult
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import ToolContext, ToolOutput
from tests.support.tool_bench import (
    ToolBench,
    admitted_call,
    batch_of,
    made_tool,
    say,
    services,
    turn_the_loop,
)


def path_argument(arguments: JsonObject) -> tuple[str, ...]:
    return (str(arguments["path"]),)


def test_neighbours_that_share_run_side_by_side_and_answer_in_order(tmp_path: Path) -> None:
    async def scenario() -> tuple[ToolResult, ...]:
        second_began = asyncio.Event()

        async def first(_: JsonObject, __: ToolContext) -> ToolOutput:
            await second_began.wait()
            return ToolOutput("first")

        async def second(_: JsonObject, __: ToolContext) -> ToolOutput:
            second_began.set()
            return ToolOutput("second")

        bench = ToolBench(tmp_path, made_tool("first", first), made_tool("second", second))
        results, _ = await bench.execute(admitted_call("first", "a"), admitted_call("second", "b"))
        return results

    assert [r.content for r in asyncio.run(scenario())] == ["first", "second"]


def test_a_writing_call_waits_for_those_before_it_and_holds_back_those_after(
    tmp_path: Path,
) -> None:
    order: list[str] = []

    async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
        order.append(f"+{context.call_id}")
        await asyncio.sleep(0)
        order.append(f"-{context.call_id}")
        return ToolOutput("")

    bench = ToolBench(
        tmp_path,
        made_tool("look", work),
        made_tool("change", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE),
    )
    bench.results(
        admitted_call("look", "a"),
        admitted_call("look", "b"),
        admitted_call("change", "c"),
        admitted_call("look", "d"),
    )
    assert order[4:] == ["+c", "-c", "+d", "-d"]
    assert sorted(order[:4]) == ["+a", "+b", "-a", "-b"]
    timed = [event for event in bench.events if isinstance(event, PhaseTimed)]
    assert [(event.phase, event.label, event.node_id) for event in timed] == [
        ("tool", "change", "n")
    ]


def test_calls_of_two_nodes_on_one_path_exclude_each_other(tmp_path: Path) -> None:
    inside, most = 0, 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await turn_the_loop()
        inside -= 1
        return ToolOutput("")

    async def scenario() -> None:
        bench = ToolBench(
            tmp_path,
            made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, path_argument),
        )
        second = batch_of([admitted_call("w", "2", "m", path="./a")], "m")
        await asyncio.gather(
            bench.execute(admitted_call("w", "1", path="a")), bench.runner.execute_batch(second)
        )

    asyncio.run(scenario())
    assert most == 1


def test_calls_of_two_nodes_on_two_paths_run_side_by_side(tmp_path: Path) -> None:
    async def scenario() -> None:
        both = asyncio.Barrier(2)

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            await both.wait()
            return ToolOutput("")

        bench = ToolBench(
            tmp_path,
            made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, path_argument),
        )
        second = batch_of([admitted_call("w", "2", "m", path="b")], "m")
        await asyncio.wait_for(
            asyncio.gather(
                bench.execute(admitted_call("w", "1", path="a")),
                bench.runner.execute_batch(second),
            ),
            20,
        )

    asyncio.run(scenario())


def test_a_node_exclusive_tool_runs_once_a_node_at_a_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        both = asyncio.Barrier(2)

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            await both.wait()
            return ToolOutput("")

        bench = ToolBench(tmp_path, made_tool("look", work, ToolConcurrency.NODE_EXCLUSIVE))
        await asyncio.gather(
            bench.execute(admitted_call("look", "1")),
            bench.runner.execute_batch(batch_of([admitted_call("look", "2", "m")], "m")),
        )

    asyncio.run(scenario())


def test_no_two_calls_run_at_once_that_may_change_any_file(tmp_path: Path) -> None:
    inside, most = 0, 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await turn_the_loop()
        inside -= 1
        return ToolOutput("")

    async def scenario() -> None:
        bench = ToolBench(
            tmp_path, made_tool("sh", work, ToolConcurrency.NODE_EXCLUSIVE, ToolTier.WRITE)
        )
        await asyncio.gather(
            bench.execute(admitted_call("sh", "1")),
            bench.runner.execute_batch(batch_of([admitted_call("sh", "2", "m")], "m")),
        )

    asyncio.run(scenario())
    assert most == 1


@pytest.mark.parametrize("spelling", ["./a.txt", "sub/../a.txt", "link.txt", "A.txt"])
def test_two_spellings_of_one_path_are_one_lock(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.txt").symlink_to("a.txt")
    inside, most = 0, 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await turn_the_loop()
        inside -= 1
        return ToolOutput("")

    async def scenario() -> None:
        bench = ToolBench(
            tmp_path,
            made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, path_argument),
        )
        await asyncio.gather(
            bench.execute(admitted_call("w", "1", path="a.txt")),
            bench.runner.execute_batch(
                batch_of([admitted_call("w", "2", "m", path=spelling)], "m")
            ),
        )

    asyncio.run(scenario())
    assert most == 1


def test_cancelling_ends_the_call_tells_it_and_frees_what_it_held(tmp_path: Path) -> None:
    async def scenario() -> ToolBench:
        began = asyncio.Event()

        async def work(arguments: JsonObject, _: ToolContext) -> ToolOutput:
            if "count" in arguments:
                return ToolOutput("after")
            began.set()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = ToolBench(
            tmp_path, made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE), permits=1
        )
        task = asyncio.ensure_future(
            bench.execute(admitted_call("w", "a"), admitted_call("w", "b"))
        )
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        results, _ = await asyncio.wait_for(bench.execute(admitted_call("w", "c", count=1)), 20)
        assert results[0].content == "after"
        return bench

    bench = asyncio.run(scenario())
    assert bench.permits.in_use == 0
    completed = [e for e in bench.events if isinstance(e, ToolCompleted)]
    assert [(e.tool_call_id, e.is_error) for e in completed] == [("a", True), ("c", False)]
    assert completed[0].content.startswith("[cancelled]")
    recorded = [fact.result for fact in bench.journal.tool_facts if isinstance(fact, CallResult)]
    assert [(result.call_id, result.is_error) for result in recorded] == [("a", True), ("c", False)]


def test_cancelling_ends_all_that_run_side_by_side(tmp_path: Path) -> None:
    async def scenario() -> list[RunEvent]:
        running = asyncio.Barrier(3)

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            await running.wait()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = ToolBench(tmp_path, made_tool("t", work))
        task = asyncio.ensure_future(
            bench.execute(admitted_call("t", "a"), admitted_call("t", "b"))
        )
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert bench.permits.in_use == 0
        return bench.events

    events = asyncio.run(scenario())
    assert {e.tool_call_id for e in events if isinstance(e, ToolCompleted)} == {"a", "b"}


def test_the_budget_limits_what_runs_at_once(tmp_path: Path) -> None:
    inside, most = 0, 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await turn_the_loop()
        inside -= 1
        return ToolOutput("")

    bench = ToolBench(tmp_path, made_tool("t", work), permits=2)
    bench.results(*(admitted_call("t", str(n)) for n in range(7)))
    assert most == 2
    assert bench.permits.in_use == 0


def test_no_permit_is_lost_to_a_call_that_is_cancelled_while_it_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        bench = ToolBench(tmp_path, made_tool("t", say), permits=1)
        assert bench.permits.try_take()
        waiting = [
            asyncio.ensure_future(bench.execute(admitted_call("t", str(n)))) for n in range(3)
        ]
        await turn_the_loop()
        assert bench.permits.waiting == 3
        waiting[0].cancel()
        bench.permits.give_back()
        waiting[1].cancel()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 20)
        assert isinstance(ended[0], asyncio.CancelledError)
        assert isinstance(ended[1], asyncio.CancelledError)
        assert not isinstance(ended[2], BaseException)
        assert bench.permits.in_use == 0

    asyncio.run(scenario())


def test_a_long_wait_for_a_lock_is_told(tmp_path: Path) -> None:
    async def scenario() -> list[RunEvent]:
        now = 0.0
        entered, leave = asyncio.Event(), asyncio.Event()

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            entered.set()
            await leave.wait()
            return ToolOutput("")

        bench = ToolBench(tmp_path)
        runner = ToolRunner(
            ToolRegistry([made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE)]),
            emit=bench.events.append,
            journal=bench.journal,
            permits=bench.permits,
            services=services(tmp_path),
            retry_policy=RetryPolicy(),
            monotonic=lambda: now,
        )
        first = asyncio.ensure_future(runner.execute_batch(batch_of([admitted_call("w", "1")])))
        await entered.wait()
        second = asyncio.ensure_future(
            runner.execute_batch(batch_of([admitted_call("w", "2", "m")], "m"))
        )
        await turn_the_loop()
        now = 0.25
        leave.set()
        await asyncio.gather(first, second)
        return bench.events

    waits = [e for e in asyncio.run(scenario()) if isinstance(e, PhaseTimed)]
    assert PhaseTimed("tool-wait", "w", 250, "m") in waits
    assert sum(e.phase == "tool-wait" for e in waits) == 1

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engine.graph.workflow import RetryPolicy
from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.events import (
    FileChanged,
    PhaseTimed,
    RunEvent,
    ToolCompleted,
    ToolRetrying,
    ToolStarted,
)
from engine.vocabulary.tools import (
    FileChangeOp,
    FileChangeRecord,
    JsonObject,
    ReadRecord,
    ToolAccessPolicy,
    ToolCall,
    ToolConcurrency,
    ToolDefinition,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import CallIntent, CallResult, MemoryJournal
from orchestration.runs.limits import Permits
from orchestration.tools.builtin.read import READ
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.paths import Workspace

Work = Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]

SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"path": {"type": "string"}, "count": {"type": "integer"}},
}


def tool(
    name: str,
    work: Work,
    concurrency: ToolConcurrency = ToolConcurrency.SHARED,
    tier: ToolTier = ToolTier.READ,
    keys: Callable[[JsonObject], tuple[str, ...]] | None = None,
) -> Tool:
    return Tool(ToolDefinition(name, name, SCHEMA, tier, concurrency), work, keys)


def call(name: str, identity: str = "c1", node: str = "n", **arguments: Any) -> AdmittedCall:
    return AdmittedCall(ToolCall(identity, name, arguments), call_digest((node,), name, arguments))


async def say(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    return ToolOutput(f"{context.call_id} {arguments}")


async def turn_the_loop() -> None:
    """Let every task go on until it waits for something that only the test can bring about."""
    for _ in range(10):
        await asyncio.sleep(0)


class Bench:
    def __init__(
        self, root: Path, *tools: Tool, permits: int = 16, policy: RetryPolicy | None = None
    ) -> None:
        self.events: list[RunEvent] = []
        self.journal = MemoryJournal()
        self.permits = Permits(permits)
        self.pauses: list[float] = []
        self.runner = ToolRunner(
            ToolRegistry(tools),
            emit=self.events.append,
            journal=self.journal,
            permits=self.permits,
            workspace=Workspace(root),
            retry_policy=policy or RetryPolicy(),
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def execute(
        self, *calls: AdmittedCall, policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION
    ) -> Coroutine[Any, Any, tuple[tuple[ToolResult, ...], ToolEffects]]:
        return self.runner.execute_batch("n", "N", calls, policy)

    def results(self, *calls: AdmittedCall, **options: Any) -> tuple[ToolResult, ...]:
        return asyncio.run(self.execute(*calls, **options))[0]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def test_a_call_is_recorded_told_run_recorded_and_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    (result,) = bench.results(call("say", path="x"))
    assert result == ToolResult("c1", "say", "c1 {'path': 'x'}")
    assert bench.kinds() == ["ToolStarted", "ToolCompleted"]
    assert bench.journal.tool_facts == [
        CallIntent("n", call("say", path="x")),
        CallResult("n", result),
    ]


def test_the_read_tool_works_through_the_runner(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    bench = Bench(tmp_path, READ)
    results, effects = asyncio.run(bench.execute(call("read", path="a.txt")))
    assert results[0].content.endswith("\n1:hello")
    assert effects.reads == (ReadRecord("a.txt"),)
    assert effects.read_call_paths == ("a.txt",)


def test_neighbours_that_share_run_side_by_side_and_answer_in_order(tmp_path: Path) -> None:
    async def scenario() -> tuple[ToolResult, ...]:
        second_began = asyncio.Event()

        async def first(_: JsonObject, __: ToolContext) -> ToolOutput:
            await second_began.wait()
            return ToolOutput("first")

        async def second(_: JsonObject, __: ToolContext) -> ToolOutput:
            second_began.set()
            return ToolOutput("second")

        bench = Bench(tmp_path, tool("first", first), tool("second", second))
        results, _ = await bench.execute(call("first", "a"), call("second", "b"))
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

    bench = Bench(
        tmp_path,
        tool("look", work),
        tool("change", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE),
    )
    bench.results(call("look", "a"), call("look", "b"), call("change", "c"), call("look", "d"))
    assert order[4:] == ["+c", "-c", "+d", "-d"]
    assert sorted(order[:4]) == ["+a", "+b", "-a", "-b"]
    timed = [event for event in bench.events if isinstance(event, PhaseTimed)]
    assert [(event.phase, event.label, event.node_id) for event in timed] == [
        ("tool", "change", "n")
    ]


def test_calls_of_two_nodes_on_one_key_exclude_each_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most = 0

    async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
        nonlocal most
        inside.append(1)
        most = max(most, len(inside))
        await turn_the_loop()
        inside.pop()
        return ToolOutput("")

    def key(arguments: JsonObject) -> tuple[str, ...]:
        return (f"path:{arguments['path']}",)

    async def scenario(second_path: str) -> None:
        bench = Bench(tmp_path, tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, key))
        await asyncio.gather(
            bench.runner.execute_batch(
                "n", "N", [call("w", "1", path="a")], ToolAccessPolicy.EXECUTION
            ),
            bench.runner.execute_batch(
                "m", "M", [call("w", "2", "m", path=second_path)], ToolAccessPolicy.EXECUTION
            ),
        )

    asyncio.run(scenario("a"))
    assert most == 1
    asyncio.run(scenario("b"))
    assert most == 2


def test_a_node_exclusive_tool_runs_once_a_node_at_a_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        both = asyncio.Barrier(2)

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            await both.wait()
            return ToolOutput("")

        bench = Bench(tmp_path, tool("sh", work, ToolConcurrency.NODE_EXCLUSIVE, ToolTier.WRITE))
        await asyncio.gather(
            bench.execute(call("sh", "1")),
            bench.runner.execute_batch(
                "m", "M", [call("sh", "2", "m")], ToolAccessPolicy.EXECUTION
            ),
        )

    asyncio.run(scenario())


def test_arguments_that_changed_after_the_decision_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    decided = call("say", path="x")
    other = AdmittedCall(ToolCall("c1", "say", {"path": "y"}), decided.digest)
    (result,) = bench.results(other)
    assert result.is_error
    assert result.content.startswith("[permission_denied]")
    assert bench.kinds() == ["ToolCompleted"]
    assert bench.journal.tool_facts == []


def test_a_decision_for_another_node_does_not_count(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    (result,) = bench.results(call("say", node="m"))
    assert result.content.startswith("[permission_denied]")


def test_an_unknown_tool_is_an_error_result_and_the_rest_runs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    first, second = bench.results(call("nope", "a"), call("say", "b"))
    assert first.is_error
    assert "'nope'" in first.content
    assert not second.is_error


def test_a_writing_tool_is_refused_while_planning(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("w", say, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE))
    (result,) = bench.results(call("w"), policy=ToolAccessPolicy.PLANNING)
    assert result.content.startswith("[permission_denied]")


def test_bad_arguments_are_an_error_result_that_names_the_place(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    (result,) = bench.results(call("say", path=["x"]))
    assert result.is_error
    assert result.content.startswith("[invalid_args] say: ")
    assert "path" in result.content
    assert bench.kinds() == ["ToolCompleted"]


def test_a_number_in_quotes_is_taken_as_the_schema_says(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    (result,) = bench.results(call("say", count="5"))
    assert result.content == "c1 {'count': 5}"


def test_arguments_that_could_not_be_decoded_never_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, tool("say", say))
    unreadable = AdmittedCall(
        ToolCall("c1", "say", {}, arguments_error="an unterminated string"),
        call_digest(("n",), "say", {}),
    )
    (result,) = bench.results(unreadable)
    assert result.content.startswith("[invalid_args] say: an unterminated string")


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (ToolFailure(FailureKind.TIMEOUT, "slow"), 4),
        (ToolFailure(FailureKind.FAILED, "HTTP 503"), 4),
        (ToolFailure(FailureKind.FAILED, "no", "Connection Reset by peer"), 4),
        (ToolFailure(FailureKind.FAILED, "no such thing"), 1),
        (ToolFailure(FailureKind.INVALID_ARGS, "timeout must be a number"), 1),
        (TimeoutError(), 4),
        (PermissionError(13, "Permission denied"), 1),
    ],
)
def test_only_what_may_pass_is_tried_again(tmp_path: Path, failure: Exception, tries: int) -> None:
    count = 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal count
        count += 1
        raise failure

    bench = Bench(tmp_path, tool("t", work))
    (result,) = bench.results(call("t"))
    assert result.is_error
    assert count == tries
    retries = [event for event in bench.events if isinstance(event, ToolRetrying)]
    assert [(r.attempt, r.backoff_ms) for r in retries] == [(1, 1000), (2, 2000), (3, 4000)][
        : tries - 1
    ]
    assert bench.pauses == [r.backoff_ms / 1000 for r in retries]
    assert len([e for e in bench.events if isinstance(e, ToolStarted)]) == 1


def test_a_retry_that_works_gives_the_result(tmp_path: Path) -> None:
    answers: list[ToolOutput | Exception] = [TimeoutError(), ToolOutput("ok")]

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    (result,) = Bench(tmp_path, tool("t", work)).results(call("t"))
    assert (result.content, result.is_error) == ("ok", False)


def test_a_bug_in_a_tool_is_logged_and_told_without_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        raise KeyError("secret")

    with caplog.at_level(logging.ERROR):
        (result,) = Bench(tmp_path, tool("t", work)).results(call("t"))
    assert result.content == "[failed] t broke off: KeyError"
    assert "the tool 't' has a bug" in caplog.text


def test_a_long_output_is_cut_in_result_and_event(tmp_path: Path) -> None:
    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        return ToolOutput("é" * 60_000)

    bench = Bench(tmp_path, tool("t", work))
    (result,) = bench.results(call("t"))
    assert result.output_meta is not None
    assert result.output_meta.truncation is not None
    assert result.output_meta.truncation.total_bytes == 120_000
    completed = bench.events[-1]
    assert isinstance(completed, ToolCompleted)
    assert completed.content == result.content
    assert completed.output_meta == result.output_meta


def test_file_changes_are_told_before_the_call_is_complete(tmp_path: Path) -> None:
    record = FileChangeRecord("a.txt", FileChangeOp.CREATE, 1)

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        return ToolOutput("done", effects=ToolEffects(file_changes=(record,)))

    bench = Bench(tmp_path, tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE))
    _, effects = asyncio.run(bench.execute(call("w")))
    assert effects.file_changes == (record,)
    assert [e for e in bench.events if isinstance(e, FileChanged | ToolCompleted)] == [
        FileChanged("n", record),
        ToolCompleted("n", "c1", "w", "done"),
    ]


def test_cancelling_ends_the_call_tells_it_and_frees_what_it_held(tmp_path: Path) -> None:
    async def scenario() -> Bench:
        began = asyncio.Event()

        async def work(arguments: JsonObject, _: ToolContext) -> ToolOutput:
            if "count" in arguments:
                return ToolOutput("after")
            began.set()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = Bench(
            tmp_path, tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE), permits=1
        )
        task = asyncio.ensure_future(bench.execute(call("w", "a"), call("w", "b")))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        results, _ = await asyncio.wait_for(bench.execute(call("w", "c", count=1)), 5)
        assert results[0].content == "after"
        return bench

    bench = asyncio.run(scenario())
    assert bench.permits.in_use == 0
    completed = [e for e in bench.events if isinstance(e, ToolCompleted)]
    assert [(e.tool_call_id, e.is_error) for e in completed] == [("a", True), ("c", False)]
    assert completed[0].content.startswith("[cancelled]")
    assert not any(
        isinstance(fact, CallResult) and fact.result.call_id == "a"
        for fact in bench.journal.tool_facts
    )


def test_cancelling_ends_all_that_run_side_by_side(tmp_path: Path) -> None:
    async def scenario() -> list[RunEvent]:
        running = asyncio.Barrier(3)

        async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
            await running.wait()
            await asyncio.Event().wait()
            return ToolOutput("never")

        bench = Bench(tmp_path, tool("t", work))
        task = asyncio.ensure_future(bench.execute(call("t", "a"), call("t", "b")))
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

    bench = Bench(tmp_path, tool("t", work), permits=2)
    bench.results(*(call("t", str(n)) for n in range(7)))
    assert most == 2
    assert bench.permits.in_use == 0


def test_no_permit_is_lost_to_a_call_that_is_cancelled_while_it_waits(tmp_path: Path) -> None:
    async def scenario() -> None:
        bench = Bench(tmp_path, tool("t", say), permits=1)
        assert bench.permits.try_take()
        waiting = [asyncio.ensure_future(bench.execute(call("t", str(n)))) for n in range(3)]
        await turn_the_loop()
        assert bench.permits.waiting == 3
        waiting[0].cancel()
        bench.permits.give_back()
        waiting[1].cancel()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)
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

        bench = Bench(tmp_path)
        runner = ToolRunner(
            ToolRegistry([tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE)]),
            emit=bench.events.append,
            journal=bench.journal,
            permits=bench.permits,
            workspace=Workspace(tmp_path),
            retry_policy=RetryPolicy(),
            monotonic=lambda: now,
        )
        policy = ToolAccessPolicy.EXECUTION
        first = asyncio.ensure_future(runner.execute_batch("n", "N", [call("w", "1")], policy))
        await entered.wait()
        second = asyncio.ensure_future(
            runner.execute_batch("m", "M", [call("w", "2", "m")], policy)
        )
        await turn_the_loop()
        now = 0.25
        leave.set()
        await asyncio.gather(first, second)
        return bench.events

    waits = [e for e in asyncio.run(scenario()) if isinstance(e, PhaseTimed)]
    assert PhaseTimed("tool-wait", "w", 250, "m") in waits
    assert sum(e.phase == "tool-wait" for e in waits) == 1

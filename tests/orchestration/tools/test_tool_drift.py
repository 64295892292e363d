"""A call runs as it was allowed, or not at all (R07)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall, InspectCalls
from engine.vocabulary.tools import (
    CallInspection,
    CallPreview,
    JsonObject,
    ToolCall,
    ToolConcurrency,
    ToolResult,
    ToolTier,
)
from orchestration.tools.tool import (
    FailureKind,
    Inspected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, bound_call, made_tool, say


def path_argument(arguments: JsonObject) -> tuple[str, ...]:
    return (str(arguments["path"]),)


def file_tool(root: Path, ran: list[str]) -> Tool:
    """Its target is the text of the file at `path`."""

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        ran.append(context.call_id)
        return ToolOutput("done")

    async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
        file = root / str(arguments["path"])
        if not file.exists():
            raise ToolFailure(FailureKind.NOT_FOUND, "there is no such file")
        return Inspected((file.read_text(),), CallPreview(cwd="."))

    return made_tool(
        "w",
        run,
        ToolConcurrency.EXCLUSIVE,
        ToolTier.WRITE,
        path_argument,
        inspect=inspect,
    )


def test_arguments_that_changed_after_the_decision_are_put_before_a_person_again(
    tmp_path: Path,
) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    decided = admitted_call("say", path="x")
    other = AdmittedCall(ToolCall("c1", "say", {"path": "y"}), decided.digest)
    (result,) = bench.results(other)
    assert result.drifted
    assert result.is_error
    assert bench.events == []
    assert bench.journal.tool_facts == []


def test_a_decision_for_another_node_does_not_count(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    (result,) = bench.results(admitted_call("say", node="m"))
    assert result.drifted


def test_a_decision_for_the_node_is_none_for_its_subagent(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    of_node = batch_of([admitted_call("say", "a", "n")])
    inside = call_digest(("n", "s"), "say", {})
    of_subagent = AdmittedCall(ToolCall("b", "say", {}), inside)

    async def scenario() -> list[ToolResult]:
        results: list[ToolResult] = []
        for calls, path in [(of_node.calls, ("n", "s")), ((of_subagent,), ("n", "s"))]:
            batch = type(of_node)("n/s", "S", "n/s#1", calls, path=path)
            results += (await bench.runner.execute_batch(batch))[0]
        return results

    first, second = asyncio.run(scenario())
    assert first.drifted
    assert not second.drifted


def test_a_file_that_changed_after_the_decision_is_left_alone(tmp_path: Path) -> None:
    ran: list[str] = []
    (tmp_path / "a.txt").write_text("new")
    bench = ToolBench(tmp_path, file_tool(tmp_path, ran))
    (result,) = bench.results(bound_call("w", ("old",), path="a.txt"))
    assert (result.drifted, ran, bench.events, bench.journal.tool_facts) == (True, [], [], [])
    (result,) = bench.results(bound_call("w", ("new",), path="a.txt"))
    assert (result.drifted, result.is_error, ran) == (False, False, ["c1"])


def test_a_file_that_went_after_the_decision_is_a_change_too(tmp_path: Path) -> None:
    ran: list[str] = []
    bench = ToolBench(tmp_path, file_tool(tmp_path, ran))
    (result,) = bench.results(bound_call("w", ("old",), path="a.txt"))
    assert result.drifted
    assert ran == []


def test_what_was_certain_to_fail_when_it_was_allowed_fails(tmp_path: Path) -> None:
    ran: list[str] = []
    bench = ToolBench(tmp_path, file_tool(tmp_path, ran))
    (result,) = bench.results(bound_call("w", (), path="a.txt"))
    assert not result.drifted
    assert ran == ["c1"]


@pytest.mark.parametrize("targets", [None, (), ("old",)])
def test_a_look_that_breaks_off_costs_no_other_call_its_result(
    tmp_path: Path, targets: tuple[str, ...] | None
) -> None:
    """`None`: nobody was asked."""
    ran: list[str] = []

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        ran.append(context.call_id)
        return ToolOutput("done")

    async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
        raise OverflowError

    exclusive, write = ToolConcurrency.EXCLUSIVE, ToolTier.WRITE
    tool = made_tool("w", run, exclusive, write, path_argument, inspect=inspect)
    bench = ToolBench(tmp_path, tool, made_tool("say", say))
    call = admitted_call("w", path="x") if targets is None else bound_call("w", targets, path="x")
    said, result = bench.results(admitted_call("say", "c0"), call)
    assert not said.is_error
    assert result.drifted is (targets == ("old",))
    assert ran == ([] if result.drifted else ["c1"])


def test_the_target_is_looked_up_once_the_call_has_its_path_for_itself(tmp_path: Path) -> None:
    """The call before it changes the file, so it is no longer what the second was allowed for."""
    (tmp_path / "a.txt").write_text("old")
    ran: list[str] = []
    tool = file_tool(tmp_path, ran)

    async def scenario() -> tuple[ToolResult, ...]:
        writing, go_on = asyncio.Event(), asyncio.Event()

        async def write(arguments: JsonObject, context: ToolContext) -> ToolOutput:
            writing.set()
            await go_on.wait()
            (tmp_path / "a.txt").write_text("new")
            return ToolOutput("written")

        first = made_tool("f", write, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, path_argument)
        bench = ToolBench(tmp_path, first, tool)
        other = admitted_call("f", "x", "m", path="./a.txt")
        writer = asyncio.create_task(bench.runner.execute_batch(batch_of([other], "m")))
        await writing.wait()
        waiting = asyncio.create_task(bench.execute(bound_call("w", ("old",), path="a.txt")))
        await asyncio.sleep(0)
        go_on.set()
        await writer
        return (await waiting)[0]

    (result,) = asyncio.run(scenario())
    assert result.drifted
    assert ran == []


def test_an_inspection_says_of_each_call_what_it_touches(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    bench = ToolBench(tmp_path, file_tool(tmp_path, []), made_tool("say", say))

    def call(name: str, tool: str, **arguments: Any) -> ToolCall:
        return ToolCall(name, tool, arguments)

    inspections = asyncio.run(
        bench.runner.inspect(
            InspectCalls(
                "n",
                "n#1",
                (
                    call("1", "w", path="a.txt"),
                    call("2", "w", path="b.txt"),
                    call("3", "say"),
                    call("4", "nope"),
                    call("5", "w", path=["a.txt"]),
                ),
            )
        )
    )
    assert inspections[0] == CallInspection("1", ("text",), CallPreview(cwd="."))
    problem = "[not_found] there is no such file"
    assert inspections[1] == CallInspection("2", (), CallPreview(problem=problem))
    assert inspections[2] == CallInspection("3")
    problems = [inspection.preview.problem for inspection in inspections[3:] if inspection.preview]
    assert problems[0] == "[not_found] there is no tool 'nope'"
    assert problems[1] is not None
    assert problems[1].startswith("[invalid_args] w: ")
    assert (bench.events, bench.journal.tool_facts) == ([], [])


def test_calls_are_inspected_at_the_same_time(tmp_path: Path) -> None:
    async def scenario() -> tuple[CallInspection, ...]:
        both = asyncio.Barrier(2)

        async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
            await both.wait()
            return Inspected((context.call_id,))

        bench = ToolBench(tmp_path, made_tool("t", say, inspect=inspect))
        calls = (ToolCall("1", "t", {}), ToolCall("2", "t", {}))
        batch = InspectCalls("n", "n#1", calls)
        return await asyncio.wait_for(bench.runner.inspect(batch), 20)

    assert [found.targets for found in asyncio.run(scenario())] == [("1",), ("2",)]


def test_a_bug_in_an_inspection_is_a_problem_that_a_person_sees(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
        raise KeyError("secret")

    bench = ToolBench(tmp_path, made_tool("t", say, inspect=inspect))
    batch = InspectCalls("n", "n#1", (ToolCall("1", "t", {}),))
    (found,) = asyncio.run(bench.runner.inspect(batch))
    assert found.preview == CallPreview(problem="[failed] t broke off: KeyError")
    assert "the tool 't' has a bug" in caplog.text

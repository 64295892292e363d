"""Calls that are looked up for a person, beside others that run; and the work of subagents."""

import asyncio
from collections.abc import Sequence

import pytest

from engine.vocabulary.effects import CancelWork, Effect, InspectCalls, Step
from engine.vocabulary.events import UsageReported
from engine.vocabulary.inputs import (
    CallsInspected,
    EngineInput,
    HumanAnswered,
    Started,
    ToolsFinished,
)
from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import NO_EFFECTS, CallInspection, ToolCall, ToolEffects, ToolResult
from tests.support.loop_harness import (
    DONE,
    PAUSED,
    Harness,
    answer_at_once,
    batch_of,
    model_call,
    never,
    run,
)


def inspection_of(node_id: str = "a") -> InspectCalls:
    return InspectCalls(node_id, "b2", (ToolCall("d", "write", {}),))


def test_calls_are_looked_up_while_earlier_ones_of_the_same_node_run() -> None:
    async def body() -> None:
        both = asyncio.Barrier(2)

        async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
            await both.wait()
            return (ToolResult("c", "read", "text"),), NO_EFFECTS

        async def inspect(node_id: str) -> tuple[CallInspection, ...]:
            await both.wait()
            return (CallInspection("d", ("target",)),)

        answered: list[EngineInput] = []

        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (batch_of(), inspection_of())
            answered.append(given)
            return (DONE,) if len(answered) == 2 else ()

        harness = Harness(react, batch=batch, inspect=inspect)
        harness.loop.start()
        await asyncio.wait_for(harness.loop.settled(), 20)
        inspected = next(given for given in answered if isinstance(given, CallsInspected))
        assert (inspected.node_id, inspected.batch_id) == ("a", "b2")
        assert inspected.inspections == (CallInspection("d", ("target",)),)
        assert any(isinstance(given, ToolsFinished) for given in answered)

    run(body)


def test_cancelling_a_node_ends_its_calls_and_its_looking_up() -> None:
    async def body() -> None:
        begun = asyncio.Barrier(3)
        ended: list[str] = []

        async def at_work(what: str) -> None:
            try:
                await begun.wait()
                await never(what)
            finally:
                ended.append(what)

        async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
            await at_work("batch")
            return (), NO_EFFECTS

        async def inspect(node_id: str) -> tuple[CallInspection, ...]:
            await at_work("inspection")
            return ()

        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (batch_of(), inspection_of())
            return (CancelWork("a"), DONE)

        harness = Harness(react, batch=batch, inspect=inspect)
        harness.loop.start()
        await asyncio.wait_for(begun.wait(), 20)
        await harness.loop.ask(HumanAnswered("a", "enough", 1.0))
        await harness.loop.stop()
        assert sorted(ended) == ["batch", "inspection"]
        assert harness.cancelled == ["a"]
        assert harness.inputs() == ["Started", "HumanAnswered"]

    run(body)


def test_a_subagent_is_cancelled_by_its_own_id() -> None:
    async def body() -> None:
        begun = asyncio.Barrier(3)
        ended: list[str] = []

        async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
            try:
                await begun.wait()
                await never(node_id)
            finally:
                ended.append(node_id)
            return (), NO_EFFECTS

        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (batch_of("a/x"), batch_of("a/y"))
            return (CancelWork("a/x"), PAUSED)

        harness = Harness(react, batch=batch)
        harness.loop.start()
        await asyncio.wait_for(begun.wait(), 20)
        await harness.loop.ask(HumanAnswered("a", "enough", 1.0))
        for _ in range(5):
            await asyncio.sleep(0)
        assert ended == ["a/x"]
        await harness.loop.stop()
        assert ended == ["a/x", "a/y"]

    run(body)


def test_an_inspection_that_breaks_off_says_nothing_and_holds_nobody_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body() -> None:
        async def inspect(node_id: str) -> tuple[CallInspection, ...]:
            raise KeyError("bug")

        def react(given: EngineInput) -> Sequence[Effect]:
            return (inspection_of(),) if isinstance(given, Started) else (DONE,)

        harness = Harness(react, inspect=inspect)
        harness.loop.start()
        await harness.loop.settled()
        inspected = harness.engine.inputs[1]
        assert isinstance(inspected, CallsInspected)
        assert inspected.inspections == ()

    run(body)
    assert "could not be inspected" in caplog.text


def test_usage_of_a_subagent_keeps_the_node_that_it_counts_to() -> None:
    async def body() -> None:
        usage = Usage(10, 5)

        def react(given: EngineInput) -> Step | Sequence[Effect]:
            if isinstance(given, Started):
                return (model_call("a/x"),)
            return Step((DONE,), (UsageReported("a/x", usage, "m", parent_id="a"),))

        harness = Harness(react, call=answer_at_once)
        harness.loop.start()
        await harness.loop.settled()
        assert harness.events == [UsageReported("a/x", usage, "m", 4096, "a")]

    run(body)


def test_the_end_of_a_run_is_told_once_and_a_pause_is_none() -> None:
    async def body() -> None:
        harness = Harness(lambda given: (PAUSED,) if isinstance(given, Started) else (DONE,))
        harness.loop.start()
        await harness.loop.settled()
        assert harness.times_over == 0
        await harness.loop.ask(HumanAnswered("a", "go", 1.0))
        assert harness.times_over == 1
        await harness.loop.stop()
        assert harness.times_over == 1

    run(body)

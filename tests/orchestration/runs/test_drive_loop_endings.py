"""How work and runs end: cancelled, stopped, broken."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

import pytest

from engine.vocabulary.effects import (
    CallModel,
    CancelWork,
    Effect,
    Wait,
)
from engine.vocabulary.errors import (
    CallInterrupted,
    RequestFailure,
    RunIsOver,
)
from engine.vocabulary.events import Aborted, RunError
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    ModelReplied,
    NodeInterruptAsked,
    Started,
    ToolsFinished,
)
from engine.vocabulary.messages import MessageTurn, TurnOutcome
from engine.vocabulary.report import (
    RunCancelled,
    RunFailed,
)
from engine.vocabulary.tools import NO_EFFECTS, ToolEffects, ToolResult
from orchestration.runs import drive_loop
from tests.support.loop_harness import (
    DONE,
    PAUSED,
    Harness,
    answer_at_once,
    batch_of,
    model_call,
    never,
    on_start,
    run,
)


def call_then_batch(given: EngineInput) -> Sequence[Effect]:
    """A model call, then a tool batch, then the end."""
    if isinstance(given, Started):
        return (model_call(),)
    return (batch_of(),) if isinstance(given, ModelReplied) else (DONE,)


def test_cancelled_work_is_cancelled_on_the_wire_and_its_end_is_not_fed() -> None:
    async def body() -> None:
        ended: list[str] = []
        begun = asyncio.Event()

        async def call(effect: CallModel) -> TurnOutcome:
            begun.set()
            try:
                return await never(effect)  # type: ignore[no-any-return]
            finally:
                ended.append(effect.node_id)

        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (model_call("a"), Wait("b", given.at + 3600))
            return (CancelWork("a"), CancelWork("b"), CancelWork("nobody"), PAUSED)

        harness = Harness(react, call=call)
        harness.loop.start()
        await begun.wait()
        await harness.loop.ask(NodeInterruptAsked("a", 1.0))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert ended == ["a"]
        assert harness.budget.provider_calls.in_use == 0
        assert harness.inputs() == ["Started", "NodeInterruptAsked"]

    run(body)


def test_stopping_cancels_what_runs_waits_and_sleeps_and_then_says_so() -> None:
    async def body() -> None:
        begun = asyncio.Event()
        cancelled = 0

        async def call(effect: CallModel) -> TurnOutcome:
            nonlocal cancelled
            begun.set()
            try:
                return await never(effect)  # type: ignore[no-any-return]
            except asyncio.CancelledError:
                cancelled += 1
                raise

        harness = Harness(
            lambda given: [
                *(model_call(f"n{number}") for number in range(5)),
                batch_of("t"),
                Wait("w", 4e9),
            ],
            call=call,
            batch=never,
        )
        harness.loop.start()
        await begun.wait()
        first, second = asyncio.ensure_future(harness.loop.stop()), harness.loop.stop()
        await second
        await first
        assert cancelled == 2
        assert harness.inputs() == ["Started", "Stopped"]
        assert harness.events == [Aborted()]
        assert isinstance(await harness.loop.settled(), RunCancelled)
        assert (harness.budget.provider_calls.in_use, harness.budget.provider_calls.waiting) == (
            0,
            0,
        )
        await harness.loop.stop()
        assert harness.inputs() == ["Started", "Stopped"]

    run(body)


def test_what_still_ends_while_the_run_is_stopped_is_kept_but_starts_nothing_new() -> None:
    async def body() -> None:
        begun = asyncio.Event()

        async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
            begun.set()
            with contextlib.suppress(asyncio.CancelledError):
                await never(node_id)  # a write that was under way and cannot be undone
            return (ToolResult("c", "write", "written"),), NO_EFFECTS

        def react(given: EngineInput) -> Sequence[Effect]:
            return (batch_of(),) if isinstance(given, Started) else (model_call(),)

        harness = Harness(react, call=answer_at_once, batch=batch)
        harness.loop.start()
        await begun.wait()
        await harness.loop.stop()
        assert harness.inputs() == ["Started", "ToolsFinished", "Stopped"]

    run(body)


def test_stopping_takes_no_longer_than_its_limit_whoever_refuses_to_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(drive_loop, "STOP_WITHIN_S", 0.05)

    async def body() -> None:
        let_go, begun = asyncio.Event(), asyncio.Event()

        async def call(effect: CallModel) -> TurnOutcome:
            begun.set()
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue
            return MessageTurn("late")

        harness = Harness(on_start(model_call("mule")), call=call)
        harness.loop.start()
        await begun.wait()
        with caplog.at_level(logging.WARNING):
            await harness.loop.stop()
        assert harness.loop.is_over
        let_go.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert harness.inputs() == ["Started", "Stopped"]

    run(body)
    assert "mule" in caplog.text


def test_nobody_is_heard_while_the_run_is_being_stopped() -> None:
    async def body() -> None:
        begun = asyncio.Event()

        async def call(effect: CallModel) -> TurnOutcome:
            begun.set()
            return await never(effect)  # type: ignore[no-any-return]

        harness = Harness(on_start(model_call()), call=call)
        harness.loop.start()
        await begun.wait()
        stopping = asyncio.ensure_future(harness.loop.stop())
        await asyncio.sleep(0)
        with pytest.raises(RunIsOver):
            await harness.loop.ask(HumanAnswered("a", "x", 1.0))
        await stopping

    run(body)


def test_an_engine_that_fails_ends_the_run_and_leaves_nothing_running(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def body() -> None:
        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (model_call("a"), model_call("b"), Wait("w", 4e9))
            raise KeyError("a bug")

        async def call(effect: CallModel) -> TurnOutcome:
            return await (answer_at_once if effect.node_id == "a" else never)(effect)

        harness = Harness(react, call=call)
        harness.loop.start()
        outcome = await harness.loop.settled()
        assert isinstance(outcome, RunFailed)
        assert harness.events == [RunError(outcome.message)]
        assert "KeyError" in outcome.message
        with pytest.raises(RunIsOver):
            await harness.loop.ask(HumanAnswered("a", "x", 1.0))
        await harness.loop.stop()
        assert harness.budget.provider_calls.in_use == 0

    with caplog.at_level(logging.ERROR):
        run(body)
    assert "a bug" in caplog.text


def test_a_call_that_breaks_off_fails_its_node_and_not_the_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def call(effect: CallModel) -> TurnOutcome:
        raise LookupError("secret detail")

    async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        raise LookupError("secret detail")

    async def body() -> None:
        harness = Harness(call_then_batch, call=call, batch=batch)
        harness.loop.start()
        await harness.loop.settled()
        _, replied, finished = harness.engine.inputs
        assert isinstance(replied, ModelReplied)
        assert isinstance(replied.reply, RequestFailure)
        assert "secret" not in replied.reply.message
        assert isinstance(finished, ToolsFinished)
        assert finished.results == ()

    with caplog.at_level(logging.ERROR):
        run(body)
    assert len(caplog.records) == 2


def test_a_call_that_is_cancelled_by_somebody_else_counts_as_interrupted() -> None:
    async def call(effect: CallModel) -> TurnOutcome:
        raise asyncio.CancelledError

    async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        raise asyncio.CancelledError

    async def body() -> None:
        harness = Harness(call_then_batch, call=call, batch=batch)
        harness.loop.start()
        await harness.loop.settled()
        replied = harness.engine.inputs[1]
        assert isinstance(replied, ModelReplied)
        assert replied.reply == CallInterrupted()
        assert harness.inputs() == ["Started", "ModelReplied", "ToolsFinished"]

    run(body)

"""Inputs, effects and answers, one at a time."""

import asyncio
import itertools
from collections.abc import Sequence

import pytest

from engine.vocabulary.effects import (
    CallModel,
    Effect,
    Step,
    Wait,
)
from engine.vocabulary.errors import (
    NoNodeAwaiting,
    RunIsOver,
)
from engine.vocabulary.events import NodeQueued, UsageReported
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    ModelReplied,
    Started,
    TimerFired,
    ToolsFinished,
)
from engine.vocabulary.messages import MessageTurn, TurnOutcome, Usage
from engine.vocabulary.report import (
    NeedsInteraction,
    RunCompleted,
)
from engine.vocabulary.tools import ToolEffects, ToolResult
from orchestration.runs.drive_loop import INPUTS_A_TURN
from tests.support.loop_harness import (
    DONE,
    PAUSED,
    Harness,
    answer_at_once,
    batch_of,
    model_call,
    on_start,
    run,
)


def test_a_model_call_is_made_and_its_reply_fed() -> None:
    async def body() -> None:
        harness = Harness(on_start(model_call()), call=answer_at_once)
        harness.loop.start()
        assert isinstance(await harness.loop.settled(), RunCompleted)
        assert harness.inputs() == ["Started", "ModelReplied"]
        replied = harness.engine.inputs[1]
        assert isinstance(replied, ModelReplied)
        assert (replied.node_id, replied.call) == ("a", 1)
        assert replied.reply == MessageTurn("from a")
        assert harness.loop.is_over
        assert harness.budget.provider_calls.in_use == 0

    run(body)


def test_a_tool_batch_is_run_and_its_results_fed() -> None:
    effects = ToolEffects(read_call_paths=("x",))

    async def batch(node_id: str) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        return (ToolResult("c", "read", "text"),), effects

    async def body() -> None:
        harness = Harness(on_start(batch_of()), batch=batch)
        harness.loop.start()
        await harness.loop.settled()
        finished = harness.engine.inputs[1]
        assert isinstance(finished, ToolsFinished)
        assert finished.batch_id == "b1"
        assert finished.results[0].content == "text"
        assert finished.effects is effects

    run(body)


def test_everything_fed_is_in_the_journal_first_and_in_order() -> None:
    async def body() -> None:
        def react(given: EngineInput) -> Sequence[Effect]:
            assert harness.journal.inputs[-1] is given
            return (model_call(),) if isinstance(given, Started) else (DONE,)

        harness = Harness(react, call=answer_at_once)
        harness.loop.start()
        await harness.loop.settled()
        assert harness.journal.inputs == harness.engine.inputs

    run(body)


def test_no_more_calls_are_made_at_once_than_there_are_permits() -> None:
    async def body() -> None:
        at_once, most, done = 0, 0, 0

        async def call(effect: CallModel) -> TurnOutcome:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0)
            at_once -= 1
            return MessageTurn("x")

        def react(given: EngineInput) -> Sequence[Effect]:
            nonlocal done
            if isinstance(given, Started):
                return [model_call(f"n{number}") for number in range(20)]
            done += 1
            return (DONE,) if done == 20 else ()

        harness = Harness(react, call=call)
        harness.loop.start()
        await harness.loop.settled()
        assert most == 2
        order = [
            given.node_id for given in harness.engine.inputs if isinstance(given, ModelReplied)
        ]
        assert order == [f"n{number}" for number in range(20)]

    run(body)


def test_a_refused_answer_goes_back_to_the_one_who_gave_it_and_the_run_goes_on() -> None:
    def react(given: EngineInput) -> Sequence[Effect]:
        if isinstance(given, HumanAnswered):
            if given.text == "bad":
                raise NoNodeAwaiting
            return (DONE,)
        return (PAUSED,)

    async def body() -> None:
        harness = Harness(react)
        harness.loop.start()
        assert isinstance(await harness.loop.settled(), NeedsInteraction)
        with pytest.raises(NoNodeAwaiting):
            await harness.loop.ask(HumanAnswered("a", "bad", 1.0))
        assert isinstance(harness.loop.outcome, NeedsInteraction)
        await harness.loop.ask(HumanAnswered("a", "good", 1.0))
        assert isinstance(await harness.loop.settled(), RunCompleted)
        with pytest.raises(RunIsOver):
            await harness.loop.ask(HumanAnswered("a", "late", 1.0))
        assert harness.inputs() == ["Started", "HumanAnswered", "HumanAnswered"]

    run(body)


def test_a_run_is_not_settled_while_an_answer_is_being_worked_on() -> None:
    async def body() -> None:
        gate = asyncio.Event()

        async def call(effect: CallModel) -> TurnOutcome:
            await gate.wait()
            return MessageTurn("x")

        def react(given: EngineInput) -> Sequence[Effect]:
            if isinstance(given, Started):
                return (PAUSED,)
            return (model_call(),) if isinstance(given, HumanAnswered) else (DONE,)

        harness = Harness(react, call=call)
        harness.loop.start()
        await harness.loop.settled()
        await harness.loop.ask(HumanAnswered("a", "go", 1.0))
        assert harness.loop.outcome is None
        waiting = asyncio.ensure_future(harness.loop.settled())
        await asyncio.sleep(0)
        assert not waiting.done()
        gate.set()
        assert isinstance(await waiting, RunCompleted)

    run(body)


def test_a_timer_fires_no_earlier_than_it_was_set_for() -> None:
    until = 0.0

    def react(given: EngineInput) -> Sequence[Effect]:
        nonlocal until
        if isinstance(given, Started):
            until = given.at + 0.02
            return (Wait("a", until),)
        return (DONE,)

    async def body() -> None:
        harness = Harness(react)
        harness.loop.start()
        await harness.loop.settled()
        fired = harness.engine.inputs[1]
        assert isinstance(fired, TimerFired)
        assert fired.at >= until

    run(body)


def test_a_usage_report_says_how_large_the_model_s_context_is() -> None:
    usage = Usage(prompt_tokens=1)

    def react(given: EngineInput) -> Step:
        return Step(
            (DONE,),
            (
                NodeQueued("a", "A"),
                UsageReported("a", usage, "m"),
                UsageReported("a", usage, "unknown"),
            ),
        )

    async def body() -> None:
        harness = Harness(react)
        harness.loop.start()
        await harness.loop.settled()
        assert harness.events == [
            NodeQueued("a", "A"),
            UsageReported("a", usage, "m", 4096),
            UsageReported("a", usage, "unknown"),
        ]

    run(body)


def test_a_crowd_of_results_does_not_keep_others_from_the_event_loop() -> None:
    async def body() -> None:
        fed = 0

        def react(given: EngineInput) -> Sequence[Effect]:
            nonlocal fed
            fed += 1
            return (DONE,) if fed == 1000 else ()

        harness = Harness(react)
        asked = [harness.loop.ask(HumanAnswered("a", str(number), 1.0)) for number in range(1000)]
        seen = []
        while not harness.loop.is_over:
            await asyncio.sleep(0)
            seen.append(fed)
        assert (
            max(after - before for before, after in itertools.pairwise(seen)) <= 2 * INPUTS_A_TURN
        )
        await asyncio.gather(*asked)

    run(body)

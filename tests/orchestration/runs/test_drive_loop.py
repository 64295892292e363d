import asyncio
import contextlib
import itertools
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from engine.vocabulary.effects import (
    AdmittedCall,
    CallModel,
    CancelWork,
    Effect,
    Finish,
    RunTools,
    Step,
    Wait,
)
from engine.vocabulary.errors import (
    CallFailure,
    CallInterrupted,
    NoNodeAwaiting,
    RequestFailure,
    RunIsOver,
)
from engine.vocabulary.events import Aborted, NodeQueued, RunError, RunEvent, UsageReported
from engine.vocabulary.inputs import (
    EngineInput,
    HumanAnswered,
    ModelReplied,
    NodeInterruptAsked,
    Started,
    Stopped,
    TimerFired,
    ToolsFinished,
)
from engine.vocabulary.messages import MessageTurn, TurnOutcome, Usage
from engine.vocabulary.report import (
    NeedsInteraction,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunReport,
)
from engine.vocabulary.tools import NO_EFFECTS, ToolAccessPolicy, ToolCall, ToolEffects, ToolResult
from orchestration.runs import drive_loop
from orchestration.runs.drive_loop import DriveLoop
from orchestration.runs.journal import MemoryJournal
from orchestration.runs.limits import Budget
from tests.support.requests import request_for

DONE = Finish(RunCompleted(RunReport("flow", ())))
PAUSED = Finish(NeedsInteraction())
OVER_BY_STOP = Step((Finish(RunCancelled()),), (Aborted(),))


class ScriptedEngine:
    """Gives the steps that a test wrote down for the inputs that it names by type."""

    def __init__(self, react: Callable[[EngineInput], Step | Sequence[Effect]]) -> None:
        self.inputs: list[EngineInput] = []
        self._react = react

    def feed(self, given: EngineInput) -> Step:
        self.inputs.append(given)
        if isinstance(given, Stopped):
            return OVER_BY_STOP
        reaction = self._react(given)
        return reaction if isinstance(reaction, Step) else Step(tuple(reaction))


class Harness:
    """A drive loop with everything around it in the test's hands."""

    def __init__(
        self,
        react: Callable[[EngineInput], Step | Sequence[Effect]],
        *,
        call: Callable[[CallModel], Awaitable[TurnOutcome | CallFailure]] | None = None,
        batch: Callable[[str], Awaitable[tuple[tuple[ToolResult, ...], ToolEffects]]] | None = None,
    ) -> None:
        self.engine = ScriptedEngine(react)
        self.events: list[RunEvent] = []
        self.journal = MemoryJournal()
        self.budget = Budget(provider_calls=2)
        self._call, self._batch = call, batch
        self.loop = DriveLoop(
            self.engine,
            models=self,
            tools=self,
            emit=self.events.append,
            journal=self.journal,
            budget=self.budget,
            context_window={"m": 4096}.get,
        )

    async def call(self, effect: CallModel) -> TurnOutcome | CallFailure:
        assert self._call is not None
        return await self._call(effect)

    async def execute_batch(
        self, node_id: str, label: str, calls: Sequence[AdmittedCall], policy: ToolAccessPolicy
    ) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        assert self._batch is not None
        return await self._batch(node_id)

    def inputs(self) -> list[str]:
        return [type(given).__name__ for given in self.engine.inputs]


def run(body: Callable[[], Awaitable[None]]) -> None:
    """Run a test body and see that it leaves no task behind."""

    async def main() -> None:
        await body()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def model_call(node_id: str = "a", call: int = 1) -> CallModel:
    return CallModel(node_id, call, request_for(node_id))


def batch_of(node_id: str = "a") -> RunTools:
    return RunTools(node_id, "A", "b1", (AdmittedCall(ToolCall("c", "read", {}), "d"),))


def on_start(*effects: Effect) -> Callable[[EngineInput], Sequence[Effect]]:
    """Start with these effects; the first result ends the run."""

    def react(given: EngineInput) -> Sequence[Effect]:
        return effects if isinstance(given, Started) else (DONE,)

    return react


async def answer_at_once(effect: CallModel) -> TurnOutcome:
    return MessageTurn(f"from {effect.node_id}")


async def never(anything: object) -> Any:
    await asyncio.get_running_loop().create_future()


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

    def react(given: EngineInput) -> Sequence[Effect]:
        if isinstance(given, Started):
            return (model_call(),)
        return (batch_of(),) if isinstance(given, ModelReplied) else (DONE,)

    async def body() -> None:
        harness = Harness(react, call=call, batch=batch)
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

    def react(given: EngineInput) -> Sequence[Effect]:
        if isinstance(given, Started):
            return (model_call(),)
        return (batch_of(),) if isinstance(given, ModelReplied) else (DONE,)

    async def body() -> None:
        harness = Harness(react, call=call, batch=batch)
        harness.loop.start()
        await harness.loop.settled()
        replied = harness.engine.inputs[1]
        assert isinstance(replied, ModelReplied)
        assert replied.reply == CallInterrupted()
        assert harness.inputs() == ["Started", "ModelReplied", "ToolsFinished"]

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
        assert max(after - before for before, after in itertools.pairwise(seen)) <= 64
        await asyncio.gather(*asked)

    run(body)

"""A drive loop with a scripted engine and everything around it in a test's hands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from engine.vocabulary.effects import (
    AdmittedCall,
    AsideText,
    CallModel,
    Effect,
    Finish,
    InspectCalls,
    RunTools,
    Step,
)
from engine.vocabulary.errors import (
    CallFailure,
)
from engine.vocabulary.events import Aborted, RunEvent
from engine.vocabulary.inputs import (
    EngineInput,
    Started,
    Stopped,
)
from engine.vocabulary.messages import MessageTurn, TurnOutcome
from engine.vocabulary.report import (
    NeedsInteraction,
    RunCancelled,
    RunCompleted,
    RunReport,
)
from engine.vocabulary.tools import CallInspection, ToolCall, ToolEffects, ToolResult
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
        inspect: Callable[[str], Awaitable[tuple[CallInspection, ...]]] | None = None,
    ) -> None:
        self.engine = ScriptedEngine(react)
        self.events: list[RunEvent] = []
        self.journal = MemoryJournal()
        self.budget = Budget(provider_calls=2)
        self._call, self._batch, self._inspect = call, batch, inspect
        self.cancelled: list[str] = []
        self.times_over = 0
        self.loop = DriveLoop(
            self.engine,
            models=self,
            tools=self,
            emit=self.events.append,
            journal=self.journal,
            budget=self.budget,
            context_window={"m": 4096}.get,
            on_cancel=self.cancelled.append,
            on_over=self._note_end,
        )

    def context_window(self, model: str) -> int | None:
        return None

    async def call(self, effect: CallModel) -> TurnOutcome | CallFailure:
        assert self._call is not None
        return await self._call(effect)

    async def execute_batch(self, batch: RunTools) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        assert self._batch is not None
        return await self._batch(batch.node_id)

    async def inspect(self, batch: InspectCalls) -> tuple[CallInspection, ...]:
        if self._inspect is not None:
            return await self._inspect(batch.node_id)
        return tuple(CallInspection(call.id) for call in batch.calls)

    async def put_aside(self, node_id: str, texts: tuple[AsideText, ...]) -> None:
        assert texts

    def _note_end(self) -> None:
        self.times_over += 1

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

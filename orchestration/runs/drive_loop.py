"""The only stepper of a run's engine: one input at a time in, effects carried out, events told."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from engine.vocabulary.effects import (
    CallModel,
    CancelWork,
    Finish,
    InspectCalls,
    RunTools,
    Wait,
)
from engine.vocabulary.errors import (
    InteractionError,
    RunIsOver,
)
from engine.vocabulary.events import RunError, RunEvent, UsageReported
from engine.vocabulary.inputs import (
    EngineInput,
    ModelReplied,
    Started,
    Stopped,
    TimerFired,
)
from engine.vocabulary.ports import ToolPort
from engine.vocabulary.report import NeedsInteraction, RunFailed, RunOutcome
from orchestration.runs.drive_ports import ModelCaller, Steppable
from orchestration.runs.effect_work import EffectWork
from orchestration.runs.journal import Journal
from orchestration.runs.limits import Budget
from orchestration.runs.task_group import TaskGroup
from orchestration.storage.errors import StorageError

logger = logging.getLogger(__name__)

STOP_WITHIN_S = 2.0
INPUTS_A_TURN = 128
"""After so many inputs the event loop gets its turn."""


def _unknown_window(model: str) -> int | None:
    return None


def _nothing(*told: object) -> None:
    return None


class DriveLoop:
    """Drives one engine until it is over or waits for a person.

    Results, answers and timers go into one mailbox and are fed one at a time. Every method
    belongs to the thread of the event loop that was running when the loop was made.
    """

    __slots__ = (
        "_budget",
        "_clock",
        "_context_window",
        "_effects",
        "_emit",
        "_engine",
        "_held",
        "_held_back",
        "_journal",
        "_loop",
        "_mailbox",
        "_on_cancel",
        "_on_held",
        "_on_over",
        "_outcome",
        "_scheduled",
        "_settlers",
        "_stopping",
        "_tasks",
        "_timers",
        "_work",
    )

    def __init__(
        self,
        engine: Steppable,
        *,
        models: ModelCaller,
        tools: ToolPort,
        emit: Callable[[RunEvent], None],
        journal: Journal,
        budget: Budget,
        clock: Callable[[], float] = time.time,
        context_window: Callable[[str], int | None] = _unknown_window,
        on_cancel: Callable[[str], None] = _nothing,
        on_over: Callable[[], None] = _nothing,
        on_held: Callable[[], None] = _nothing,
    ) -> None:
        """Take what surrounds the engine.

        Args:
            engine: what is driven.
            models: makes the model calls.
            tools: runs the tool batches.
            emit: tells an event.
            journal: gets every input before it is fed.
            budget: the process-wide limits.
            clock: seconds since the epoch.
            context_window: the context of a model by name, in tokens, where it is known.
            on_cancel: called with a node or subagent whose work was cancelled.
            on_over: called when the run has ended, and again if it ends anew.
            on_held: called when there is work that is held back.
        """
        self._engine = engine
        self._emit = emit
        self._journal = journal
        self._budget = budget
        self._clock = clock
        self._context_window = context_window
        self._on_cancel = on_cancel
        self._on_over = on_over
        self._on_held = on_held
        self._loop = asyncio.get_running_loop()
        self._mailbox: deque[tuple[EngineInput, asyncio.Future[None] | None]] = deque()
        self._scheduled = False
        self._stopping = False
        self._held = False
        self._held_back: list[CallModel | RunTools | InspectCalls | Wait] = []
        self._outcome: RunOutcome | None = None
        self._settlers: list[asyncio.Future[RunOutcome]] = []
        self._tasks = TaskGroup(self._loop, self._take_result)
        self._work = EffectWork(
            models, tools, clock=clock, post=self._post, on_trouble=self._give_up_keeping
        )
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._effects: dict[type, Callable[[Any], None]] = {
            CallModel: self._call_model,
            RunTools: self._run_tools,
            InspectCalls: self._inspect_calls,
            Wait: self._wait,
            CancelWork: self._cancel_work,
            Finish: self._finish,
        }

    @property
    def outcome(self) -> RunOutcome | None:
        """How the run stands, `None` while something moves."""
        return self._outcome

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self._outcome is not None and not isinstance(self._outcome, NeedsInteraction)

    def start(self, how: Started | None = None) -> None:
        """Begin, or go on with a restored engine, at the next turn of the event loop.

        `how` it goes on has to be something that the restored engine takes.
        """
        self._post(how or Started(self._clock()))

    def hold(self) -> None:
        """Begin no more work until `release`; what is under way goes on."""
        self._held = True

    def release(self) -> None:
        """Begin what was held back."""
        self._held = False
        held, self._held_back = self._held_back, []
        if not (self._stopping or self.is_over):
            for effect in held:
                self._effects[type(effect)](effect)

    def ask(self, given: EngineInput) -> asyncio.Future[None]:
        """Feed what a person wants; the future ends when it was taken, or holds the refusal."""
        answered: asyncio.Future[None] = self._loop.create_future()
        if self._stopping or self.is_over:
            answered.set_exception(RunIsOver())
        else:
            self._post(given, answered)
        return answered

    async def settled(self) -> RunOutcome:
        """Wait until the run is over or nothing moves until a person does something."""
        if self._outcome is not None and not self._mailbox:
            return self._outcome
        settler: asyncio.Future[RunOutcome] = self._loop.create_future()
        self._settlers.append(settler)
        return await settler

    async def stop(self) -> None:
        """End the run: cancel everything, wait for its end for two seconds at most, say so.

        What had arrived before is fed first, and so is what still arrives meanwhile. A run that
        is over stays as it is.
        """
        if self.is_over:
            await self._tasks.close(STOP_WITHIN_S)
            return
        if self._stopping:
            await self.settled()
            return
        self._stopping = True
        self._cancel_timers()
        try:
            await self._tasks.close(STOP_WITHIN_S)
        finally:
            self._mailbox.append((Stopped(self._clock()), None))
            self._pump()

    async def close(self) -> None:
        """Leave a run that waits for a person as it is, for another day; stop any other."""
        if isinstance(self._outcome, NeedsInteraction) and not self._mailbox:
            self._stopping = True
            await self._tasks.close(STOP_WITHIN_S)
        else:
            await self.stop()

    def _post(self, given: EngineInput, answered: asyncio.Future[None] | None = None) -> None:
        self._mailbox.append((given, answered))
        if not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._scheduled = False
        if not self._stopping:
            self._pump(INPUTS_A_TURN)

    def _pump(self, at_most: int | None = None) -> None:
        mailbox = self._mailbox
        while mailbox and at_most != 0:
            given, answered = mailbox.popleft()
            self._feed(given, answered)
            if at_most is not None:
                at_most -= 1
        if mailbox:
            self._schedule()
        elif self._settlers and self._outcome is not None:
            self._tell_settlers()

    def _feed(self, given: EngineInput, answered: asyncio.Future[None] | None) -> None:
        try:
            if type(given) is ModelReplied:
                self._journal.turn(given)
            else:
                self._journal.input(given)
            step = self._engine.feed(given)
        except InteractionError as error:
            if answered is not None and not answered.done():
                answered.set_exception(error)
            return
        except Exception as error:
            if isinstance(error, StorageError):
                self._give_up_keeping(error)
            else:
                logger.exception("the engine cannot take %s", type(given).__name__)
                name = type(error).__name__
                self.give_up(f"the run hit an internal error ({name}) and cannot go on")
            if answered is not None and not answered.done():
                answered.set_exception(RunIsOver())
            return
        if self._outcome is not None and (step.effects or step.events) and not self.is_over:
            self._outcome = None
        emit = self._emit
        for event in step.events:
            if type(event) is UsageReported:
                emit(self._with_context_window(event))
            else:
                emit(event)
        effects = self._effects
        for effect in step.effects:
            effects[type(effect)](effect)
        if answered is not None and not answered.done():
            answered.set_result(None)

    def _with_context_window(self, event: UsageReported) -> UsageReported:
        window = self._context_window(event.model)
        if window is None:
            return event
        return UsageReported(event.node_id, event.usage, event.model, window, event.parent_id)

    def _call_model(self, effect: CallModel) -> None:
        if self._may_begin(effect):
            self._tasks.start(
                effect.node_id, effect, self._work.call_model, self._budget.provider_calls
            )

    def _run_tools(self, effect: RunTools) -> None:
        # The tool port takes a permit for each call; a batch as such needs none.
        if self._may_begin(effect):
            self._tasks.start(effect.node_id, effect, self._work.run_tools)

    def _inspect_calls(self, effect: InspectCalls) -> None:
        # Earlier calls of the same turn may run meanwhile.
        if self._may_begin(effect):
            self._tasks.start(_inspection_of(effect.node_id), effect, self._work.inspect)

    def _take_result(self, result: EngineInput | None, alone: bool) -> None:
        if result is not None:
            self._mailbox.append((result, None))
        if self._stopping:
            return
        if alone:
            self._pump(INPUTS_A_TURN)
        else:
            self._schedule()

    def _may_begin(self, effect: CallModel | RunTools | InspectCalls | Wait) -> bool:
        if self._stopping:
            return False
        if self._held:
            self._held_back.append(effect)
            self._on_held()
        return not self._held

    def _wait(self, effect: Wait) -> None:
        if self._may_begin(effect):
            delay = max(0.0, effect.until - self._clock())
            self._timers[effect.node_id] = self._loop.call_later(delay, self._fire, effect)

    def _fire(self, effect: Wait) -> None:
        self._timers.pop(effect.node_id, None)
        # The clock of the event loop and that of the run may disagree by a little.
        self._post(TimerFired(effect.node_id, max(effect.until, self._clock())))

    def _cancel_work(self, effect: CancelWork) -> None:
        node_id = effect.node_id
        if self._held_back:
            self._held_back = [held for held in self._held_back if held.node_id != node_id]
        self._tasks.cancel(node_id)
        self._tasks.cancel(_inspection_of(node_id))
        timer = self._timers.pop(node_id, None)
        if timer is not None:
            timer.cancel()
        self._on_cancel(node_id)

    def _finish(self, effect: Finish) -> None:
        self._outcome = effect.outcome
        if self.is_over:
            self._on_over()

    def _give_up_keeping(self, error: StorageError) -> None:
        """What cannot be kept must not happen: end the run where its facts end."""
        self.give_up(str(error))

    def give_up(self, message: str) -> None:
        """End the run for a reason that lies outside of it, at once, and leave nothing behind."""
        if self.is_over:
            return
        self._emit(RunError(message))
        self._outcome = RunFailed(message)
        self._stopping = True
        self._cancel_timers()
        self._tasks.cancel_all()
        self._on_over()
        for _, answered in self._mailbox:
            if answered is not None and not answered.done():
                answered.set_exception(RunIsOver())
        self._mailbox.clear()
        self._tell_settlers()

    def _cancel_timers(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _tell_settlers(self) -> None:
        settlers, self._settlers = self._settlers, []
        for settler in settlers:
            if not settler.done() and self._outcome is not None:
                settler.set_result(self._outcome)


def _inspection_of(node_id: str) -> str:
    return f"{node_id}\x1finspection"

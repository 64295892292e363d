"""The work that a run's effects stand for: carried out as tasks, each with an input for its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from engine.vocabulary.effects import CallModel, InspectCalls, RunTools
from engine.vocabulary.errors import CallFailure, CallInterrupted, RequestFailure
from engine.vocabulary.inputs import CallsInspected, EngineInput, ModelReplied, ToolsFinished
from engine.vocabulary.messages import TurnOutcome
from engine.vocabulary.ports import ToolPort
from engine.vocabulary.tools import NO_EFFECTS, CallInspection, ToolResult
from orchestration.runs.drive_ports import ModelCaller
from orchestration.runs.hosted_tools import BatchStopped
from orchestration.runs.task_group import Work
from orchestration.storage.errors import StorageError

logger = logging.getLogger(__name__)


class EffectWork:
    """Bodies for a `TaskGroup`; what a call gives, or how it broke off, becomes an input."""

    __slots__ = ("_clock", "_models", "_on_trouble", "_post", "_tools")

    def __init__(
        self,
        models: ModelCaller,
        tools: ToolPort,
        *,
        clock: Callable[[], float],
        post: Callable[[EngineInput], None],
        on_trouble: Callable[[StorageError], None],
    ) -> None:
        """Take who does the work.

        Args:
            models: makes the model calls.
            tools: runs and inspects tool calls.
            clock: seconds since the epoch.
            post: takes an input of work that was cancelled.
            on_trouble: hears that a fact could not be kept, so that the run has to end.
        """
        self._models = models
        self._tools = tools
        self._clock = clock
        self._post = post
        self._on_trouble = on_trouble

    async def call_model(self, work: Work) -> ModelReplied | None:
        """Make a model call."""
        effect: CallModel = work.job
        reply: TurnOutcome | CallFailure
        try:
            reply = await self._models.call(effect)
        except asyncio.CancelledError:
            if not work.cancelled:
                self._post(
                    ModelReplied(effect.node_id, effect.call, CallInterrupted(), self._clock())
                )
            raise
        except Exception as error:
            logger.exception("a model call of node '%s' broke off", effect.node_id)
            reply = RequestFailure(f"the model call broke off: {type(error).__name__}")
        if work.cancelled:
            return None
        window = self._models.context_window(effect.request.model)
        return ModelReplied(effect.node_id, effect.call, reply, self._clock(), window)

    async def run_tools(self, work: Work) -> ToolsFinished | None:
        """Run a batch of tool calls."""
        batch: RunTools = work.job
        results: tuple[ToolResult, ...] = ()
        effects = NO_EFFECTS
        try:
            results, effects = await self._tools.execute_batch(batch)
        except asyncio.CancelledError as error:
            # What was done was done: descendants are told of it, whoever gave the batch up.
            if isinstance(error, BatchStopped):
                results, effects = error.results, error.effects
            if results or not work.cancelled:
                node_id, now = batch.node_id, self._clock()
                self._post(ToolsFinished(node_id, batch.batch_id, results, now, effects))
            raise
        except Exception as error:
            trouble = _trouble_in(error)
            if trouble is not None:
                self._on_trouble(trouble)
                return None
            logger.exception("a tool batch of node '%s' broke off", batch.node_id)
        return ToolsFinished(batch.node_id, batch.batch_id, results, self._clock(), effects)

    async def inspect(self, work: Work) -> CallsInspected:
        """Look up what calls would touch."""
        batch: InspectCalls = work.job
        inspections: tuple[CallInspection, ...] = ()
        try:
            inspections = await self._tools.inspect(batch)
        except Exception:
            logger.exception("the calls of node '%s' could not be inspected", batch.node_id)
        return CallsInspected(batch.node_id, batch.batch_id, inspections, self._clock())


def _trouble_in(error: Exception) -> StorageError | None:
    """The failure to keep a fact among what went wrong in calls side by side."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, ExceptionGroup):
        found = (_trouble_in(each) for each in error.exceptions)
        return next((each for each in found if each is not None), None)
    return None

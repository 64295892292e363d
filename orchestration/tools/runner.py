"""Run tool calls for a run: in order, beside one another where they may, each told and recorded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from engine.graph.workflow import RetryPolicy
from engine.run.approval_policy import tier_of_call
from engine.vocabulary.effects import AdmittedCall, InspectCalls, RunTools
from engine.vocabulary.events import PhaseTimed, RunEvent, ToolRetrying, ToolStarted, ToolUpdated
from engine.vocabulary.tools import (
    NO_EFFECTS,
    CallInspection,
    CallPreview,
    JsonObject,
    ToolCall,
    ToolConcurrency,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.hosted_tools import BatchStopped
from orchestration.runs.journal import Journal
from orchestration.runs.limits import Permits
from orchestration.tools.admission import (
    checked_arguments,
    is_as_allowed,
    known_tool,
    path_of,
    refuse_what_is_barred,
    targets_now,
)
from orchestration.tools.aside import Aside
from orchestration.tools.cache import Asker, Outcome, ToolCache, watched_cache
from orchestration.tools.file_edits.edit_log import EditLog, RevertReport
from orchestration.tools.locks import RunLocks, fixed_keys, path_keys
from orchestration.tools.outcomes import Ended, ended, ended_at_once, refused, tell, together
from orchestration.tools.permits import permit
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.retries import is_transient, pause_ms
from orchestration.tools.tool import (
    FailureKind,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
    ToolServices,
)

logger = logging.getLogger(__name__)

WAIT_WORTH_TELLING_S = 0.1
_T = TypeVar("_T")

DRIFTED = "nothing was run: what the call leads to has changed since it was allowed"


Kept = dict[str, Outcome]
"""What the calls of a batch have given so far, by call id."""


class _Job:
    """One call that is under way, and whether its end is being told."""

    __slots__ = ("arguments", "batch", "call", "context", "is_concluded", "kept", "tool")

    def __init__(
        self,
        batch: RunTools,
        call: ToolCall,
        tool: Tool,
        arguments: JsonObject,
        context: ToolContext,
        kept: Kept,
    ) -> None:
        self.batch, self.call, self.tool = batch, call, tool
        self.arguments, self.context, self.kept = arguments, context, kept
        self.is_concluded = False

    @property
    def may_change_files(self) -> bool:
        """Whether files may be other than before when it has ended."""
        tool = self.tool
        return (tool.writes or tool.definition.tier is ToolTier.WRITE) and (
            tier_of_call(tool.definition, self.call) is ToolTier.WRITE
        )


class ToolRunner:
    """The tools of one run: its `ToolPort`, and the undoing of what they did."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        emit: Callable[[RunEvent], None],
        journal: Journal,
        permits: Permits,
        services: ToolServices,
        retry_policy: RetryPolicy,
        cache: ToolCache | None = None,
        plan_source: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Take what surrounds the run.

        Args:
            registry: the tools there are.
            emit: tells an event to whoever follows the run.
            journal: gets each call's intent before it runs and its result after it.
            permits: the process-wide budget of tool calls in flight.
            services: what the calls of the run share.
            retry_policy: how often a transient failure of a tool is tried again.
            cache: the answers of the run; an empty one by default.
            plan_source: the node that plans, if one does.
            monotonic: seconds that only grow.
            sleep: waits that many seconds.
        """
        self._registry = registry
        self._emit = emit
        self._journal = journal
        self._permits = permits
        self._services = services
        self._retry_policy = retry_policy
        self._cache = cache or watched_cache(services)
        self._plan_source = plan_source
        self._monotonic = monotonic
        self._sleep = sleep
        self._locks = RunLocks()
        self.put_aside = Aside(services.artifacts, self._cache, emit).put

    async def execute_batch(self, batch: RunTools) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        """Run the calls in order, neighbours that share side by side.

        Gives the results in call order and what the calls did besides. Cancelling it cancels the
        call that runs; each call that had begun is told and in the journal with its result.

        Raises:
            BatchStopped: it was cancelled, and some calls had ended before.
        """
        self._cache.begin_batch(batch.node_id)
        kept: Kept = {}
        try:
            for shared, group in groupby(batch.calls, key=self._is_shared):
                if shared:
                    await self._side_by_side(batch, list(group), kept)
                    continue
                for admitted in group:
                    began = self._monotonic()
                    result, _ = await self._settle(batch, admitted, kept)
                    if not result.drifted:
                        self._tell_time("tool", admitted.call.name, batch.node_id, began)
        except BaseException as error:
            self.discard(batch.node_id)
            if isinstance(error, asyncio.CancelledError) and kept:
                raise BatchStopped(*_in_order(batch, kept)) from None
            raise
        return _in_order(batch, kept)

    async def inspect(self, batch: InspectCalls) -> tuple[CallInspection, ...]:
        """Find out what the calls would touch; nothing is changed, and no call fails it."""
        if len(batch.calls) == 1:
            return (await self._inspect(batch, batch.calls[0]),)
        found = await asyncio.gather(*[self._inspect(batch, call) for call in batch.calls])
        return tuple(found)

    def discard(self, node_id: str) -> None:
        """What the caller's last batch gave may not reach its transcript."""
        self._cache.discard(node_id)

    async def revert(self, batch_id: str, *, force: bool = False) -> RevertReport:
        """Undo what one editing call did, as `EditLog.revert`; no call edits these files meanwhile.

        Raises:
            RevertRefused: it cannot be undone, and why.
        """
        log, workspace = EditLog(self._services.edits), self._services.workspace
        paths = await asyncio.to_thread(log.paths, batch_id)
        keys = await path_keys(paths, workspace)
        async with self._locks.hold(keys):
            with self._cache.writing():
                undo = partial(log.revert, batch_id, workspace, force=force)
                return await _to_its_end(asyncio.to_thread(undo))

    def close(self) -> None:
        """Watch the workspace no more; calls may come again all the same."""
        self._cache.close()

    async def _side_by_side(self, batch: RunTools, beside: list[AdmittedCall], kept: Kept) -> None:
        if len(beside) == 1:  # most turns; a task of its own would cost more than the call
            await self._settle(batch, beside[0], kept)
            return
        async with asyncio.TaskGroup() as tasks:
            for admitted in beside:
                tasks.create_task(self._settle(batch, admitted, kept))

    def _is_shared(self, admitted: AdmittedCall) -> bool:
        definition = self._registry.definition(admitted.call.name)
        return definition is not None and definition.concurrency is ToolConcurrency.SHARED

    async def _inspect(self, batch: InspectCalls, call: ToolCall) -> CallInspection:
        try:
            tool = known_tool(self._registry, call.name)
            if tool.inspect is None:
                return CallInspection(call.id)
            arguments = checked_arguments(tool, call)
            found = await tool.inspect(arguments, self._context(batch, call))
        except Exception as error:  # noqa: BLE001 - a person is told instead
            problem = str(_as_failure(call.name, error))
            return CallInspection(call.id, preview=CallPreview(problem=problem))
        return CallInspection(call.id, found.targets, found.preview)

    async def _settle(self, batch: RunTools, admitted: AdmittedCall, kept: Kept) -> Outcome:
        """Refuse the call or run it; either way there is a result, which is kept."""
        outcome = await self._outcome(batch, admitted, kept)
        kept[admitted.call.id] = outcome
        return outcome

    async def _outcome(self, batch: RunTools, admitted: AdmittedCall, kept: Kept) -> Outcome:
        call, path = admitted.call, path_of(batch.node_id, batch.path)
        try:
            tool = known_tool(self._registry, call.name)
            refuse_what_is_barred(tool, batch, call, self._plan_source)
            if not admitted.is_bound and not is_as_allowed(path, admitted):
                return _drifted(call)
            arguments = checked_arguments(tool, call)
        except ToolFailure as failure:
            refusal = refused(call, failure)
            tell(self._emit, batch, refusal)
            return refusal.result, NO_EFFECTS
        job = _Job(batch, call, tool, arguments, self._context(batch, call), kept)
        began = self._monotonic()
        async with self._locks_of(job, path[0]):
            self._tell_time("tool-wait", call.name, batch.node_id, began, WAIT_WORTH_TELLING_S)
            targets: tuple[str, ...] = ()
            if admitted.is_bound or job.may_change_files:
                targets = await targets_now(tool, arguments, job.context)
            if admitted.is_bound and not is_as_allowed(path, admitted, targets):
                return _drifted(call)
            await self._journal.intent(batch.node_id, admitted, targets=targets)
            self._emit(ToolStarted(batch.node_id, call.id, call.name, call.arguments))
            finished = await self._run(job)
            return finished.result, finished.effects

    def _locks_of(self, job: _Job, node_id: str) -> AbstractAsyncContextManager[object]:
        tool = job.tool
        keys = fixed_keys(tool, node_id, changes=job.may_change_files)
        if keys is not None or tool.lock_paths is None:
            return self._locks.hold(keys or ())
        paths = tool.lock_paths(job.arguments)
        return self._locks.hold_current(partial(path_keys, paths, self._services.workspace))

    def _context(self, batch: RunTools | InspectCalls, call: ToolCall) -> ToolContext:
        caller = batch.node_id
        return ToolContext(
            node_id=path_of(caller, batch.path)[0],
            caller_id=batch.conversation_id or caller,
            call_id=call.id,
            services=self._services,
            update=lambda tail: self._emit(ToolUpdated(caller, call.id, call.name, tail)),
            policy=batch.policy,
        )

    async def _run(self, job: _Job) -> Ended:
        """Carry out a call that has begun; however it ends, there is one result."""
        try:
            if job.may_change_files:
                with self._cache.writing():
                    output = await self._attempt(job)
                # It has happened, so it is told even if nobody waits for it any more.
                finished = ended_at_once(job.call, output)
                if finished is None:
                    finished = await _to_its_end(self._put_aside(job.call, output))
            else:
                finished = await self._look(job)
            job.kept[job.call.id] = (finished.result, finished.effects)
            await self._conclude(job, finished)
            _end_here_if_cancelled()
            return finished
        except asyncio.CancelledError:
            if not job.is_concluded:
                stopped = ToolFailure(FailureKind.CANCELLED, "the call was stopped")
                await self._conclude(job, refused(job.call, stopped))
            raise

    async def _look(self, job: _Job) -> Ended:
        """Run a call that changes nothing, or answer it as an equal one was answered."""
        tool, batch = job.tool, job.batch
        if tool.is_cacheable is None or not tool.is_cacheable(job.arguments):
            return await self._perform(job)
        performed: Ended | None = None

        async def perform() -> Outcome:
            nonlocal performed
            performed = await self._perform(job)
            return performed.result, performed.effects

        path = path_of(batch.node_id, batch.path)
        name = f"node '{path[0]}'" if len(path) == 1 else f"a subagent of node '{path[0]}'"
        asker = Asker(job.context.caller_id, batch.node_id, name, job.call.id)
        result, effects = await self._cache.answer(tool, job.arguments, asker, perform)
        return performed or Ended(result, effects)

    async def _perform(self, job: _Job) -> Ended:
        call, output = job.call, await self._attempt(job)
        return ended_at_once(call, output) or await self._put_aside(call, output)

    async def _put_aside(self, call: ToolCall, output: ToolOutput) -> Ended:
        return await ended(call, output, self._services.artifacts)

    async def _attempt(self, job: _Job) -> ToolOutput:
        """Run the tool, again where its failure may pass."""
        call, node_id = job.call, job.batch.node_id
        retry = 0
        while True:
            async with permit(self._permits):
                try:
                    return await job.tool.run(job.arguments, job.context)
                except Exception as error:  # noqa: BLE001 - no tool may end a run; it is told below
                    failure = _as_failure(call.name, error).with_traceback(None)
            if retry >= self._retry_policy.max_attempts or not is_transient(failure):
                return ToolOutput(str(failure), is_error=True)
            retry += 1
            backoff_ms = pause_ms(self._retry_policy, retry)
            self._emit(ToolRetrying(node_id, call.id, call.name, retry, backoff_ms))
            await self._sleep(backoff_ms / 1000)

    async def _conclude(self, job: _Job, finished: Ended) -> None:
        """Write the result down, then tell it; being cancelled meanwhile hinders neither."""
        job.is_concluded = True
        node_id, result, effects = job.batch.node_id, finished.result, finished.effects
        seen = self._services.files.news_of(job.context.caller_id)
        try:
            await self._journal.result(node_id, result, effects=effects, seen=seen)
        except asyncio.CancelledError:
            tell(self._emit, job.batch, finished)
            raise
        tell(self._emit, job.batch, finished)

    def _tell_time(
        self, phase: str, label: str, node_id: str, began: float, at_least_s: float = 0.0
    ) -> None:
        took = self._monotonic() - began
        if took >= at_least_s:
            self._emit(PhaseTimed(phase, label, round(took * 1000), node_id))


def _drifted(call: ToolCall) -> Outcome:
    return ToolResult(call.id, call.name, DRIFTED, is_error=True, drifted=True), NO_EFFECTS


def _in_order(
    batch: RunTools, kept: Mapping[str, Outcome]
) -> tuple[tuple[ToolResult, ...], ToolEffects]:
    outcomes = [kept[each.call.id] for each in batch.calls if each.call.id in kept]
    results = tuple([result for result, _ in outcomes])
    return results, together(effects for _, effects in outcomes)


def _end_here_if_cancelled() -> None:
    """A tool may have finished its work in spite of being cancelled; nothing goes on after it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _to_its_end(work: Coroutine[Any, Any, _T]) -> _T:
    """Do the work whole; only then let this task be cancelled."""
    task = asyncio.ensure_future(work)
    was_cancelled = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            was_cancelled = True
    if was_cancelled and task.exception() is None:
        raise asyncio.CancelledError
    return task.result()


def _as_failure(tool_name: str, error: Exception) -> ToolFailure:
    match error:
        case ToolFailure():
            return error
        case TimeoutError():
            return ToolFailure(FailureKind.TIMEOUT, f"{tool_name} took too long")
        case OSError():
            return ToolFailure(FailureKind.FAILED, f"{tool_name}: {error.strerror or error}")
    logger.error("the tool '%s' has a bug", tool_name, exc_info=error)
    return ToolFailure(FailureKind.FAILED, f"{tool_name} broke off: {type(error).__name__}")

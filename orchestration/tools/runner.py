"""Run tool calls for a run: in order, beside one another where they may, each told and recorded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from itertools import groupby

from engine.graph.workflow import RetryPolicy
from engine.run.approval_policy import call_digest
from engine.run.schema import compiled
from engine.vocabulary.effects import AdmittedCall, InspectCalls, RunTools
from engine.vocabulary.events import (
    FileChanged,
    PhaseTimed,
    RunEvent,
    ToolCompleted,
    ToolRetrying,
    ToolStarted,
    ToolUpdated,
)
from engine.vocabulary.tools import (
    NO_EFFECTS,
    CallInspection,
    JsonObject,
    OutputMeta,
    ToolAccessPolicy,
    ToolCall,
    ToolConcurrency,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import Journal
from orchestration.runs.limits import Permits
from orchestration.tools.locks import RunLocks, lock_keys
from orchestration.tools.output import cut_in_the_middle
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

Outcome = tuple[ToolResult, ToolEffects]


class ToolRunner:
    """The `ToolPort` of one run."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        emit: Callable[[RunEvent], None],
        journal: Journal,
        permits: Permits,
        services: ToolServices,
        retry_policy: RetryPolicy,
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
            monotonic: seconds that only grow.
            sleep: waits that many seconds.
        """
        self._registry = registry
        self._emit = emit
        self._journal = journal
        self._permits = permits
        self._services = services
        self._retry_policy = retry_policy
        self._monotonic = monotonic
        self._sleep = sleep
        self._locks = RunLocks()

    async def execute_batch(self, batch: RunTools) -> tuple[tuple[ToolResult, ...], ToolEffects]:
        """Run the calls in order, neighbours that share side by side.

        Gives the results in call order and what the calls did besides. Cancelling it cancels the
        call that runs; the calls that had ended are in the journal.
        """
        node_id, policy = batch.node_id, batch.policy
        outcomes: list[Outcome] = []
        for shared, group in groupby(batch.calls, key=self._is_shared):
            if not shared:
                for admitted in group:
                    began = self._monotonic()
                    outcomes.append(await self._settle(node_id, admitted, policy))
                    self._tell_time("tool", admitted.call.name, node_id, began)
                continue
            beside = list(group)
            if len(beside) == 1:  # most turns; a task of its own would cost more than the call
                outcomes.append(await self._settle(node_id, beside[0], policy))
                continue
            async with asyncio.TaskGroup() as tasks:
                running = [
                    tasks.create_task(self._settle(node_id, admitted, policy))
                    for admitted in beside
                ]
            outcomes.extend(task.result() for task in running)
        return tuple(result for result, _ in outcomes), _together([e for _, e in outcomes])

    async def inspect(self, batch: InspectCalls) -> tuple[CallInspection, ...]:
        """Find out what the calls would touch; nothing is changed, and no call fails it."""
        return tuple([CallInspection(call.id) for call in batch.calls])

    def _is_shared(self, admitted: AdmittedCall) -> bool:
        definition = self._registry.definition(admitted.call.name)
        return definition is not None and definition.concurrency is ToolConcurrency.SHARED

    async def _settle(
        self, node_id: str, admitted: AdmittedCall, policy: ToolAccessPolicy
    ) -> Outcome:
        """Refuse the call or run it; either way there is a result and everyone is told."""
        call = admitted.call
        try:
            tool = self._admit(node_id, admitted, policy)
            arguments = _checked_arguments(tool, call)
        except ToolFailure as failure:
            return self._tell_result(node_id, call, ToolOutput(str(failure), is_error=True))
        began = self._monotonic()
        async with self._locks.hold(lock_keys(tool, node_id, arguments)):
            self._tell_time("tool-wait", call.name, node_id, began, WAIT_WORTH_TELLING_S)
            await self._journal.intent(node_id, admitted)
            self._emit(ToolStarted(node_id, call.id, call.name, call.arguments))
            try:
                output = await self._run_with_retries(node_id, call, tool, arguments)
                outcome = _result(call, output)
                await self._journal.result(node_id, outcome[0])
            except asyncio.CancelledError:
                cancelled = ToolFailure(FailureKind.CANCELLED, "the call was stopped")
                self._tell_result(node_id, call, ToolOutput(str(cancelled), is_error=True))
                raise
        return self._tell(node_id, outcome)

    def _admit(self, node_id: str, admitted: AdmittedCall, policy: ToolAccessPolicy) -> Tool:
        call = admitted.call
        tool = self._registry.tool(call.name)
        if tool is None:
            raise ToolFailure(FailureKind.NOT_FOUND, f"there is no tool '{call.name}'")
        if call_digest((node_id,), call.name, call.arguments) != admitted.digest:
            raise ToolFailure(
                FailureKind.PERMISSION_DENIED,
                "this is not the call that was allowed",
                "call the tool again, so that it can be decided anew",
            )
        if policy is ToolAccessPolicy.PLANNING and tool.definition.tier is ToolTier.WRITE:
            raise ToolFailure(
                FailureKind.PERMISSION_DENIED, f"'{call.name}' changes things, and this is planning"
            )
        return tool

    async def _run_with_retries(
        self, node_id: str, call: ToolCall, tool: Tool, arguments: JsonObject
    ) -> ToolOutput:
        context = ToolContext(
            node_id=node_id,
            caller_id=node_id,
            call_id=call.id,
            services=self._services,
            update=lambda tail: self._emit(ToolUpdated(node_id, call.id, call.name, tail)),
        )
        retry = 0
        while True:
            failure = None
            async with permit(self._permits):
                try:
                    return await tool.run(arguments, context)
                except Exception as error:  # noqa: BLE001 - no tool may end a run; it is told below
                    failure = _as_failure(call.name, error)
            if retry >= self._retry_policy.max_attempts or not is_transient(failure):
                return ToolOutput(str(failure), is_error=True)
            retry += 1
            backoff_ms = pause_ms(self._retry_policy, retry)
            self._emit(ToolRetrying(node_id, call.id, call.name, retry, backoff_ms))
            await self._sleep(backoff_ms / 1000)

    def _tell_result(self, node_id: str, call: ToolCall, output: ToolOutput) -> Outcome:
        return self._tell(node_id, _result(call, output))

    def _tell(self, node_id: str, outcome: Outcome) -> Outcome:
        result, effects = outcome
        for record in effects.file_changes:
            self._emit(FileChanged(node_id, record))
        self._emit(
            ToolCompleted(
                node_id,
                result.call_id,
                result.tool_name,
                result.content,
                result.is_error,
                result.output_meta,
                result.artifact_ids,
            )
        )
        return outcome

    def _tell_time(
        self, phase: str, label: str, node_id: str, began: float, at_least_s: float = 0.0
    ) -> None:
        took = self._monotonic() - began
        if took >= at_least_s:
            self._emit(PhaseTimed(phase, label, round(took * 1000), node_id))


def _checked_arguments(tool: Tool, call: ToolCall) -> JsonObject:
    """The arguments as the schema wants them; what can be read as valid only one way is."""
    if call.arguments_error is not None:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"{call.name}: {call.arguments_error}")
    schema = compiled(tool.definition.input_schema)
    arguments: JsonObject = schema.coerce(call.arguments)
    if problems := schema.problems(arguments):
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"{call.name}: " + "; ".join(problems),
            "call it again with arguments that fit its schema",
        )
    return arguments


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


def _result(call: ToolCall, output: ToolOutput) -> Outcome:
    content, truncation = cut_in_the_middle(output.content)
    meta = output.meta
    if truncation is not None:
        meta = OutputMeta(truncation, None if meta is None else meta.source_url)
    result = ToolResult(call.id, call.name, content, output.is_error, output_meta=meta)
    return result, output.effects


def _together(parts: list[ToolEffects]) -> ToolEffects:
    if not parts:
        return NO_EFFECTS
    return ToolEffects(
        file_changes=tuple(record for part in parts for record in part.file_changes),
        reads=tuple(record for part in parts for record in part.reads),
        read_call_paths=tuple(path for part in parts for path in part.read_call_paths),
    )

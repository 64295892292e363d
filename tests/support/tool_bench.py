"""Tools made of one function each, and a runner to run them with; events and facts are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.graph.workflow import RetryPolicy
from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.events import RunEvent
from engine.vocabulary.tools import (
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolConcurrency,
    ToolDefinition,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import MemoryJournal
from orchestration.runs.limits import Permits
from orchestration.tools.cache import ToolCache, watched_cache
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, ToolContext, ToolOutput, ToolServices, services_in
from orchestration.workspace.paths import Workspace

Work = Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]

SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"path": {"type": "string"}, "count": {"type": "integer"}},
}


def made_tool(
    name: str,
    work: Work,
    concurrency: ToolConcurrency = ToolConcurrency.SHARED,
    tier: ToolTier = ToolTier.READ,
    paths: Callable[[JsonObject], tuple[str, ...]] | None = None,
    **more: Any,
) -> Tool:
    definition = ToolDefinition(name, name, SCHEMA, tier, concurrency)
    return Tool(definition=definition, run=work, lock_paths=paths, **more)


def services(root: Path, **changes: Any) -> ToolServices:
    """The services of a run in the folder; its own folder lies beside it."""
    found = services_in(root.parent / f"{root.name}-run", Workspace(root))
    return msgspec.structs.replace(found, **changes)


def context_in(root: Path, **changes: Any) -> ToolContext:
    """What surrounds a call of node `n` in the folder."""
    found: dict[str, Any] = {
        "node_id": "n",
        "caller_id": "n",
        "call_id": "c1",
        "update": ignore,
    }
    if "services" not in changes:
        found["services"] = services(root)
    return ToolContext(**(found | changes))


def ignore(tail: str) -> None:
    """Nobody looks."""


def admitted_call(
    name: str, identity: str = "c1", node: str = "n", **arguments: Any
) -> AdmittedCall:
    return AdmittedCall(ToolCall(identity, name, arguments), call_digest((node,), name, arguments))


async def say(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    return ToolOutput(f"{context.call_id} {arguments}")


async def turn_the_loop() -> None:
    """Let every task go on until it waits for something that only the test can bring about."""
    for _ in range(10):
        await asyncio.sleep(0)


def bound_call(name: str, targets: tuple[str, ...], **arguments: Any) -> AdmittedCall:
    """A call that a person allowed when it led to these targets."""
    digest = call_digest(("n",), name, arguments, targets)
    return AdmittedCall(ToolCall("c1", name, arguments), digest, is_bound=True)


def batch_of(
    calls: Sequence[AdmittedCall],
    node: str = "n",
    policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION,
    **more: Any,
) -> RunTools:
    return RunTools(node, node.upper(), f"{node}#1", tuple(calls), policy, (node,), **more)


class ToolBench:
    def __init__(
        self,
        root: Path,
        *tools: Tool,
        permits: int = 16,
        policy: RetryPolicy | None = None,
        watched: bool = False,
        journal: MemoryJournal | None = None,
        **more: Any,
    ) -> None:
        """`watched`: the cache hears of changes that others make; `more` is for the runner."""
        self.services = services(root)
        self.cache = watched_cache(self.services) if watched else ToolCache(self.services)
        self.events: list[RunEvent] = []
        self.journal = journal or MemoryJournal()
        self.permits = Permits(permits)
        self.pauses: list[float] = []
        self.runner = ToolRunner(
            ToolRegistry(tools),
            emit=self.events.append,
            journal=self.journal,
            permits=self.permits,
            services=self.services,
            retry_policy=policy or RetryPolicy(),
            cache=self.cache,
            sleep=self._sleep,
            **more,
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def execute(
        self, *calls: AdmittedCall, policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION
    ) -> Coroutine[Any, Any, tuple[tuple[ToolResult, ...], ToolEffects]]:
        return self.runner.execute_batch(batch_of(calls, policy=policy))

    def results(self, *calls: AdmittedCall, **options: Any) -> tuple[ToolResult, ...]:
        return asyncio.run(self.execute(*calls, **options))[0]

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

"""Nodes that call tools through one runner, and tools whose answers can be kept."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from engine.vocabulary.effects import RunTools
from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolResult, ToolTier
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, made_tool

CACHED_FOR_OTHERS = "[cached] Unchanged since node 'a' ran this exact call earlier in this run.\n"


class Searches:
    """A tool that rests on the whole folder: it lists the names in it, and counts its runs."""

    def __init__(self, root: Path, before_answer: Callable[[], Awaitable[None]] | None = None):
        self.runs = 0
        self._root, self._before_answer = root, before_answer
        self.tool = made_tool("list", self._run, is_cacheable=lambda _: True)

    async def _run(self, _: JsonObject, __: ToolContext) -> ToolOutput:
        self.runs += 1
        found = "\n".join(sorted(os.listdir(self._root)))
        if self._before_answer is not None:
            await self._before_answer()
        return ToolOutput(found)


def writer(work: Callable[[], None], *, fails: bool = False) -> Tool:
    async def write(_: JsonObject, __: ToolContext) -> ToolOutput:
        work()
        if fails:
            raise ToolFailure(FailureKind.FAILED, "no")
        return ToolOutput("written")

    return made_tool("w", write, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, writes=True)


class Talk:
    """Calls of several nodes, one batch each."""

    def __init__(self, bench: ToolBench) -> None:
        self._bench = bench
        self._serial = 0

    def batch(self, node: str, tool: str, **arguments: Any) -> RunTools:
        self._serial += 1
        return batch_of([admitted_call(tool, f"c{self._serial}", node, **arguments)], node)

    async def __call__(self, node: str, tool: str, **arguments: Any) -> ToolResult:
        batch = self.batch(node, tool, **arguments)
        (result,), _ = await self._bench.runner.execute_batch(batch)
        return result


def within_a_minute(body: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(body(), 60)

    asyncio.run(bounded())

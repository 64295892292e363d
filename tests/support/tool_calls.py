"""Call one tool directly, without a runner."""

from __future__ import annotations

import asyncio
from typing import Any

from orchestration.tools.tool import Inspected, Tool, ToolContext, ToolOutput


def run_tool(tool: Tool, context: ToolContext, **arguments: Any) -> ToolOutput:
    async def run() -> ToolOutput:
        return await tool.run(arguments, context)

    return asyncio.run(run())


def inspect_tool(tool: Tool, context: ToolContext, **arguments: Any) -> Inspected:
    async def run() -> Inspected:
        assert tool.inspect is not None
        return await tool.inspect(arguments, context)

    return asyncio.run(run())

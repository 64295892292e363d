"""Which tools there are, and which of them a node is offered."""

from __future__ import annotations

from collections.abc import Iterable

from engine.vocabulary.tools import ApprovalMode, ToolAccessPolicy, ToolDefinition, ToolTier
from orchestration.tools.tool import Tool


class ToolRegistry:
    """All tools of this program by name; the `ToolCatalog` of a run.

    Nodes in `nodes_without_tools` are offered nothing, because their model cannot call tools.
    """

    def __init__(
        self, tools: Iterable[Tool], nodes_without_tools: frozenset[str] = frozenset()
    ) -> None:
        """Take tools with names of their own; a name that comes twice is a `ValueError`."""
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.definition.name in self._tools:
                raise ValueError(f"there are two tools named '{tool.definition.name}'")
            self._tools[tool.definition.name] = tool
        self._nodes_without_tools = nodes_without_tools
        everything = tuple(self._tools[name].definition for name in sorted(self._tools))
        self._all = everything
        self._reading = tuple(d for d in everything if d.tier is ToolTier.READ)

    def without_tools_for(self, nodes: frozenset[str]) -> ToolRegistry:
        """The same tools for a run in which these nodes are offered none."""
        return ToolRegistry(self._tools.values(), nodes)

    def offered(
        self, node_id: str, mode: ApprovalMode, policy: ToolAccessPolicy
    ) -> tuple[ToolDefinition, ...]:
        """The tools that the node is offered, sorted by name; the same tuple each time."""
        if node_id in self._nodes_without_tools:
            return ()
        if mode is ApprovalMode.READ_ONLY or policy is ToolAccessPolicy.PLANNING:
            return self._reading
        return self._all

    def definition(self, name: str) -> ToolDefinition | None:
        """A tool's definition by name, offered or not; `None` if nobody knows it."""
        tool = self._tools.get(name)
        return None if tool is None else tool.definition

    def tool(self, name: str) -> Tool | None:
        """A tool by name, `None` if nobody knows it."""
        return self._tools.get(name)

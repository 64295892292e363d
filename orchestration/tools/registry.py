"""Which tools there are, and which of them a node is offered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    ToolAccessPolicy,
    ToolDefinition,
    ToolTier,
)
from orchestration.tools.tool import Tool

_DOCUMENT_WRITERS = frozenset({"write", "edit"})
_EXTERNAL_PREFIX = "mcp_"
_SOURCE_NOTE = (
    " While the plan is being made, only `run://PLAN.md` and Markdown files below docs/ may be "
    "written."
)
_OTHERS_NOTE = " While the plan is being made, only Markdown files below docs/ may be written."


class ToolRegistry:
    """All tools of this program by name; the `ToolCatalog` of a run.

    Nodes in `nodes_without_tools` are offered nothing, because their model cannot call tools.
    `plan_source` is the node that plans, if one does: it alone writes the plan and seals it.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        nodes_without_tools: frozenset[str] = frozenset(),
        plan_source: str | None = None,
    ) -> None:
        """Take tools with names of their own; a name that comes twice is a `ValueError`."""
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.definition.name in self._tools:
                raise ValueError(f"there are two tools named '{tool.definition.name}'")
            self._tools[tool.definition.name] = tool
        self._nodes_without_tools = nodes_without_tools
        self.plan_source = plan_source
        everything = [self._tools[name].definition for name in sorted(self._tools)]
        self._executing = tuple([d for d in everything if d.name != SEAL_PLAN_TOOL])
        self._reading = tuple([d for d in self._executing if d.tier is ToolTier.READ])
        self._planning = tuple(_planning(everything, is_source=False, reads_only=False))
        self._planning_reading = tuple(_planning(everything, is_source=False, reads_only=True))
        self._planning_source = tuple(_planning(everything, is_source=True, reads_only=False))

    def plus(self, *tools: Tool) -> ToolRegistry:
        """These tools and more."""
        return ToolRegistry(
            (*self._tools.values(), *tools), self._nodes_without_tools, self.plan_source
        )

    def for_run(
        self, nodes_without_tools: frozenset[str] = frozenset(), plan_source: str | None = None
    ) -> ToolRegistry:
        """The same tools for a run in which these nodes are offered none, and this one plans."""
        return ToolRegistry(self._tools.values(), nodes_without_tools, plan_source)

    def offered(
        self, node_id: str, mode: ApprovalMode, policy: ToolAccessPolicy
    ) -> tuple[ToolDefinition, ...]:
        """The tools that the node is offered, sorted by name; the same tuple each time."""
        if node_id in self._nodes_without_tools:
            return ()
        reads_only = mode is ApprovalMode.READ_ONLY
        if policy is ToolAccessPolicy.PLANNING:
            if node_id == self.plan_source:
                return self._planning_source
            return self._planning_reading if reads_only else self._planning
        return self._reading if reads_only else self._executing

    def definition(self, name: str) -> ToolDefinition | None:
        """A tool's definition by name, offered or not; `None` if nobody knows it."""
        tool = self._tools.get(name)
        return None if tool is None else tool.definition

    def tool(self, name: str) -> Tool | None:
        """A tool by name, `None` if nobody knows it."""
        return self._tools.get(name)


def _planning(
    everything: Iterable[ToolDefinition], *, is_source: bool, reads_only: bool
) -> Iterator[ToolDefinition]:
    """What is offered while the plan is being made: see `engine.run.plan_mode`."""
    for definition in everything:
        name = definition.name
        if name == SEAL_PLAN_TOOL:
            if is_source:
                yield definition
        elif name in _DOCUMENT_WRITERS:
            if not reads_only:
                note = _SOURCE_NOTE if is_source else _OTHERS_NOTE
                yield replace(definition, description=definition.description + note)
        elif definition.tier is ToolTier.READ and not name.startswith(_EXTERNAL_PREFIX):
            yield definition

from __future__ import annotations

import pytest

from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolDefinition,
    ToolTier,
)
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.tool import Tool, ToolContext, ToolOutput


async def nothing(_: JsonObject, __: ToolContext) -> ToolOutput:
    return ToolOutput("")


def tool(name: str, tier: ToolTier) -> Tool:
    return Tool(definition=ToolDefinition(name, name, {"type": "object"}, tier), run=nothing)


REGISTRY = ToolRegistry(
    [
        tool("write", ToolTier.WRITE),
        tool("edit", ToolTier.WRITE),
        tool("bash", ToolTier.WRITE),
        tool(SEAL_PLAN_TOOL, ToolTier.WRITE),
        tool("read", ToolTier.READ),
        tool("find", ToolTier.READ),
        tool("mcp_docs_search", ToolTier.READ),
    ]
).for_run(plan_source="planner")
EXECUTING = ["bash", "edit", "find", "mcp_docs_search", "read", "write"]


@pytest.mark.parametrize("node", ["n", "planner"])
@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (ApprovalMode.WRITE, EXECUTING),
        (ApprovalMode.YOLO, EXECUTING),
        (ApprovalMode.ALWAYS_ASK, EXECUTING),
        (ApprovalMode.READ_ONLY, ["find", "mcp_docs_search", "read"]),
    ],
)
def test_what_is_offered(node: str, mode: ApprovalMode, names: list[str]) -> None:
    offered = REGISTRY.offered(node, mode, ToolAccessPolicy.EXECUTION)
    assert [d.name for d in offered] == names
    assert REGISTRY.offered(node, mode, ToolAccessPolicy.EXECUTION) is offered


@pytest.mark.parametrize(
    ("node", "mode", "names"),
    [
        ("n", ApprovalMode.YOLO, ["edit", "find", "read", "write"]),
        ("n", ApprovalMode.READ_ONLY, ["find", "read"]),
        ("planner", ApprovalMode.YOLO, ["edit", "find", SEAL_PLAN_TOOL, "read", "write"]),
        ("planner", ApprovalMode.READ_ONLY, ["edit", "find", SEAL_PLAN_TOOL, "read", "write"]),
    ],
)
def test_what_is_offered_while_planning(node: str, mode: ApprovalMode, names: list[str]) -> None:
    """No shell, no subagents, nothing from outside; writers say what they may write (T25)."""
    offered = REGISTRY.offered(node, mode, ToolAccessPolicy.PLANNING)
    assert [d.name for d in offered] == names
    for definition in offered:
        assert ("docs/" in definition.description) == (definition.name in {"write", "edit"})
        assert ("PLAN.md" in definition.description) == (
            definition.name in {"write", "edit"} and node == "planner"
        )


def test_a_node_without_tools_is_offered_none_and_others_all() -> None:
    registry = REGISTRY.for_run(frozenset({"small"}))
    assert registry.offered("small", ApprovalMode.YOLO, ToolAccessPolicy.EXECUTION) == ()
    assert len(registry.offered("big", ApprovalMode.YOLO, ToolAccessPolicy.EXECUTION)) == 6


def test_definitions_are_found_by_name_offered_or_not() -> None:
    found = REGISTRY.definition("write")
    assert found is not None
    assert found.tier is ToolTier.WRITE
    assert REGISTRY.definition("nope") is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'read'"):
        ToolRegistry([tool("read", ToolTier.READ), tool("read", ToolTier.READ)])

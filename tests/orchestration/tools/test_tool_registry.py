from __future__ import annotations

import pytest

from engine.vocabulary.tools import (
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
    [tool("write", ToolTier.WRITE), tool("read", ToolTier.READ), tool("find", ToolTier.READ)]
)


@pytest.mark.parametrize(
    ("mode", "policy", "names"),
    [
        (ApprovalMode.WRITE, ToolAccessPolicy.EXECUTION, ["find", "read", "write"]),
        (ApprovalMode.YOLO, ToolAccessPolicy.EXECUTION, ["find", "read", "write"]),
        (ApprovalMode.ALWAYS_ASK, ToolAccessPolicy.EXECUTION, ["find", "read", "write"]),
        (ApprovalMode.READ_ONLY, ToolAccessPolicy.EXECUTION, ["find", "read"]),
        (ApprovalMode.YOLO, ToolAccessPolicy.PLANNING, ["find", "read"]),
    ],
)
def test_what_is_offered(mode: ApprovalMode, policy: ToolAccessPolicy, names: list[str]) -> None:
    assert [d.name for d in REGISTRY.offered("n", mode, policy)] == names


def test_a_node_without_tools_is_offered_none_and_others_all() -> None:
    registry = REGISTRY.without_tools_for(frozenset({"small"}))
    assert registry.offered("small", ApprovalMode.YOLO, ToolAccessPolicy.EXECUTION) == ()
    assert len(registry.offered("big", ApprovalMode.YOLO, ToolAccessPolicy.EXECUTION)) == 3


def test_definitions_are_found_by_name_offered_or_not() -> None:
    found = REGISTRY.definition("write")
    assert found is not None
    assert found.tier is ToolTier.WRITE
    assert REGISTRY.definition("nope") is None


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'read'"):
        ToolRegistry([tool("read", ToolTier.READ), tool("read", ToolTier.READ)])

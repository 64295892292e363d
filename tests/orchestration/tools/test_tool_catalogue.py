"""The tools of this program, as a set (T24 to T27)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.run.schema import compiled
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolConcurrency,
    ToolTier,
)
from orchestration.settings.model import ToolSettings
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.registry import ToolRegistry

TOOLS = {tool.definition.name: tool for tool in builtin_tools(ToolSettings(), {"brave": "key"})}

READ_SHARED = (ToolTier.READ, ToolConcurrency.SHARED)
WRITE_EXCLUSIVE = (ToolTier.WRITE, ToolConcurrency.EXCLUSIVE)
EXPECTED = {
    "read": READ_SHARED,
    "ls": READ_SHARED,
    "search": READ_SHARED,
    "find": READ_SHARED,
    "ast_grep": READ_SHARED,
    "openflow_update_todo_list": READ_SHARED,
    "web_search": READ_SHARED,
    "write": WRITE_EXCLUSIVE,
    "edit": WRITE_EXCLUSIVE,
    "apply_patch": WRITE_EXCLUSIVE,
    "ast_edit": WRITE_EXCLUSIVE,
    SEAL_PLAN_TOOL: WRITE_EXCLUSIVE,
    "bash": (ToolTier.WRITE, ToolConcurrency.NODE_EXCLUSIVE),
}


def test_tiers_and_concurrency_are_those_of_the_table() -> None:
    found = {
        name: (tool.definition.tier, tool.definition.concurrency) for name, tool in TOOLS.items()
    }
    assert found == EXPECTED


def schemas_in(schema: JsonObject) -> Iterator[tuple[str, Any]]:
    """Every property below a schema, with its own schema."""
    for name, inner in schema.get("properties", {}).items():
        yield name, inner
        yield from schemas_in(inner)
    if isinstance(items := schema.get("items"), dict):
        yield from schemas_in(items)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from schemas_in(branch)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_schema_is_closed_and_says_what_each_part_is_for(name: str) -> None:
    schema = TOOLS[name].definition.input_schema
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for part, inner in schemas_in(schema):
        assert inner.get("description"), part
    assert "_i" not in schema.get("required", [])
    assert sorted(schema["properties"]["_i"]["type"]) == ["null", "string"]
    assert TOOLS[name].definition.description
    for intent in ("why", None):
        problems = compiled(schema).problems({"_i": intent})
        assert not any("_i" in problem for problem in problems)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_what_changes_files_says_so_and_what_only_reads_does_not(name: str) -> None:
    tool = TOOLS[name]
    if tool.definition.tier is ToolTier.READ:
        assert not tool.writes
        assert tool.inspect is None
    if name in {"write", "edit", "apply_patch", "ast_edit", "bash"}:
        assert tool.writes
        assert tool.inspect is not None
    if tool.definition.concurrency is ToolConcurrency.EXCLUSIVE and name != SEAL_PLAN_TOOL:
        assert tool.lock_paths is not None


def test_what_can_be_answered_again() -> None:
    cacheable: dict[str, JsonObject] = {
        "read": {"path": "a.txt"},
        "ls": {"path": "."},
        "search": {"pattern": "x", "paths": "."},
        "find": {"paths": "."},
        "ast_grep": {"pat": "x", "paths": ["."]},
    }
    for name, tool in TOOLS.items():
        check = tool.is_cacheable
        assert (check is not None) == (name in cacheable), name
        if check is not None:
            assert check(cacheable[name])
    for path in ("https://example.org", "run://PLAN.md", "run://handoffs/a/HANDOFF.md"):
        check = TOOLS["read"].is_cacheable
        assert check is not None
        assert not check({"path": path})


@pytest.mark.parametrize("keys", [{}, {"brave": " "}])
def test_without_keys_there_is_no_web_search(keys: dict[str, str]) -> None:
    names = {tool.definition.name for tool in builtin_tools(ToolSettings(), keys)}
    assert names == EXPECTED.keys() - {"web_search"}


def test_a_node_is_offered_all_of_them_but_the_one_that_seals_a_plan() -> None:
    registry = ToolRegistry(builtin_tools(ToolSettings()))
    offered = registry.offered("n", ApprovalMode.WRITE, ToolAccessPolicy.EXECUTION)
    names = [definition.name for definition in offered]
    assert names == sorted(EXPECTED.keys() - {"web_search", SEAL_PLAN_TOOL})
    assert len(names) == 11

"""The two tools with which a node divides its task: what they say and what they take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.run.schema import compiled
from engine.run.state import Subagent
from engine.run.subagent_tools import (
    CALL,
    DECLARE,
    BadSubagentCall,
    ad_hoc_prompt,
    declared_content,
    offer,
    read_call,
    read_declaration,
)
from engine.vocabulary.tools import SUBAGENT_TOOLS, ToolTier


def test_both_tools_write_and_describe_every_property() -> None:
    assert {DECLARE.name, CALL.name} == SUBAGENT_TOOLS
    for definition in (DECLARE, CALL):
        assert definition.tier is ToolTier.WRITE
        assert definition.input_schema["additionalProperties"] is False
        assert all("description" in p for p in definition.input_schema["properties"].values())
        assert "_i" not in definition.input_schema["properties"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"subagents": []},
        {"subagents": "Ann"},
        {"subagents": ["Ann"]},
        {"subagents": [{"name": "Ann"}]},
        {"subagents": [{"purpose": "to count"}]},
        {"subagents": [{"name": "Ann", "purpose": " "}]},
        {"subagents": [{"name": 3, "purpose": "to count"}]},
        {"subagents": [{"name": "Ann", "purpose": "to count", "tools": []}]},
        {"subagents": [{"name": "Ann", "purpose": "to count"}, {"name": "Bob"}]},
    ],
)
def test_a_declaration_that_does_not_fit_is_refused_as_the_schema_refuses_it(
    arguments: dict[str, Any],
) -> None:
    with pytest.raises(BadSubagentCall):
        read_declaration(arguments)
    blank = any(item.get("purpose") == " " for item in _items(arguments))
    assert blank or not compiled(DECLARE.input_schema).is_valid(arguments)


def _items(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    items = arguments.get("subagents")
    return [i for i in items if isinstance(i, dict)] if isinstance(items, list) else []


def test_the_problem_names_the_item_and_the_field() -> None:
    items = [{"name": "Ann", "purpose": "to count"}, {"name": "Bob", "tools": []}]
    with pytest.raises(BadSubagentCall, match="subagent 2 has fields that are not known: tools"):
        read_declaration({"subagents": items})


def test_a_declaration_is_read_in_order() -> None:
    items = [{"name": " Ann ", "purpose": "to count"}, {"name": "Bob", "purpose": "to add"}]
    assert read_declaration({"subagents": items}) == (("Ann", "to count"), ("Bob", "to add"))


@pytest.mark.parametrize(
    "arguments", [{}, {"subagent_id": "a"}, {"input": "x"}, {"subagent_id": "a", "input": ["x"]}]
)
def test_a_call_needs_an_id_and_a_task(arguments: dict[str, Any]) -> None:
    with pytest.raises(BadSubagentCall):
        read_call(arguments)
    assert not compiled(CALL.input_schema).is_valid(arguments)


def test_available_subagents_are_listed_where_they_are_called() -> None:
    declare, call = offer([Subagent("s1", "Ann", "to count"), Subagent("s2", "Bob", "to add")])
    assert declare is DECLARE
    assert call.description.startswith(CALL.description)
    assert call.description.endswith("- s1 (Ann): to count\n- s2 (Bob): to add")
    assert offer([]) == (DECLARE, CALL)


def test_the_result_of_a_declaration_is_json_with_the_ids() -> None:
    told = json.loads(declared_content([Subagent("s1", "Änn", "to count")]))
    assert told["declared"] == [
        {"id": "s1", "name": "Änn", "purpose": "to count", "status": "declared"}
    ]
    assert "message" in told


def test_an_ad_hoc_prompt_says_who_what_for_and_how_it_ends() -> None:
    prompt = ad_hoc_prompt("Ann", "to count")
    assert "Ann" in prompt
    assert "to count" in prompt
    assert "openflow_submit_node_output" in prompt

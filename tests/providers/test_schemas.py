"""The tools of a request and the forms of their schemas."""

from __future__ import annotations

import logging
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    JsonObject,
    ToolConfig,
    ToolDefinition,
)
from providers.schema_forms import RecursiveSchema, is_strict, nested_under, plain
from providers.schemas import OfferedTool, offered_tools
from providers.specs import SPECS
from tests.support.requests import request_for

OPENAI, GEMINI, CUSTOM = SPECS["openai"], SPECS["gemini"], SPECS["custom_openai_compatible"]
CLOSED: JsonObject = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "n": {"type": ["integer", "null"]}},
    "required": ["title", "n"],
    "additionalProperties": False,
}
TREE: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def named(tools: tuple[OfferedTool, ...]) -> dict[str, OfferedTool]:
    return {tool.name: tool for tool in tools}


def submit(schema: JsonObject, **changes: Any) -> OfferedTool:
    request = request_for(output_schema=schema, **changes)
    return named(offered_tools(request, changes.pop("spec", CUSTOM)))[SUBMIT_TOOL]


def fits(schema: JsonObject, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def test_the_submit_tool_wraps_the_schema_and_requires_both_parts() -> None:
    schema = submit(CLOSED).schema
    assert schema["properties"]["output"] == CLOSED
    assert schema["required"] == ["output", "assistant_message"]
    output = {"title": "A", "n": None}
    assert fits(schema, {"output": output, "assistant_message": None})
    assert not fits(schema, {"output": output})
    assert not fits(schema, {"output": {}, "assistant_message": None})


@pytest.mark.parametrize(
    "schema",
    [
        TREE,
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "p": {"type": "object", "properties": {"q": {"$ref": "#/$defs/n"}}},
                "n": {"type": "integer"},
            },
            "type": "object",
            "properties": {"name": {"$ref": "#/$defs/p"}, "$ref": {"type": "string"}},
        },
        {
            "type": "object",
            "properties": {
                "h": {"type": "object"},
                "a": {"type": "array", "items": {"$ref": "#/properties/h"}},
            },
        },
    ],
)
@settings(deadline=None)
@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["name", "children", "q", "a", "h", "$ref"]), inner)
        ),
        max_leaves=8,
    )
)
def test_references_still_point_to_what_they_pointed_to(schema: JsonObject, value: Any) -> None:
    envelope = submit(schema).schema
    assert fits(envelope, {"output": value, "assistant_message": None}) == fits(schema, value)


def test_what_looks_like_a_reference_in_a_value_is_left_alone() -> None:
    schema = {"type": "object", "enum": [{"$ref": "#"}], "default": {"$ref": "#"}}
    assert nested_under("output", schema) == (schema, {})


def test_questions_are_offered_as_the_node_allows() -> None:
    def names(**changes: Any) -> list[str]:
        return [t.name for t in offered_tools(request_for(**changes), CUSTOM)]

    free_only = ToolConfig(allow_structured_user_input=False)
    assert names() == [SUBMIT_TOOL]
    assert names(allow_user_input=True) == [SUBMIT_TOOL, REQUEST_INPUT_TOOL, ASK_QUESTION_TOOL]
    assert names(allow_user_input=True, tool_config=free_only) == [SUBMIT_TOOL, REQUEST_INPUT_TOOL]
    assert names(allow_user_input=True, conversation_mode=True) == [SUBMIT_TOOL, ASK_QUESTION_TOOL]


def test_the_question_tools_describe_what_is_asked() -> None:
    tools = named(offered_tools(request_for(allow_user_input=True), CUSTOM))
    options = [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]
    question = {"id": "q1", "header": "Tag", "question": "Which?", "options": options}
    assert fits(tools[ASK_QUESTION_TOOL].schema, {"questions": [question]})
    assert not fits(tools[ASK_QUESTION_TOOL].schema, {"questions": []})
    assert not fits(tools[ASK_QUESTION_TOOL].schema, {"questions": [{**question, "id": "1"}]})
    assert fits(tools[REQUEST_INPUT_TOOL].schema, {"assistant_message": "Which?"})


def test_nodes_that_write_files_may_hand_over_a_path() -> None:
    write = ToolDefinition("write", "Write.", {"type": "object"})
    fixed = {"type": "string", "enum": ["a"]}
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "T."}, "kind": fixed},
    }
    output = submit(schema, available_tools=(write,)).schema["properties"]["output"]
    assert output["properties"]["text"]["description"].startswith("T. May be the path")
    assert output["properties"]["kind"] == fixed
    assert submit(schema).schema["properties"]["output"] == schema
    markdown = submit(schema, available_tools=(write,), handoff_format="markdown")
    assert markdown.schema["properties"]["output"] == schema


def test_strict_is_for_closed_schemas_of_services_that_have_it() -> None:
    tools = (
        ToolDefinition("closed", "C.", CLOSED),
        ToolDefinition("open", "O.", {"type": "object", "properties": {"a": {"type": "string"}}}),
    )
    request = request_for(output_schema=CLOSED, available_tools=tools)
    offered = named(offered_tools(request, OPENAI))
    assert {name: tool.strict for name, tool in offered.items()} == {
        SUBMIT_TOOL: True,
        "closed": True,
        "open": False,
    }
    assert offered["open"].schema == tools[1].input_schema
    assert not any(tool.strict for tool in offered_tools(request, CUSTOM))


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {**CLOSED, "required": ["title"]},
        {**CLOSED, "properties": {"title": {"type": "object"}, "n": {"type": "integer"}}},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "string", "maxLength": 3},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"oneOf": [{"type": "string"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
        True,
    ],
)
def test_an_open_schema_is_not_strict(schema: Any) -> None:
    assert not is_strict(schema)


@pytest.mark.parametrize(
    "schema",
    [
        CLOSED,
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "array", "items": CLOSED, "maxItems": 3},
        {"anyOf": [CLOSED, {"type": "null"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": CLOSED}},
        {"enum": ["a", "b"]},
    ],
)
def test_a_closed_schema_is_strict(schema: JsonObject) -> None:
    assert is_strict(schema)


def test_a_plain_schema_has_no_references_and_no_rare_words() -> None:
    schema = {
        "$schema": "x",
        "type": "object",
        "properties": {
            "h": {"type": "object"},
            "a": {"type": "array", "items": {"$ref": "#/properties/h"}},
            "o": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "default": {"const": 3},
        },
        "additionalProperties": False,
    }
    assert plain(schema) == {
        "type": "object",
        "properties": {
            "h": {"type": "object"},
            "a": {"type": "array", "items": {"type": "object"}},
            "o": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "default": {"enum": [3]},
        },
    }
    with pytest.raises(RecursiveSchema):
        plain(TREE)


def test_a_reference_beside_other_words_keeps_them() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x~1y", "description": "A."}, "b": {"$ref": "#/none"}},
        "$defs": {"x/y": {"type": "string"}},
    }
    assert plain(schema) == {"properties": {"a": {"type": "string", "description": "A."}, "b": {}}}


def test_a_tool_that_cannot_be_written_plainly_is_left_out_by_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools = (ToolDefinition("tree", "T.", TREE), ToolDefinition("flat", "F.", CLOSED))
    with caplog.at_level(logging.WARNING):
        offered = named(offered_tools(request_for(available_tools=tools), GEMINI))
    assert set(offered) == {SUBMIT_TOOL, "flat"}
    assert "additionalProperties" not in offered["flat"].schema
    assert "'tree'" in caplog.text
    assert "Gemini" in caplog.text


def test_submitting_is_offered_even_if_its_schema_cannot_be_written_plainly() -> None:
    offered = named(offered_tools(request_for(output_schema=TREE), GEMINI))
    assert offered[SUBMIT_TOOL].schema["properties"]["output"] == {"type": "object"}

"""The tools that a request offers, harness tools first, in a form that all wires can send."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    JsonObject,
)
from providers.schema_forms import RecursiveSchema, is_strict, nested_under, plain
from providers.specs import ProviderSpec

log = logging.getLogger(__name__)

Bound = Callable[[JsonObject], JsonObject]
"""Limits every text and array of a schema, for models that would go on for ever."""

_WRITE_TOOL = "write"
_FIXED_STRINGS = frozenset({"enum", "const", "pattern", "format", "maxLength"})
_FILE_NOTE = "May be the path of a file that you wrote instead of long content."
_MESSAGE: JsonObject = {
    "type": ["string", "null"],
    "description": "A short note to the person who runs the workflow, or null.",
}


class OfferedTool(Struct, frozen=True):
    """A tool as it goes to a model. `strict`: the service may enforce its schema."""

    name: str
    description: str
    schema: JsonObject
    strict: bool = False


def offered_tools(
    request: AgentRequest,
    spec: ProviderSpec,
    bound: Bound | None = None,
    *,
    is_plain: bool = False,
) -> tuple[OfferedTool, ...]:
    """The tools of a request in the order in which they are sent.

    A model that cannot handle tools gets the submit tool only. A tool whose schema cannot be
    written as the service wants it is left out, with a warning that names it. `is_plain`: it
    has refused a schema that is not.
    """
    if not spec.offers_tools:
        return (_demo_submit_tool(request, bound),)
    harness = {
        REQUEST_INPUT_TOOL: _request_input_tool,
        ASK_QUESTION_TOOL: _ask_question_tool,
    }
    tools = [_submit_tool(request)]
    tools += [harness[name]() for name in request.offered_harness_tools if name in harness]
    tools += [
        OfferedTool(tool.name, tool.description, tool.input_schema)
        for tool in request.available_tools
    ]
    is_plain = is_plain or spec.plain_schemas
    return tuple(formed for tool in tools if (formed := _formed(tool, spec, is_plain)) is not None)


def _formed(tool: OfferedTool, spec: ProviderSpec, is_plain: bool) -> OfferedTool | None:
    schema = tool.schema
    if is_plain:
        try:
            schema = plain(schema)
        except RecursiveSchema:
            if tool.name != SUBMIT_TOOL:
                log.warning(
                    "tool '%s' is not offered: its schema refers to itself, which %s cannot take",
                    tool.name,
                    spec.label,
                )
                return None
            schema = _envelope({"type": "object"}, {})
    strict = spec.strict_tools and is_strict(schema)
    return OfferedTool(tool.name, tool.description, schema, strict)


def _submit_tool(request: AgentRequest) -> OfferedTool:
    output, definitions = nested_under("output", request.output_schema)
    has_files = any(tool.name == _WRITE_TOOL for tool in request.available_tools)
    if has_files and request.handoff_format != "markdown":
        output = _with_file_notes(output)
    return OfferedTool(
        SUBMIT_TOOL,
        "Submit the finished output and end your work on this node. Call it alone.",
        _envelope(output, definitions),
    )


def _envelope(output: JsonObject, definitions: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": {"output": output, "assistant_message": _MESSAGE},
        "required": ["output", "assistant_message"],
        "additionalProperties": False,
        **definitions,
    }


def _demo_submit_tool(request: AgentRequest, bound: Bound | None) -> OfferedTool:
    output, definitions = nested_under("output", request.output_schema)
    schema: JsonObject = {
        "type": "object",
        "properties": {"output": output},
        "required": ["output"],
        "additionalProperties": False,
        **definitions,
    }
    return OfferedTool(SUBMIT_TOOL, "Submit the output.", bound(schema) if bound else schema)


def _with_file_notes(output: JsonObject) -> JsonObject:
    properties = output.get("properties")
    if not isinstance(properties, dict):
        return output
    return {
        **output,
        "properties": {name: _with_file_note(part) for name, part in properties.items()},
    }


def _with_file_note(part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") != "string" or part.keys() & _FIXED_STRINGS:
        return part
    description = part.get("description")
    note = f"{description} {_FILE_NOTE}" if isinstance(description, str) else _FILE_NOTE
    return {**part, "description": note}


def _request_input_tool() -> OfferedTool:
    return OfferedTool(
        REQUEST_INPUT_TOOL,
        "Ask the person one question in free text and wait for the answer. Call it alone.",
        {
            "type": "object",
            "properties": {"assistant_message": {"type": "string", "description": "The question."}},
            "required": ["assistant_message"],
            "additionalProperties": False,
        },
    )


def _ask_question_tool() -> OfferedTool:
    text: JsonObject = {"type": "string"}
    option: JsonObject = {
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "A few words, unlike the other labels."},
            "description": {"type": "string", "description": "What choosing it means."},
        },
        "required": ["label", "description"],
        "additionalProperties": False,
    }
    question: JsonObject = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
            "header": {"type": "string", "description": "A tag of at most 12 characters."},
            "question": text,
            "options": {"type": "array", "items": option, "minItems": 2, "maxItems": 3},
        },
        "required": ["id", "header", "question", "options"],
        "additionalProperties": False,
    }
    return OfferedTool(
        ASK_QUESTION_TOOL,
        "Ask the person one to three questions with choices and wait. Call it alone.",
        {
            "type": "object",
            "properties": {
                "questions": {"type": "array", "items": question, "minItems": 1, "maxItems": 3}
            },
            "required": ["questions"],
            "additionalProperties": False,
        },
    )

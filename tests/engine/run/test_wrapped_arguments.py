"""Calls of tools whose arguments came in the envelope of a call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.completion_protocol import WRAPPED, interpret
from engine.vocabulary.messages import ToolCallsTurn
from engine.vocabulary.tools import JsonObject, ToolCall, ToolDefinition, ToolTier
from tests.support.model_turns import call, request, turn

SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["path"],
    "additionalProperties": False,
}
WANTS_INPUT: JsonObject = {"type": "object", "properties": {"input": {}}}
TOOLS = (
    ToolDefinition("look", "", SCHEMA, ToolTier.READ),
    ToolDefinition("change", "", SCHEMA, ToolTier.WRITE),
    ToolDefinition("open", "", {"type": "object"}, ToolTier.READ),
    ToolDefinition("take", "", WANTS_INPUT, ToolTier.READ),
)
INNER = {"path": "a"}
ENVELOPES: list[JsonObject] = [
    {"arguments": INNER},
    {"parameters": INNER},
    {"input": INNER},
    {"arguments": json.dumps(INNER)},
    {"name": "look", "arguments": INNER},
    {"type": "function", "id": "1", "name": "look", "arguments": json.dumps(INNER)},
    {"arguments": {"parameters": INNER}},
    {"arguments": json.dumps({"arguments": json.dumps(INNER)})},
]


def called(name: str, arguments: Any) -> ToolCall:
    outcome = interpret(turn(call(name, arguments)), request(available_tools=TOOLS))
    assert isinstance(outcome, ToolCallsTurn)
    return outcome.calls[0]


@pytest.mark.parametrize("arguments", ENVELOPES)
def test_a_reading_tool_gets_what_stands_in_the_envelope(arguments: JsonObject) -> None:
    found = called("look", arguments)
    assert found.arguments == INNER
    assert found.repairs == (WRAPPED,)


def test_what_stands_in_it_may_still_have_to_be_coerced() -> None:
    found = called("look", {"arguments": {"path": "a", "count": "5"}})
    assert found.arguments == {"path": "a", "count": "5"}


@pytest.mark.parametrize("arguments", ENVELOPES)
def test_a_writing_tool_gets_what_was_sent(arguments: JsonObject) -> None:
    found = called("change", arguments)
    assert found.arguments == arguments
    assert found.repairs == ()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("look", {"arguments": {"wrong": 1}}),
        ("look", {"arguments": INNER, "path": "b"}),
        ("look", {"name": "change", "arguments": INNER}),
        ("look", {"arguments": "path"}),
        ("look", {"arguments": [INNER]}),
        ("open", {"arguments": INNER}),
        ("take", {"input": INNER}),
        ("nobody", {"arguments": INNER}),
    ],
)
def test_what_is_no_envelope_for_sure_is_left_as_it_is(name: str, arguments: JsonObject) -> None:
    found = called(name, arguments)
    assert found.arguments == arguments
    assert found.repairs == ()


_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(["path", "count", "arguments", "input", "name"]), inner, max_size=3
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["path", "count", "arguments", "input"]), _values))
def test_arguments_that_fit_are_never_taken_apart(arguments: JsonObject) -> None:
    if isinstance(arguments.get("path"), str):
        arguments = {key: value for key, value in arguments.items() if key == "path"}
        assert called("look", arguments).arguments == arguments
    assert called("change", arguments).arguments == arguments
    assert called("open", arguments).arguments == arguments

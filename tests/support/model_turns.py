"""Model turns and the request that they answer, for tests of what a turn means."""

from typing import Any

import pytest

from engine.run.completion_protocol import interpret
from engine.vocabulary.errors import (
    CallFailure,
    MalformedSubmit,
    ModelCallError,
)
from engine.vocabulary.messages import (
    Completed,
    ModelTurn,
    TranscriptView,
    WireCall,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    SUBMIT_TOOL,
    JsonObject,
    ToolDefinition,
)

SUMMARY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
}
OPEN = {"type": "object"}


def request(schema: JsonObject | None = None, **changes: Any) -> AgentRequest:
    fields: dict[str, Any] = {
        "workflow_id": "w",
        "run_id": "r",
        "node_id": "node",
        "node_label": "Node",
        "model": "some-model",
        "provider_id": "some-provider",
        "system_messages": (),
        "task_prompt": "Work.",
        "input": {"upstream": []},
        "output_schema": SUMMARY if schema is None else schema,
        "transcript": TranscriptView(),
        "available_tools": tuple(
            ToolDefinition(name, "", {"type": "object"}) for name in ("read", "list_todos", "write")
        ),
        "allow_user_input": True,
    }
    return AgentRequest(**{**fields, **changes})


def call(name: str, arguments: JsonObject | None, **details: Any) -> WireCall:
    return WireCall(name, arguments, **details)


def turn(*calls: WireCall, **details: Any) -> ModelTurn:
    return ModelTurn(calls=calls, **{"finish_reason": "tool_calls", **details})


def submit(arguments: JsonObject, schema: JsonObject | None = None, **details: Any) -> Completed:
    outcome = interpret(turn(call(SUBMIT_TOOL, arguments), **details), request(schema))
    assert isinstance(outcome, Completed)
    return outcome


def failure_of(finished: ModelTurn, asked: AgentRequest | None = None) -> CallFailure:
    with pytest.raises(ModelCallError) as caught:
        interpret(finished, asked or request())
    return caught.value.failure


def rejected(arguments: JsonObject, schema: JsonObject | None = None) -> ModelCallError:
    with pytest.raises(ModelCallError) as caught:
        interpret(turn(call(SUBMIT_TOOL, arguments)), request(schema))
    return caught.value


def kind_of(error: ModelCallError) -> str:
    assert isinstance(error.failure, MalformedSubmit)
    assert error.candidate is not None
    assert error.candidate.kind == error.failure.kind
    return error.failure.kind

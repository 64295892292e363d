"""Chunks of a Chat Completions stream, and what is read of them."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.tools import HARNESS_TOOLS, ToolDefinition, ToolTier
from providers.chat_events import ChatReader
from providers.stream_parts import TurnBuilder
from tests.support.wire_suite import RecordingSink

OFFERED = HARNESS_TOOLS | {"read", "link", "bash", "get_weather", "list_todos"}
READ = ToolDefinition(
    "read", "Read.", {"type": "object", "properties": {"path": {}}}, ToolTier.READ
)


def delta(reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": reason}]}


def piece(arguments: Any = None, *, name: str | None = None, **where: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    given = {key: value for key, value in function.items() if value is not None}
    return delta(tool_calls=[{**where, "function": given}])


def read(*chunks: dict[str, Any], sink: RecordingSink | None = None) -> ModelTurn:
    builder = TurnBuilder("p", sink)
    reader = ChatReader(builder)
    for chunk in chunks:
        reader.feed(chunk)
    reader.close()
    return builder.turn(OFFERED, (READ,))


def called(*chunks: dict[str, Any]) -> list[tuple[str, Any]]:
    turn = read(*chunks, delta("tool_calls"))
    return [(call.name, call.arguments) for call in turn.calls]

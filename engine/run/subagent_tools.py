"""The two tools through which a node divides its task: their definitions, and reading their calls.

They are the engine's own: no tool port ever sees them. A subagent is not offered them, so nobody
can call a subagent but a node.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from engine.run.state import Subagent
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    SUBMIT_TOOL,
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)

DECLARE = ToolDefinition(
    DECLARE_SUBAGENTS_TOOL,
    "Declare helpers of your own for parts of the task that can be done separately. The result "
    f"names the id of each; {CALL_SUBAGENT_TOOL} then hands them work.",
    {
        "type": "object",
        "properties": {
            "subagents": {
                "type": "array",
                "minItems": 1,
                "description": "The helpers to declare.",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {
                            "type": "string",
                            "description": "A short name, as a person would see it.",
                        },
                        "purpose": {
                            "type": "string",
                            "description": "What it is for and how it should go about it.",
                        },
                    },
                    "required": ["name", "purpose"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["subagents"],
        "additionalProperties": False,
    },
    ToolTier.WRITE,
    ToolConcurrency.SHARED,
)
CALL = ToolDefinition(
    CALL_SUBAGENT_TOOL,
    "Hand one part of the task to a subagent and get its output. It knows nothing but its purpose "
    "and what you write here. Calls that stand next to each other in a turn run side by side.",
    {
        "type": "object",
        "properties": {
            "subagent_id": {
                "type": "string",
                "description": "The id of a subagent that is available or that you declared.",
            },
            "input": {
                "type": "string",
                "description": "The whole task in words: what to do, with what, and what to "
                "give back.",
            },
        },
        "required": ["subagent_id", "input"],
        "additionalProperties": False,
    },
    ToolTier.WRITE,
    ToolConcurrency.SHARED,
)
DEFINITIONS = {definition.name: definition for definition in (DECLARE, CALL)}

_ITEM_FIELDS = frozenset({"name", "purpose"})


class BadSubagentCall(Exception):
    """The arguments of a call of one of the two tools do not fit; says why to the model."""


def offer(available: Iterable[Subagent]) -> tuple[ToolDefinition, ...]:
    """Both tools as they are offered to a node that may call these subagents."""
    lines = [f"- {one.id} ({one.name}): {one.purpose}" for one in available]
    if not lines:
        return (DECLARE, CALL)
    listing = "\n".join(["Available subagents:", *lines])
    return (DECLARE, replace(CALL, description=f"{CALL.description}\n\n{listing}"))


def read_declaration(arguments: JsonObject) -> tuple[tuple[str, str], ...]:
    """Name and purpose of each subagent that a call declares.

    Raises:
        BadSubagentCall: if anything is missing, blank or too much; then nothing is declared.
    """
    items = arguments.get("subagents")
    if not isinstance(items, list) or not items:
        raise BadSubagentCall("'subagents' must be a list with at least one subagent")
    return tuple([_read_item(item, f"subagent {number}") for number, item in enumerate(items, 1)])


def _read_item(item: Any, where: str) -> tuple[str, str]:
    if not isinstance(item, dict):
        raise BadSubagentCall(f"{where} must be an object with 'name' and 'purpose'")
    if unknown := sorted(map(str, item.keys() - _ITEM_FIELDS)):
        raise BadSubagentCall(f"{where} has fields that are not known: {', '.join(unknown)}")
    return _text(item, "name", where), _text(item, "purpose", where)


def read_call(arguments: JsonObject) -> tuple[str, str]:
    """The id of the subagent that is called, and its task.

    Raises:
        BadSubagentCall: if one of them is missing or blank.
    """
    return _text(arguments, "subagent_id", "the call"), _text(arguments, "input", "the call")


def _text(fields: JsonObject, key: str, where: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadSubagentCall(f"{where} needs '{key}' with a text")
    return value.strip()


def declared_content(declared: Iterable[Subagent]) -> str:
    """The result of a declaration."""
    summaries = [
        {"id": one.id, "name": one.name, "purpose": one.purpose, "status": one.status.value}
        for one in declared
    ]
    message = f"Hand them work with {CALL_SUBAGENT_TOOL}, by their ids."
    return json.dumps({"declared": summaries, "message": message}, ensure_ascii=False)


def output_content(output: Any, message: str | None) -> str:
    """The result of a call whose subagent has submitted an output."""
    return json.dumps({"output": output, "message": message}, ensure_ascii=False)


def ad_hoc_prompt(name: str, purpose: str) -> str:
    """The system prompt of a subagent that a node declared."""
    return (
        f"You are {name}, a helper of another agent. Your purpose: {purpose}\n"
        "Nobody answers questions: where something is unclear, take the most sensible assumption "
        f"and say so. When the task is done, call {SUBMIT_TOOL} alone, with the result."
    )


def seed_message(name: str, task: str) -> str:
    """What opens the transcript of a subagent."""
    return f"You are called as the subagent '{name}'. Your task:\n\n{task}"

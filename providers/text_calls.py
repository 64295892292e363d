"""Tool calls that a model printed as text instead of making them.

They count only where the whole message is nothing but calls in a known notation, and only for
executable tools that were offered. Submitting and asking is never done by text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.vocabulary.messages import WireCall
from engine.vocabulary.tools import JsonObject, ToolDefinition
from providers.arguments import decode_arguments
from providers.lenient_json import parse

PRINTED_CALL = "printed_call"

_MAX_CHARACTERS = 64 * 1024
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_FUNCTION = re.compile(r"<function=([\w.-]{1,64})>(.*)</function>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([\w.-]{1,64})>(.*?)</parameter>\s*", re.DOTALL)


def printed_calls(text: str, tools: Sequence[ToolDefinition]) -> tuple[WireCall, ...]:
    """The calls that the text is made of; empty where it is anything else."""
    text = text.strip()
    if not text.startswith(("<", "{")) or len(text) > _MAX_CHARACTERS:
        return ()
    offered = {tool.name: tool for tool in tools}
    calls = []
    for envelope in _envelopes(text):
        call = _function(envelope, offered) or _json_call(envelope, offered)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _envelopes(text: str) -> list[str]:
    if not text.startswith(_OPEN):
        return [text]
    found, at = [], 0
    while at < len(text):
        end = text.find(_CLOSE, at)
        if end < 0 or not text.startswith(_OPEN, at):
            return []
        found.append(text[at + len(_OPEN) : end].strip())
        at = end + len(_CLOSE)
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def _json_call(text: str, offered: Mapping[str, ToolDefinition]) -> WireCall | None:
    try:
        value = parse(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or value.keys() not in (
        {"name", "arguments"},
        {"name", "parameters"},
    ):
        return None
    name = value["name"]
    decoded = decode_arguments(value.get("arguments", value.get("parameters")))
    if not isinstance(name, str) or name not in offered or len(decoded.objects) != 1:
        return None
    return _printed(name, decoded.objects[0])


def _function(text: str, offered: Mapping[str, ToolDefinition]) -> WireCall | None:
    function = _FUNCTION.fullmatch(text)
    if function is None or function.group(1) not in offered:
        return None
    name, body = function.groups()
    properties = offered[name].input_schema.get("properties", {})
    arguments: JsonObject = {}
    at = 0
    while at < len(body):
        parameter = _PARAMETER.match(body, at)
        if parameter is None:
            return _printed(name, arguments) if not body[at:].strip() else None
        key, value = parameter.groups()
        arguments[key] = _typed(value.removeprefix("\n").removesuffix("\n"), properties.get(key))
        at = parameter.end()
    return _printed(name, arguments)


def _typed(value: str, schema: Any) -> Any:
    """A printed value as its schema says; a text wherever a text will do."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind is None or kind == "string" or (isinstance(kind, list) and "string" in kind):
        return value
    try:
        return parse(value)
    except ValueError:
        return value


def _printed(name: str, arguments: JsonObject) -> WireCall:
    return WireCall(name, arguments, repairs=(PRINTED_CALL,))

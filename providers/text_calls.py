"""Tool calls that a model printed as text instead of making them.

They count only where the whole message is nothing but calls in a known notation, and only for
executable tools that were offered. Submitting and asking is never done by text: a submit that was
printed, and a call that cannot be read or names no tool, becomes one that cannot run, so that the
model is told and asked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.vocabulary.errors import PRINTED_CALL
from engine.vocabulary.messages import WireCall
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject, ToolDefinition
from providers.arguments import decode_arguments
from providers.call_assembly import NAMELESS, latitude_for
from providers.lenient_json import parse

PRINTED = "the call was printed as text instead of being made; make it as a tool call"
NOT_OFFERED = "a call of this tool was printed as text, but there is no such tool here"

_MAX_CHARACTERS = 64 * 1024
_THOUGHTS, _AFTER_THOUGHTS = "<think>", "</think>"
_FENCE = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n(.*)\n```", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]{1,64})>(.*)</function>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([\w.-]{1,64})>(.*?)</parameter>\s*", re.DOTALL)
_INVOKE = re.compile(r'\s*<invoke name="([\w.-]{1,64})">(.*?)</invoke>\s*', re.DOTALL)
_NAMED = re.compile(r'\s*<parameter name="([\w.-]{1,64})"[^<>]*>(.*?)</parameter>\s*', re.DOTALL)
_KEYED = re.compile(
    r"\s*<arg_key>\s*([\w.-]{1,64})\s*</arg_key>\s*<arg_value>(.*?)</arg_value>\s*", re.DOTALL
)
_NAME_FIRST = re.compile(r"([\w.-]{1,64})\s*+(?:\[ARGS\]\s*+)?(\{.*\}|<arg_key>.*|)", re.DOTALL)
_BEGINS_CALL = re.compile(r"\s*+(?:[\w.-]{1,64}\s*+(?:\[ARGS\]\s*+)?)?[\[{]")
_FORMS = (
    frozenset({"name", "arguments"}),
    frozenset({"name", "parameters"}),
)
_BESIDE = frozenset({"id", "type"})


class _Marker(NamedTuple):
    """How a notation begins and ends; without an end, the message does."""

    opener: str
    closer: str = ""


_MARKERS = (
    _Marker("<tool_call>", "</tool_call>"),
    _Marker("<function_calls>", "</function_calls>"),
    _Marker("<function=", "</function>"),
    _Marker("<invoke name=", "</invoke>"),
    _Marker("<|tool_call|>"),
    _Marker("<|python_tag|>"),
    _Marker("[TOOL_CALLS]"),
)


class _Printed(NamedTuple):
    name: str
    arguments: Any


class _NotCalls(Exception):
    pass


def printed_calls(text: str, tools: Sequence[ToolDefinition]) -> tuple[WireCall, ...]:
    """The calls that the text is made of; empty where it is anything else."""
    text = text.strip()
    if len(text) > _MAX_CHARACTERS:
        return ()
    if text.startswith(_THOUGHTS):
        text = text.partition(_AFTER_THOUGHTS)[2].lstrip()
    if not text.startswith(("<", "{", "[", "```")):
        return ()
    offered = {tool.name: tool for tool in tools}
    marker = next((m for m in _MARKERS if text.startswith(m.opener)), None)
    try:
        if marker is None:
            return _unmarked(text, offered)
        calls = tuple(_call(p, offered) for p in _marked(text, marker, offered))
        return calls or (_unreadable(NAMELESS, PRINTED),)
    except _NotCalls:
        if marker is None or _speaks_of_calls(text, marker):
            return ()
        return (_unreadable(NAMELESS, PRINTED),)


def _speaks_of_calls(text: str, marker: _Marker) -> bool:
    """Whether the message only speaks of calls: other text follows, or no call does."""
    if marker.closer:
        return marker.closer in text and not text.endswith(marker.closer)
    return _BEGINS_CALL.match(text, len(marker.opener)) is None


def _unmarked(text: str, offered: Mapping[str, ToolDefinition]) -> tuple[WireCall, ...]:
    """Calls in plain JSON, which count only if every one names a tool."""
    fence = _FENCE.fullmatch(text)
    printed = list(_from_json(_parsed(fence.group(1) if fence else text)))
    if not all(name in offered or name == SUBMIT_TOOL for name, _ in printed):
        return ()
    return tuple(_call(each, offered) for each in printed)


def _marked(text: str, marker: _Marker, offered: Mapping[str, ToolDefinition]) -> list[_Printed]:
    try:
        return [p for part in _parts(text, marker) for p in _one(part, marker, offered)]
    except _NotCalls:
        # The end mark may stand inside of an argument.
        return _one(text, marker, offered)


def _parts(text: str, marker: _Marker) -> Iterator[str]:
    at = 0
    while at < len(text):
        end = text.find(marker.closer, at) if marker.closer else len(text)
        if end < 0 or not text.startswith(marker.opener, at):
            raise _NotCalls
        end += len(marker.closer)
        yield text[at:end]
        at = end
        while at < len(text) and text[at].isspace():
            at += 1


def _one(text: str, marker: _Marker, offered: Mapping[str, ToolDefinition]) -> list[_Printed]:
    """What stands between a marker and its end, in whatever notation it is."""
    if not text.endswith(marker.closer):
        raise _NotCalls
    if not marker.opener.endswith("="):
        text = text[len(marker.opener) : len(text) - len(marker.closer)].strip()
    return list(_notated(text, offered))


def _notated(text: str, offered: Mapping[str, ToolDefinition]) -> Iterator[_Printed]:
    function = _FUNCTION.fullmatch(text)
    if function is not None:
        name, body = function.groups()
        yield _Printed(name, _parameters(body, _PARAMETER, offered.get(name)))
    elif text.startswith("<invoke"):
        for name, body in _run(text, _INVOKE):
            yield _Printed(name, _parameters(body, _NAMED, offered.get(name)))
    elif text.startswith(("{", "[")):
        yield from _from_json(_parsed(text))
    else:
        named = _NAME_FIRST.fullmatch(text)
        if named is None:
            raise _NotCalls
        name, body = named.groups()
        if body.startswith("<"):
            yield _Printed(name, _parameters(body, _KEYED, offered.get(name)))
        else:
            yield _Printed(name, body)


def _from_json(value: Any) -> Iterator[_Printed]:
    for item in value if isinstance(value, list) and value else [value]:
        if isinstance(item, dict) and item.get("type") == "function":
            item = item.get("function", item)
        if not isinstance(item, dict) or item.keys() - _BESIDE not in _FORMS:
            raise _NotCalls
        if not isinstance(item["name"], str):
            raise _NotCalls
        yield _Printed(item["name"], item.get("arguments", item.get("parameters")))


def _parsed(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        raise _NotCalls from None


def _run(text: str, pattern: re.Pattern[str]) -> Iterable[tuple[str, str]]:
    """All that the text is made of, piece by piece."""
    at = 0
    while at < len(text):
        piece = pattern.match(text, at)
        if piece is None:
            if text[at:].strip():
                raise _NotCalls
            return
        yield piece.group(1), piece.group(2)
        at = piece.end()


def _parameters(body: str, pattern: re.Pattern[str], tool: ToolDefinition | None) -> JsonObject:
    properties = tool.input_schema.get("properties", {}) if tool is not None else {}
    return {
        key: _typed(value.removeprefix("\n").removesuffix("\n"), properties.get(key))
        for key, value in _run(body, pattern)
    }


def _typed(value: str, schema: Any) -> Any:
    """A printed value as its schema says; a text wherever a text will do."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind is None or kind == "string" or (isinstance(kind, list) and "string" in kind):
        return value
    try:
        return parse(value)
    except ValueError:
        return value


def _call(printed: _Printed, offered: Mapping[str, ToolDefinition]) -> WireCall:
    name = printed.name
    if name not in offered:
        return _unreadable(name, PRINTED if name == SUBMIT_TOOL else NOT_OFFERED)
    decoded = decode_arguments(printed.arguments, latitude_for(name, offered.values()))
    if len(decoded.objects) != 1:
        return _unreadable(name, decoded.problem or PRINTED)
    return WireCall(name, decoded.objects[0], repairs=(PRINTED_CALL, *decoded.repairs))


def _unreadable(name: str, problem: str) -> WireCall:
    return WireCall(name, None, arguments_error=problem, repairs=(PRINTED_CALL,))

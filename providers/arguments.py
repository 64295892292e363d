"""The arguments of a call: strict parsing first, then what may be undone, by name.

The rungs of the ladder, each tried only where the ones above have failed, and each named in the
record of what was repaired:

1. strict JSON, as it stands;
2. several whole objects in a row: calls that a server glued together, or one that it repeated;
3. differences of notation and a second encoding (`lenient_json`): the last rung for a call that
   changes anything;
4. what can only be meant in one way (`tolerant_json`), for calls that only read;
5. words without quotes and prose around the object, for what is checked against a schema.

Everything here is pure and takes time in proportion to the text, two microseconds a character at
most. No rung closes a string or adds a bracket, so a text that was cut off stays unreadable.
"""

from __future__ import annotations

import json
import re
from enum import IntEnum
from typing import Any

from msgspec import Struct

from engine.vocabulary.errors import MAX_CANDIDATE_BYTES
from engine.vocabulary.tools import JsonObject
from providers.lenient_json import (
    MAX_DEPTH,
    JsonProblem,
    StrictText,
    finite,
    nesting_exceeds,
    parse,
    refuse_constant,
    strict_notation,
)
from providers.tolerant_json import tolerant_text

DOUBLE_ENCODING = "double_encoding"
CODE_FENCE = "code_fence"
SPLIT_OBJECTS = "split_objects"
REPEATED_OBJECT = "repeated_object"
EMPTY_START = "empty_start"

MAX_CHARACTERS = 1024 * 1024
"""About twice the longest reply of any model; more only comes from one that runs in circles."""
MAX_VALUES = 20_000
"""How many members and entries they may have together, at any depth."""

_MAX_LEVELS = 2
_FENCE = re.compile(r"\A```[\w-]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS = {
    list: "an array",
    str: "a text",
    bool: "a truth value",
    int: "a number",
    float: "a number",
}


class Decoded(Struct, frozen=True):
    """What the arguments of one call decode to.

    `objects` has one entry, several where a server glued calls together, none where there is a
    `problem`. `unterminated`: the text was cut off.
    """

    objects: tuple[JsonObject, ...] = ()
    problem: str | None = None
    unterminated: bool = False
    repairs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Decoded({len(self.objects)} objects, problem={self.problem!r})"


class _Undecodable(Exception):
    def __init__(self, problem: JsonProblem) -> None:
        self.problem = problem


class Latitude(IntEnum):
    """How far the text of a call's arguments may be from JSON."""

    ENCODING = 0
    """Encodings are undone: for calls that change something."""
    NOTATION = 1
    """Also what can only be meant in one way: for calls that only read."""
    CHECKED = 2
    """Also words without quotes: for what is checked against a schema and does nothing else."""


def decode_arguments(raw: Any, latitude: Latitude = Latitude.ENCODING) -> Decoded:
    """Decode arguments as a wire delivered them: a text, an object or nothing.

    An empty text means an object without members. At most `MAX_CHARACTERS` and
    `MAX_VALUES` are decoded.
    """
    repairs: list[str] = []
    try:
        values = _values(raw, repairs, latitude)
        objects = tuple(_as_object(value) for value in values)
    except _Undecodable as error:
        return Decoded(problem=error.problem.message, unterminated=error.problem.unterminated)
    return Decoded(objects, repairs=tuple(dict.fromkeys(repairs)))


def capped(text: str) -> str:
    """The text, cut where it is longer than may be kept; what was cut stays over the limit."""
    return text[: MAX_CANDIDATE_BYTES + 1]


def _values(raw: Any, repairs: list[str], latitude: Latitude) -> list[Any]:
    if not isinstance(raw, str):
        return [_copied(raw)]
    _refuse_size(raw)
    text = raw.strip().removeprefix("\ufeff")
    for _ in range(_MAX_LEVELS):
        if not text:
            return [{}]
        fence = _FENCE.match(text) if latitude > Latitude.ENCODING else None
        if fence is not None:
            repairs.append(CODE_FENCE)
            text = fence.group(1)
        values = _parsed(text, repairs, latitude)
        if len(values) != 1 or not isinstance(values[0], str):
            return values
        repairs.append(DOUBLE_ENCODING)
        text = values[0].strip()
    return values


def _parsed(text: str, repairs: list[str], latitude: Latitude) -> list[Any]:
    try:
        return [_whole_characters(parse(text), text)]
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            glued = _glued(text, repairs)
            if glued:
                return [_whole_characters(value, text) for value in glued]
    rewritten = strict_notation(text)
    if isinstance(rewritten, JsonProblem) and latitude > Latitude.ENCODING:
        rewritten = _tolerated(text, rewritten, latitude)
    if isinstance(rewritten, JsonProblem):
        raise _Undecodable(rewritten)
    repairs.extend(rewritten.repairs)
    return [_whole_characters(_strictly(rewritten), text)]


def _tolerated(text: str, problem: JsonProblem, latitude: Latitude) -> StrictText | JsonProblem:
    """The text as it was meant, or the problem that strict reading has found in it."""
    if problem.unterminated:
        return problem
    tolerant = tolerant_text(text, bare_words=latitude is Latitude.CHECKED)
    if isinstance(tolerant, JsonProblem) and not tolerant.unterminated:
        return problem
    return tolerant


def _strictly(strict: StrictText) -> Any:
    try:
        return parse(strict.text)
    except ValueError as error:
        raise _Undecodable(JsonProblem(f"not valid JSON ({error})")) from None


def _glued(text: str, repairs: list[str]) -> list[JsonObject]:
    """The objects that the text is made of; empty unless it is made of whole objects only."""
    if nesting_exceeds(text, MAX_DEPTH):
        return []
    decoder = json.JSONDecoder(parse_constant=refuse_constant, parse_float=finite)
    found, at = [], 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except ValueError:
            return []
        if not isinstance(value, dict):
            return []
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    # Some servers begin every call with an empty object, before its arguments come.
    meant = found[1:] if not found[0] and len(found) > 1 and found[1] else found
    if len(meant) < len(found):
        repairs.append(EMPTY_START)
    # A server that sends the whole arguments once more at the end means one call, not two.
    if len(meant) > 1 and all(value == meant[0] for value in meant):
        meant = meant[:1]
        repairs.append(REPEATED_OBJECT)
    elif len(meant) > 1:
        repairs.append(SPLIT_OBJECTS)
    return meant


def _copied(raw: Any) -> Any:
    if raw is None:
        return {}
    try:
        text = json.dumps(raw)
        _refuse_size(text)
        return _whole_characters(parse(text), text)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Undecodable(JsonProblem(f"not valid JSON ({error})")) from None


def _refuse_size(text: str) -> None:
    """Whatever is done with a call takes time in proportion to it, some of it on an event loop."""
    if len(text) > MAX_CHARACTERS:
        raise _Undecodable(
            JsonProblem(
                f"the arguments have {len(text)} characters, and at most {MAX_CHARACTERS} are "
                "taken; do it in several calls"
            )
        )


def _refuse_number(value: Any) -> None:
    pending, count = [value], 0
    while pending:
        part = pending.pop()
        if isinstance(part, dict | list):
            count += len(part)
            if count > MAX_VALUES:
                raise _Undecodable(
                    JsonProblem(
                        f"the arguments have more than {MAX_VALUES} values; do it in several calls"
                    )
                )
            pending.extend(part.values() if isinstance(part, dict) else part)


def _as_object(value: Any) -> JsonObject:
    if value is None:
        return {}
    if isinstance(value, dict):
        _refuse_number(value)
        return value
    raise _Undecodable(JsonProblem(f"must be a JSON object, not {_KINDS[type(value)]}"))


def _whole_characters(value: Any, text: str) -> Any:
    """The value, unless it holds half of a character, which no file and no wire can take."""
    if text.isascii() and not _SURROGATE_ESCAPE.search(text):
        return value
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _Undecodable(JsonProblem("holds half of a character")) from None
    return value

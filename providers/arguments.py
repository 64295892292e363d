"""The arguments of a call: strict parsing first, then what may be undone, by name."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from engine.vocabulary.errors import MAX_CANDIDATE_BYTES
from engine.vocabulary.tools import JsonObject
from providers.lenient_json import (
    MAX_DEPTH,
    JsonProblem,
    StrictText,
    nesting_exceeds,
    parse,
    refuse_constant,
    strict_notation,
)

DOUBLE_ENCODING = "double_encoding"
CODE_FENCE = "code_fence"
SPLIT_OBJECTS = "split_objects"
REPEATED_OBJECT = "repeated_object"
GUESSED = "guessed"

MAX_GUESSED_BYTES = 1024
_MAX_GUESSED_BRACKETS = 48
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


def decode_arguments(raw: Any, *, unwrap_fences: bool = False) -> Decoded:
    """Decode arguments as a wire delivered them: a text, an object or nothing.

    Whatever is not strict JSON may still differ from it in notation only (see `lenient_json`), be
    encoded twice, or be several whole objects in a row. With `unwrap_fences` a Markdown fence
    around it is taken off too. An empty text means an object without members.
    """
    repairs: list[str] = []
    try:
        values = _values(raw, repairs, unwrap_fences=unwrap_fences)
        objects = tuple(_as_object(value) for value in values)
    except _Undecodable as error:
        return Decoded(problem=error.problem.message, unterminated=error.problem.unterminated)
    return Decoded(objects, repairs=tuple(dict.fromkeys(repairs)))


def guess_object(text: str) -> JsonObject | None:
    """An object that the text may have meant to be, found by `json_repair`.

    Only for what is checked against a schema afterwards. Long or deeply bracketed texts are not
    tried: the time it takes grows with their square. Runs long enough to want a thread.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_GUESSED_BYTES:
        return None
    if sum(text.count(bracket) for bracket in "{}[]") > _MAX_GUESSED_BRACKETS:
        return None
    from json_repair import repair_json

    try:
        repaired = parse(str(repair_json(text)))
    except ValueError:
        return None
    return repaired if isinstance(repaired, dict) and repaired else None


def capped(text: str) -> str:
    """The text, cut where it is longer than may be kept; what was cut stays over the limit."""
    return text[: MAX_CANDIDATE_BYTES + 1]


def _values(raw: Any, repairs: list[str], *, unwrap_fences: bool) -> list[Any]:
    if not isinstance(raw, str):
        return [_copied(raw)]
    text = raw.strip().removeprefix("\ufeff")
    for _ in range(_MAX_LEVELS):
        if not text:
            return [{}]
        fence = _FENCE.match(text) if unwrap_fences else None
        if fence is not None:
            repairs.append(CODE_FENCE)
            text = fence.group(1)
        values = _parsed(text, repairs)
        if len(values) != 1 or not isinstance(values[0], str):
            return values
        repairs.append(DOUBLE_ENCODING)
        text = values[0].strip()
    return values


def _parsed(text: str, repairs: list[str]) -> list[Any]:
    try:
        return [_whole_characters(parse(text), text)]
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
            glued = _glued(text)
            if glued:
                repairs.append(SPLIT_OBJECTS if len(glued) > 1 else REPEATED_OBJECT)
                return [_whole_characters(value, text) for value in glued]
    strict = strict_notation(text)
    if isinstance(strict, JsonProblem):
        raise _Undecodable(strict)
    repairs.extend(strict.repairs)
    return [_whole_characters(_strictly(strict), text)]


def _strictly(strict: StrictText) -> Any:
    try:
        return parse(strict.text)
    except ValueError as error:
        raise _Undecodable(JsonProblem(f"not valid JSON ({error})")) from None


def _glued(text: str) -> list[JsonObject]:
    """The objects that the text is made of; empty unless it is made of whole objects only."""
    if nesting_exceeds(text, MAX_DEPTH):
        return []
    decoder, found, at = json.JSONDecoder(parse_constant=refuse_constant), [], 0
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
    # A server that sends the whole arguments once more at the end means one call, not two.
    return found[:1] if all(value == found[0] for value in found) else found


def _copied(raw: Any) -> Any:
    if raw is None:
        return {}
    try:
        text = json.dumps(raw)
        return _whole_characters(parse(text), text)
    except (TypeError, ValueError, RecursionError) as error:
        raise _Undecodable(JsonProblem(f"not valid JSON ({error})")) from None


def _as_object(value: Any) -> JsonObject:
    if value is None:
        return {}
    if isinstance(value, dict):
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

"""Why a text is not a workflow, in words that help."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from engine.graph.file_model import FileModel, keys_of
from engine.graph.json_text import MAX_DEPTH, nesting_exceeds, spans
from engine.graph.problems import Problem
from engine.vocabulary.tools import JsonObject

_PARTS = "a workflow is a JSON object with 'id', 'name', 'nodes' and 'edges'"
_RESTORE = "restore it from a backup"
_KINDS = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


def parsed(text: str | bytes) -> tuple[str, JsonObject, tuple[Problem, ...]]:
    """The text, its JSON object, and what keeps it from being one."""
    try:
        content = text if isinstance(text, str) else text.decode("utf-8")
    except UnicodeDecodeError as error:
        return _refused(
            "not_utf8", f"the file is not UTF-8 text (byte {error.start}): save it as UTF-8"
        )
    content = content.removeprefix("\ufeff")
    if not content.strip():
        return _refused("empty_file", f"the file is empty: {_RESTORE}")
    if "\0" in content:
        return _refused("damaged_file", f"the file holds NUL bytes, so it is damaged: {_RESTORE}")
    suspect = False

    def unique(pairs: list[tuple[str, Any]]) -> JsonObject:
        nonlocal suspect
        members = dict(pairs)
        suspect = suspect or len(members) != len(pairs)
        return members

    def finite(literal: str) -> float:
        nonlocal suspect
        number = float(literal)
        suspect = suspect or not math.isfinite(number)
        return number

    try:
        document = json.loads(
            content, object_pairs_hook=unique, parse_float=finite, parse_constant=finite
        )
    except json.JSONDecodeError as error:
        return _refused("broken_json", _broken(error, content))
    except RecursionError:
        return _refused("nested_too_deeply", _too_deep())
    except ValueError:
        return _refused("broken_json", "the file holds a number with thousands of digits")
    if nesting_exceeds(document, MAX_DEPTH):
        return _refused("nested_too_deeply", _too_deep())
    if not isinstance(document, dict):
        return _refused("not_an_object", f"the file holds {_kind_of(document)}, but {_PARTS}")
    return content, document, tuple(_faults(content, 0, ())) if suspect else ()


def _refused(code: str, message: str) -> tuple[str, JsonObject, tuple[Problem, ...]]:
    return "", {}, (Problem(code, message),)


def _too_deep() -> str:
    return f"the file nests objects and lists more than {MAX_DEPTH} deep: make it flatter"


def _broken(error: json.JSONDecodeError, content: str) -> str:
    place = f"line {error.lineno}, column {error.colno}"
    ends_early = error.pos >= len(content.rstrip()) or error.msg.startswith("Unterminated string")
    if ends_early:
        return f"the file breaks off in the middle of the document ({place}): {_RESTORE}"
    return f"the file is not JSON: {error.msg[0].lower()}{error.msg[1:]} at {place}; correct it"


def _faults(content: str, start: int, path: tuple[str | int, ...]) -> Iterator[Problem]:
    """Where a key stands twice or a number is none that JSON has."""
    seen: set[str | int] = set()
    start = start or content.index("{")
    for span in spans(content, start):
        here = (*path, span.key)
        if span.key in seen:
            message = f"{place(here)} stands there twice: remove one of the two"
            yield Problem("duplicate_key", message, field=place(here))
        seen.add(span.key)
        if isinstance(span.value, dict | list):
            yield from _faults(content, span.value_start, here)
        elif isinstance(span.value, float) and not math.isfinite(span.value):
            literal = content[span.value_start : span.end][:40]
            message = f"{place(here)} is {literal}, but must be a finite number"
            yield Problem("wrong_type", message, field=place(here))


def place(path: Sequence[str | int]) -> str:
    """A path in a document as `nodes[2].agent.model`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step)}]"
    return text


def problems_of(error: ValidationError, document: JsonObject) -> tuple[Problem, ...]:
    """What pydantic found, in our words."""
    return tuple(_problem(details, document) for details in error.errors(include_url=False))


def _problem(details: ErrorDetails, document: JsonObject) -> Problem:
    path = _path(details["loc"], document)
    where = place(path)
    node_id, edge_id = (_id_at(document, path, key) for key in ("nodes", "edges"))
    kind, given = details["type"], details["input"]
    code, message = "wrong_type", ""
    if kind in ("missing", "missing_agent", "union_tag_not_found"):
        tag = {"missing_agent": ".agent", "union_tag_not_found": ".format"}.get(kind, "")
        where += tag
        remedy = "add it" if len(path) > 1 else _PARTS
        code, message = "missing_field", f"{where} is missing: {remedy}"
    elif kind in _KINDS:
        message = f"{where} is {_kind_of(given)}, but must be {_KINDS[kind]}"
    elif kind in ("enum", "literal_error", "union_tag_invalid"):
        context = details.get("ctx", {})
        expected = context.get("expected", context.get("expected_tags"))
        code, message = "unknown_value", f"{where} must be one of {expected}"
    else:
        reason = details["msg"][0].lower() + details["msg"][1:]
        code, message = "unknown_value", f"{where} does not fit: {reason}"
    owner = f"node '{node_id}': " if node_id else f"edge '{edge_id}': " if edge_id else ""
    return Problem(code, owner + message, node_id, edge_id, where)


def _path(loc: tuple[str | int, ...], document: JsonObject) -> tuple[str | int, ...]:
    """The place in the document, without the tags that pydantic puts in."""
    path: list[str | int] = []
    at: Any = document
    for number, step in enumerate(loc):
        try:
            at = at[step]
        except (LookupError, TypeError):
            if number < len(loc) - 1:
                continue
            step = _written_names().get(step, step) if isinstance(step, str) else step
        path.append(step)
    return tuple(path)


@cache
def _written_names() -> dict[str, str]:
    """How a missing key is written, by the spelling that pydantic misses."""
    models: list[type[FileModel]] = [FileModel]
    for model in models:
        models.extend(model.__subclasses__())
    return {key.spellings[0]: key.written for model in models for key in keys_of(model)}


def _id_at(document: JsonObject, path: tuple[str | int, ...], key: str) -> str | None:
    match path:
        case (str(part), int(index), *_) if part == key:
            item = document[key][index]
            item_id = item.get("id") if isinstance(item, dict) else None
            return item_id if isinstance(item_id, str) else None
    return None


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number" if abs(value) < 2**64 else "a huge number"
        case str():
            return "text"
        case list() | tuple():
            return "a list"
    return "an object"

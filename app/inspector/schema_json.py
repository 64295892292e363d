"""A schema as JSON text: read strictly, with the place of whatever is wrong."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, NoReturn

from engine.graph.json_text import MAX_DEPTH, nesting_exceeds, spans

_JSON_PATH = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]")


class NotJson(Exception):
    """A text is no JSON, or says one thing twice; `line` and `column` count from 1."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        self.line, self.column = line, column
        super().__init__(f"Line {line}, column {column}: {reason}")


class _Refused(Exception):
    """Something that JSON allows, or Python does, and a schema must not have."""


class Spot(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


def json_text(value: Any) -> str:
    """A value as text to edit."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def read_json(text: str) -> Any:
    """The value that a text holds.

    Raises:
        NotJson: It holds none, a name twice in one object, or too much nesting.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise NotJson(reason, error.lineno, error.colno) from None
    except _Refused as error:
        spot = _last_spot(text, str(error.args[1]))
        raise NotJson(str(error.args[0]), *spot) from None
    except RecursionError:
        raise NotJson(f"it nests more than {MAX_DEPTH} deep") from None
    if nesting_exceeds(value, MAX_DEPTH // 2):
        raise NotJson(f"it nests more than {MAX_DEPTH // 2} deep")
    return value


def path_in(message: str) -> tuple[str, ...]:
    """The keys of the place that a sentence about a schema ends with, such as `$.properties.a`."""
    _, found, place = message.rpartition("at $")
    if not found:
        return ()
    return tuple(match[1] or match[2] or match[3] for match in _JSON_PATH.finditer(place))


def spot_of(text: str, path: tuple[str, ...]) -> Spot | None:
    """Where the value at a path begins in a text that holds JSON; `None` if it has no such."""
    at = len(text) - len(text.lstrip())
    for key in path:
        if text[at : at + 1] not in ("{", "["):
            return None
        found = next((span for span in spans(text, at) if str(span.key) == key), None)
        if found is None:
            return None
        at = found.value_start
    return _spot(text, at)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _Refused(f"“{key}” is there twice in one object", json.dumps(key))
        made[key] = value
    return made


def _no_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is no number of JSON", name)


def _last_spot(text: str, words: str) -> Spot:
    return _spot(text, max(0, text.rfind(words)))


def _spot(text: str, at: int) -> Spot:
    before = text[:at]
    return Spot(before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1)

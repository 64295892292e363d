"""Texts that are nearly JSON: what they would be in strict JSON, in linear time.

Only differences of notation are undone: raw control characters inside strings, Python's strings
and literals, a comma before a closing bracket. Nothing is guessed: no string is closed, no quote
is moved, no word gets quotes.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from msgspec import Struct

CONTROL_CHARACTERS = "control_characters"
PYTHON_LITERALS = "python_literals"
PYTHON_STRINGS = "python_strings"
TRAILING_COMMAS = "trailing_commas"

MAX_DEPTH = 100
"""How deeply arrays and objects may be nested: deeper values break those who handle them later."""

_TOKEN = re.compile(
    r"""(?P<space>\s++)
      | (?P<mark>[{}\[\]:,])
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')
      | (?P<open>["'])
      | (?P<word>[^\s{}\[\]:,"']++)
    """,
    re.VERBOSE | re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r'\\x[0-9a-fA-F]{2}|\\.|"', re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEGINNINGS = frozenset(
    word[:end]
    for word in ("true", "false", "null", "True", "False", "None")
    for end in range(1, len(word))
)
_NUMBER_BEGINNING = re.compile(r"-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?")


class JsonProblem(Struct, frozen=True):
    """Why a text is not JSON, never quoting it. `unterminated`: JSON texts begin like this."""

    message: str
    unterminated: bool = False


class StrictText(Struct, frozen=True):
    """A text in strict notation and the names of what was changed in it."""

    text: str
    repairs: tuple[str, ...]


def parse(text: str) -> Any:
    """Decode strict JSON: no NaN, no Infinity, no nesting beyond `MAX_DEPTH`.

    Raises:
        ValueError: if it is not that; `problem_in` says what is wrong.
    """
    if nesting_exceeds(text, MAX_DEPTH):
        raise ValueError("nested too deeply")
    return json.loads(text, parse_constant=refuse_constant)


def nesting_exceeds(text: str, limit: int) -> bool:
    """Whether brackets outside of strings are nested beyond `limit`."""
    if text.count("{") + text.count("[") <= limit:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "mark":
            mark = token.group()
            depth += (mark in "{[") - (mark in "}]")
            if depth > limit:
                return True
    return False


def strict_notation(text: str) -> StrictText | JsonProblem:
    """Rewrite a text in strict notation, or say what stands in the way."""
    pieces: list[str] = []
    repairs: set[str] = set()
    for token in _TOKEN.finditer(text):
        kind, piece = token.lastgroup, token.group()
        if kind == "space":
            continue
        if kind == "open":
            return _cut_off("".join(pieces) + '"') or problem_in(text)
        if kind == "string":
            rewritten = _strict_string(piece, repairs)
            if rewritten is None:
                return problem_in(text)
            piece = rewritten
        elif kind == "word" and piece in _WORDS:
            repairs.add(PYTHON_LITERALS)
            piece = _WORDS[piece]
        elif kind == "word" and token.end() == len(text) and _may_go_on(piece):
            return _cut_off("".join(pieces) + "0") or problem_in(text)
        elif piece in ("}", "]") and pieces and pieces[-1] == ",":
            repairs.add(TRAILING_COMMAS)
            pieces.pop()
        # Without its spaces a text could read `1 2` as `12`.
        if kind in ("string", "word") and pieces and pieces[-1][-1] not in "{}[]:,":
            pieces.append(" ")
        pieces.append(piece)
    strict = "".join(pieces)
    if nesting_exceeds(strict, MAX_DEPTH):
        return JsonProblem("the arguments are nested too deeply")
    if _strict_problem(strict) is None:
        return StrictText(strict, tuple(sorted(repairs)))
    return _cut_off(strict) or problem_in(text)


def problem_in(text: str) -> JsonProblem:
    """Why a text is not JSON, raw control characters aside."""
    return _strict_problem(text) or JsonProblem("not valid JSON")


def _strict_problem(text: str) -> JsonProblem | None:
    try:
        json.loads(text, strict=False, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        reason = error.msg.partition(":")[0].lower()
        return JsonProblem(
            f"not valid JSON at {line}column {error.colno} ({reason})",
            unterminated=reason.startswith("unterminated") or error.pos >= len(text.rstrip()),
        )
    except RecursionError:
        return JsonProblem("the arguments are nested too deeply")
    except ValueError as error:
        return JsonProblem(f"not valid JSON ({error})")
    return None


def _cut_off(beginning: str) -> JsonProblem | None:
    """The problem of a text that was cut off, if nothing else is wrong with its beginning."""
    problem = _strict_problem(beginning)
    if problem is not None and problem.unterminated:
        return JsonProblem("the arguments end in the middle", unterminated=True)
    return None


def _may_go_on(word: str) -> bool:
    return word in _BEGINNINGS or _NUMBER_BEGINNING.fullmatch(word) is not None


def _strict_string(literal: str, repairs: set[str]) -> str | None:
    """A string literal in double quotes, `None` if an escape in it has no meaning."""
    body, found = literal[1:-1], set()
    if literal[0] == "'":
        found.add(PYTHON_STRINGS)

    def rewrite(match: re.Match[str]) -> str:
        escape = match.group()
        if escape == '"':
            return '\\"'
        if escape == "\\'":
            found.add(PYTHON_STRINGS)
            return "'"
        if escape[1] == "x" and len(escape) == 4:
            found.add(PYTHON_STRINGS)
            return "\\u00" + escape[2:]
        if escape[1] < " ":
            # A backslash before a raw line break: neither JSON nor one clear Python meaning.
            raise ValueError
        return escape

    if "\\" in body or '"' in body:
        try:
            body = _ESCAPE.sub(rewrite, body)
        except ValueError:
            return None
    if _CONTROL.search(body):
        found.add(CONTROL_CHARACTERS)
        body = _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", body)
    repairs |= found
    return f'"{body}"'


def refuse_constant(name: str) -> NoReturn:
    """Refuse `NaN` and the infinities, which the standard library would let pass."""
    raise ValueError(f"{name} is not JSON")

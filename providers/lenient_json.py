"""Texts that are nearly JSON: what they would be in strict JSON, in linear time.

Only differences of notation are undone: raw control characters inside strings, Python's strings
and literals, a comma before a closing bracket. Nothing is guessed: no string is closed, no quote
is moved, no word gets quotes.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from math import isinf
from typing import Any, NoReturn

from msgspec import Struct

CONTROL_CHARACTERS = "control_characters"
PYTHON_LITERALS = "python_literals"
PYTHON_STRINGS = "python_strings"
TRAILING_COMMAS = "trailing_commas"

MAX_DEPTH = 100
"""How deeply arrays and objects may be nested: deeper values break those who handle them later."""

_WORD = r"""[^\s{}\[\]:,"']"""
_TOKEN = re.compile(
    rf"""(?P<plain>(?:
            [\s{{}}\[\]:]++
          | ,(?!\s*+[}}\]])
          | "[^"\\\x00-\x1f]*+"
          | (?!(?:True|False|None)(?!{_WORD})){_WORD}++
        )++)
      | (?P<comma>,)
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')
      | (?P<open>["'])
      | (?P<word>{_WORD}++)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING = re.compile(
    r"""\"[^"\\]*+(?:\\.[^"\\]*+)*+\"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|["'].*+""", re.DOTALL
)
_STEPS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
_NO_BRACKETS = bytes(code for code in range(128) if code not in _STEPS)
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPE = re.compile(r'\\x[0-9a-fA-F]{2}|\\.|"', re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_BEGINNINGS = frozenset(
    word[:end]
    for word in ("true", "false", "null", "True", "False", "None")
    for end in range(1, len(word))
)
_MAY_GO_ON = "".join(sorted({*"".join(_BEGINNINGS), *"0123456789.eE+-"}))
_NOTHING_BEFORE = frozenset(["", "{", "[", ",", ":"])
_BEFORE_WORD = frozenset("{}[]:,\"' \t\r\n")
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
    """Decode strict JSON: finite numbers only, no nesting beyond `MAX_DEPTH`.

    Raises:
        ValueError: if it is not that; `problem_in` says what is wrong.
    """
    if nesting_exceeds(text, MAX_DEPTH):
        raise ValueError("nested too deeply")
    return json.loads(text, parse_constant=refuse_constant, parse_float=finite)


def nesting_exceeds(text: str, limit: int) -> bool:
    """Whether brackets outside of strings are nested beyond `limit`."""
    if text.count("{") + text.count("[") <= limit:
        return False
    brackets = _STRING.sub("", text).encode("ascii", "ignore").translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > limit


def strict_notation(text: str) -> StrictText | JsonProblem:
    """Rewrite a text in strict notation, or say what stands in the way."""
    pieces: list[str] = []
    repairs: set[str] = set()
    before: str | None = None
    for token in _TOKEN.finditer(text):
        kind, piece = token.lastgroup, token.group()
        if kind == "open":
            return _cut_off("".join(pieces) + '"') or problem_in(text)
        if kind == "comma":
            if before == "plain" and pieces[-1].rstrip()[-1:] in _NOTHING_BEFORE:
                return problem_in(text)
            repairs.add(TRAILING_COMMAS)
            continue
        if kind == "string":
            rewritten = strict_string(piece, repairs)
            if rewritten is None:
                return problem_in(text)
            piece = rewritten
        elif kind == "word":
            repairs.add(PYTHON_LITERALS)
            piece = _WORDS[piece]
        pieces.append(piece)
        before = kind
    strict = "".join(pieces)
    if nesting_exceeds(strict, MAX_DEPTH):
        return JsonProblem("the arguments are nested too deeply")
    if _strict_problem(strict) is None:
        return StrictText(strict, tuple(sorted(repairs)))
    return _cut_off(strict) or _cut_off(_without_beginning(strict)) or problem_in(text)


def problem_in(text: str) -> JsonProblem:
    """Why a text is not JSON, raw control characters aside."""
    return _strict_problem(text) or JsonProblem("not valid JSON")


def _strict_problem(text: str) -> JsonProblem | None:
    try:
        json.loads(text, strict=False, parse_constant=refuse_constant, parse_float=finite)
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


def _without_beginning(text: str) -> str:
    """The text with a number in place of a word at its end that may have been going on."""
    rest = text.rstrip(_MAY_GO_ON)
    word = text[len(rest) :]
    is_word = not rest or rest[-1] in _BEFORE_WORD
    if is_word and (word in _BEGINNINGS or (word and _NUMBER_BEGINNING.fullmatch(word))):
        return rest + "0"
    return text


def strict_string(literal: str, repairs: set[str]) -> str | None:
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


def finite(text: str) -> float:
    """The number that a text spells; refuses one too large to be kept, which would not come back.

    It would become an infinity, and that is no JSON.
    """
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number

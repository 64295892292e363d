"""Values as a grammar would let a model write them, drawn by chance."""

from __future__ import annotations

import datetime
import re
import uuid
from random import Random
from typing import Any

from engine.vocabulary.tools import JsonObject

_CLASS = re.compile(r"\[(\\.|[^\]])*\]")
_COUNT = re.compile(r"\{(\d+),(\d+)\}|\?")


def sample(schema: JsonObject, chance: Random) -> Any:
    """A value that fits those keywords of a bounded schema that grammars know."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return sample(chance.choice(schema["anyOf"]), chance)
    match schema["type"]:
        case "string":
            return _text(schema, chance)
        case "integer":
            low = schema.get("minimum", schema.get("maximum", 0) - 50)
            return chance.randint(low, schema.get("maximum", low + 50))
        case "number":
            return round(chance.uniform(-1e3, 1e3), chance.randint(0, 3))
        case "array" if "prefixItems" in schema:
            return [sample(part, chance) for part in schema["prefixItems"]]
        case "array":
            count = chance.randint(schema["minItems"], schema["maxItems"])
            return [sample(schema["items"], chance) for _ in range(count)]
        case "object":
            return {name: sample(part, chance) for name, part in schema["properties"].items()}
        case "boolean":
            return chance.random() < 0.5
    return None


def sample_text(pattern: str, chance: Random) -> str:
    """A text that fits a bounded pattern: classes, groups, alternatives and `{m,n}`."""
    text, end = _alternatives(pattern[1:-1], 0, chance)
    assert end == len(pattern) - 2, pattern
    return text


def _text(schema: JsonObject, chance: Random) -> str:
    if "pattern" in schema:
        return sample_text(schema["pattern"], chance)
    if schema.get("format") == "date":
        return str(datetime.date(2000, 1, 1) + datetime.timedelta(days=chance.randint(0, 9999)))
    if schema.get("format") == "uuid":
        return str(uuid.UUID(int=chance.getrandbits(128)))
    length = chance.choice([schema["minLength"], schema["maxLength"]])
    return "".join(chance.choice("aZ9 é.!\n") for _ in range(length))


def _alternatives(pattern: str, at: int, chance: Random) -> tuple[str, int]:
    found = []
    while True:
        text, at = _sequence(pattern, at, chance)
        found.append(text)
        if pattern[at : at + 1] != "|":
            return chance.choice(found), at
        at += 1


def _sequence(pattern: str, at: int, chance: Random) -> tuple[str, int]:
    text = ""
    while at < len(pattern) and pattern[at] not in "|)":
        _, end = _atom(pattern, at, chance)
        counts = _COUNT.match(pattern, end)
        low, high = (int(n or i) for i, n in enumerate(counts.groups())) if counts else (1, 1)
        for _ in range(chance.randint(low, high)):
            text += _atom(pattern, at, chance)[0]
        at = counts.end() if counts else end
    return text, at


def _atom(pattern: str, at: int, chance: Random) -> tuple[str, int]:
    if pattern[at] == "(":
        text, end = _alternatives(pattern, at + 1, chance)
        return text, end + 1
    if pattern[at] == "[":
        letters = _CLASS.match(pattern, at)
        assert letters is not None, pattern
        return _character(letters.group(), chance), letters.end()
    if pattern[at] == "\\":
        return pattern[at + 1], at + 2
    return pattern[at], at + 1


def _character(letters: str, chance: Random) -> str:
    members = re.findall(r"(\\x..|\\.|[^\\])(?:-(\\x..|\\.|[^\\]))?", letters[1:-1])
    low, high = chance.choice(members)
    if not high:
        return _letter(low)
    return chr(chance.randint(ord(_letter(low)), ord(_letter(high))))


def _letter(text: str) -> str:
    return chr(int(text[2:], 16)) if text.startswith("\\x") else text[-1]

"""How much work a schema can make: forms that offer forms multiply with every level.

A tree whose nodes are one of two kinds is enough: to word what is wrong with a wrong leaf 30 levels
down means two to the power of 30 reasons. Such work is measured before it is begun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

MAX_UNFOLDED = 100_000
"""How many schemas one value may have to be held against because of references in a schema."""

MAX_NESTED_FORMS = 10_000
"""How many times a form within another form is held against a part of a value, for its words."""

UNFOLDS_TOO_FAR = (
    f"its references unfold to more than {MAX_UNFOLDED} schemas for one value; offer fewer forms"
)

_MAX_STEPS = 100_000
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_BRANCHES = ("anyOf", "oneOf", "allOf")
_SINGLE = ("not", "if", "then", "else")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_REST_OF_OBJECT = ("additionalProperties", "unevaluatedProperties")
_REST_OF_LIST = ("additionalItems", "unevaluatedItems", "contains")


class SchemaCost:
    """Measures one schema."""

    def __init__(self, schema: Any) -> None:
        self._root = schema
        self._named: dict[str, Any] = {}
        self._branches = False
        self._parts = list(self._all_parts())

    def unfolds_too_far(self) -> bool:
        """Whether references multiply beyond `MAX_UNFOLDED`, whatever the value is."""
        counts: dict[int, int] = {}
        try:
            return any(self._unfolded(part, counts) > MAX_UNFOLDED for part in self._parts)
        except RecursionError:
            return True

    def can_word(self, value: Any) -> bool:
        """Whether it can be said in a moment what is wrong with `value`."""
        if not self._branches:
            return True
        pending: list[tuple[Any, Any, int]] = [(self._root, value, 0)]
        nested = 0
        for _ in range(_MAX_STEPS):
            if not pending:
                break
            schema, part, level = pending.pop()
            if not isinstance(schema, dict):
                continue
            nested += level > 1
            if nested > MAX_NESTED_FORMS:
                return False
            pending.extend((form, part, level + step) for form, step in self._in_place(schema))
            pending.extend((below, inner, level) for below, inner in _below(schema, part))
        return True

    def _all_parts(self) -> Iterator[dict[str, Any]]:
        pending = [self._root]
        while pending:
            part = pending.pop()
            if isinstance(part, list):
                pending.extend(part)
            elif isinstance(part, dict):
                for name in ("$anchor", "$dynamicAnchor"):
                    if isinstance(part.get(name), str):
                        self._named[f"#{part[name]}"] = part
                if isinstance(part.get("$id"), str):
                    self._named[part["$id"]] = part
                self._branches |= any(name in part for name in _BRANCHES)
                pending.extend(part.values())
                yield part

    def _unfolded(self, schema: Any, counts: dict[int, int]) -> int:
        if not isinstance(schema, dict):
            return 1
        known = counts.get(id(schema))
        if known is None:
            counts[id(schema)] = 0  # a circle comes back to what is counted already
            inner = [self._unfolded(part, counts) for part, _ in self._in_place(schema)]
            known = counts[id(schema)] = 1 + sum(inner)
        return known

    def _in_place(self, schema: dict[str, Any]) -> Iterator[tuple[Any, int]]:
        """What judges the same value; 1 beside each of several forms, 0 beside anything else."""
        for name in _REFERENCES:
            if isinstance(schema.get(name), str):
                yield self._target(schema[name]), 0
        for name in _BRANCHES:
            forms = schema.get(name)
            if isinstance(forms, list):
                step = 1 if len(forms) > 1 else 0
                yield from ((form, step) for form in forms)
        for name in _SINGLE:
            if name in schema:
                yield schema[name], 0
        dependent = schema.get("dependentSchemas")
        if isinstance(dependent, dict):
            yield from ((part, 0) for part in dependent.values())

    def _target(self, reference: str) -> Any:
        if reference in self._named:
            return self._named[reference]
        if reference != "#" and not reference.startswith("#/"):
            return None
        found = self._root
        for step in reference.split("/")[1:]:
            name = _percent_decoded(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict):
                found = found.get(name)
            elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                return None
        return found


def _percent_decoded(text: str) -> str:
    data = _PERCENT.sub(lambda match: bytes([int(match[1], 16)]), text.encode("utf-8", "replace"))
    return data.decode("utf-8", "replace")


def _below(schema: dict[str, Any], value: Any) -> Iterator[tuple[Any, Any]]:
    """What judges the parts of a value, each with its part."""
    if isinstance(value, dict):
        yield from _below_object(schema, value)
    elif isinstance(value, list):
        yield from _below_list(schema, value)


def _below_object(schema: dict[str, Any], value: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    properties = schema.get("properties")
    declared: dict[str, Any] = properties if isinstance(properties, dict) else {}
    yield from ((declared[name], part) for name, part in value.items() if name in declared)
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict):
        yield from ((below, part) for below in patterns.values() for part in value.values())
    for rest in _REST_OF_OBJECT:
        below = schema.get(rest)
        if isinstance(below, dict):
            yield from ((below, part) for name, part in value.items() if name not in declared)


def _below_list(schema: dict[str, Any], value: list[Any]) -> Iterator[tuple[Any, Any]]:
    items = schema.get("items")
    for first in (schema.get("prefixItems"), items):
        if isinstance(first, list):
            yield from zip(first, value, strict=False)
    for below in (items, *(schema.get(name) for name in _REST_OF_LIST)):
        if isinstance(below, dict):
            yield from ((below, part) for part in value)

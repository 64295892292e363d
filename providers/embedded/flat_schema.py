"""A JSON Schema with its references followed and its parts laid over each other.

`Flat` holds what one value has to fit, gathered from a schema, from what its `$ref` names and from
each part of its `allOf`. Subschemas are kept where they are, with the references that led there,
so that a schema that refers to itself is followed a little way and no further.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from engine.vocabulary.tools import JsonObject

_MAX_SAME_REFERENCE = 2
_NUMBERS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
# Followed by what the grammar cannot say: such a schema is also kept as it is.
_BEYOND = frozenset(
    {
        "not",
        "if",
        "dependentSchemas",
        "dependencies",
        "propertyNames",
        "contains",
        "minContains",
        "maxContains",
        "unevaluatedProperties",
        "unevaluatedItems",
    }
)
_SCHEMA_KEYS = frozenset(
    {
        "items",
        "additionalItems",
        "contains",
        "additionalProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST_KEYS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_MAP_KEYS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DROPPED = frozenset({"$ref", "$defs", "definitions", "$schema", "$id", "$anchor"})

ALL_TYPES = ("string", "object", "array", "integer", "number", "boolean", "null")

Place = tuple[Any, tuple[str, ...]]
"""A subschema and the references that were followed to reach it."""


class NoBound(Exception):
    """A schema, or a part of one, that no bounded schema can be made for."""


class Flat:
    """What one value has to fit."""

    def __init__(self) -> None:
        self.types: frozenset[str] | None = None
        self.numbers: dict[str, Any] = {}
        self.patterns: list[str] = []
        self.formats: list[str] = []
        self.required: list[str] = []
        self.needs: list[JsonObject] = []
        self.objects: list[Place] = []
        self.arrays: list[Place] = []
        self.choices: list[tuple[str, list[Place]]] = []
        self.values: list[Any] | None = None
        self.unique = False
        self.multiples: list[Any] = []
        self.exact = True
        self.sources: list[Place] = []

    def copy(self) -> Flat:
        """A copy that can be added to."""
        other = Flat()
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict) else value)
        return other

    def declared(self) -> Iterator[str]:
        """The names of the properties in the order in which they are declared, then required."""
        seen = [name for schema, _ in self.objects for name in schema.get("properties", ())]
        yield from dict.fromkeys([*seen, *self.required])

    def property_places(self, name: str) -> list[Place]:
        """Everything that the property has to fit."""
        found: list[Place] = []
        for schema, path in self.objects:
            parts = []
            if name in schema.get("properties", {}):
                parts.append(schema["properties"][name])
            for pattern, part in schema.get("patternProperties", {}).items():
                if _matches(pattern, name):
                    parts.append(part)
            if not parts and "additionalProperties" in schema:
                parts.append(schema["additionalProperties"])
            found += [(part, path) for part in parts]
        return found

    def item_places(self, index: int) -> list[Place]:
        """Everything that the item has to fit."""
        found: list[Place] = []
        for schema, path in self.arrays:
            prefix, rest = _items_of(schema)
            if index < len(prefix):
                found.append((prefix[index], path))
            elif rest is not None:
                found.append((rest, path))
        return found

    def prefix_length(self) -> int:
        """How many items have a schema of their own."""
        return max((len(_items_of(schema)[0]) for schema, _ in self.arrays), default=0)


class Flattener:
    """Follows the references of one schema.

    Args:
        root: the schema in which references are looked up.
    """

    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def flat(self, places: Iterable[Place]) -> Flat:
        """What a value has to fit that fits all of these.

        Raises:
            NoBound: if nothing fits, or a reference cannot be followed (any more).
        """
        result = Flat()
        for place in places:
            self.add(result, place)
        return result

    def add(self, flat: Flat, place: Place) -> None:
        """Lay one more schema over what is there."""
        flat.sources.append(place)
        self._absorb(flat, place)

    def closed(self, place: Place) -> Any:
        """The schema as it is, with its references written out.

        Raises:
            NoBound: if it refers to itself, or to something that is not there.
        """
        schema, path = place
        if not isinstance(schema, dict):
            return schema
        result: JsonObject = {}
        for key, value in schema.items():
            if key in _DROPPED:
                continue
            if key in _SCHEMA_KEYS and not isinstance(value, list):
                result[key] = self.closed((value, path))
            elif (key in _LIST_KEYS or key == "items") and isinstance(value, list):
                result[key] = [self.closed((part, path)) for part in value]
            elif key in _MAP_KEYS and isinstance(value, dict):
                result[key] = {name: self.closed((part, path)) for name, part in value.items()}
            else:
                result[key] = value
        if "$ref" in schema:
            target = self.closed(self._followed(schema["$ref"], path))
            result = {"allOf": [target, result]} if result else target
        return result

    def _absorb(self, flat: Flat, place: Place) -> None:
        schema, path = place
        if schema is True:
            return
        if not isinstance(schema, dict) or schema.keys() & {"$dynamicRef", "$recursiveRef"}:
            raise NoBound
        if "$ref" in schema:
            self._absorb(flat, self._followed(schema["$ref"], path))
        for part in schema.get("allOf", ()):
            self._absorb(flat, (part, path))
        for key in ("anyOf", "oneOf"):
            if key in schema:
                flat.choices.append((key, [(part, path) for part in schema[key]]))
        self._absorb_keywords(flat, place)

    def _absorb_keywords(self, flat: Flat, place: Place) -> None:
        schema, _ = place
        if "type" in schema:
            flat.types = _narrowed(flat.types, schema["type"])
        if "const" in schema:
            flat.values = _kept(flat.values, [schema["const"]])
        if "enum" in schema:
            flat.values = _kept(flat.values, schema["enum"])
        for key in _NUMBERS:
            if key in schema:
                flat.numbers[key] = max(schema[key], flat.numbers.get(key, schema[key]))
        for key in _UPPER:
            if key in schema:
                flat.numbers[key] = min(schema[key], flat.numbers.get(key, schema[key]))
        if "pattern" in schema:
            flat.patterns.append(schema["pattern"])
        if "format" in schema:
            flat.formats.append(schema["format"])
        if "multipleOf" in schema:
            flat.multiples.append(schema["multipleOf"])
        flat.unique = flat.unique or schema.get("uniqueItems") is True
        flat.required += [name for name in schema.get("required", ()) if name not in flat.required]
        if "dependentRequired" in schema:
            flat.needs.append(schema["dependentRequired"])
        if schema.keys() & {"properties", "patternProperties", "additionalProperties"}:
            flat.objects.append(place)
        if schema.keys() & {"items", "prefixItems"}:
            flat.arrays.append(place)
        flat.exact = flat.exact and not schema.keys() & _BEYOND

    def _followed(self, reference: Any, path: tuple[str, ...]) -> Place:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise NoBound
        if path.count(reference) >= _MAX_SAME_REFERENCE:
            raise NoBound
        target: Any = self._root
        for step in reference.split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and key.isdecimal() and int(key) < len(target):
                target = target[int(key)]
            elif isinstance(target, dict) and key in target:
                target = target[key]
            else:
                raise NoBound
        return target, (*path, reference)


def _items_of(schema: JsonObject) -> tuple[list[Any], Any]:
    """The schemas of the first items, and that of all others or `None`."""
    items = schema.get("items")
    if isinstance(items, list):
        return items, schema.get("additionalItems")
    return schema.get("prefixItems", []), items


def _narrowed(known: frozenset[str] | None, named: str | list[str]) -> frozenset[str]:
    types = {named} if isinstance(named, str) else set(named)
    if "number" in types:
        types.add("integer")
    return frozenset(types) if known is None else known & types


def _kept(known: list[Any] | None, values: list[Any]) -> list[Any]:
    # What fits the other keywords too is found out at the end, by a validator.
    return list(values) if known is None or len(values) < len(known) else known


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error as error:
        raise NoBound from error

"""The forms in which a JSON Schema can be sent: nested in another, plain, strict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.vocabulary.tools import JsonObject

_DEFINITIONS = ("$defs", "definitions")
_VALUES = frozenset({"const", "enum", "default", "example", "examples"})
_NAMED_SCHEMAS = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
)
_NOT_PLAIN = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$comment",
        "$defs",
        "definitions",
        "default",
        "examples",
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "propertyNames",
        "uniqueItems",
        "const",
        "not",
        "if",
        "then",
        "else",
    }
)
_STRICT = frozenset(
    {
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "const",
        "description",
        "title",
        "$ref",
        "$defs",
        "definitions",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
    }
)


class RecursiveSchema(ValueError):
    """A schema that refers to itself cannot be written without references."""


def nested_under(name: str, schema: JsonObject) -> tuple[JsonObject, JsonObject]:
    """A schema as the property `name` of another, and the definitions that go to its root.

    References keep pointing to what they pointed to.
    """
    hoisted = {key: schema[key] for key in _DEFINITIONS if isinstance(schema.get(key), dict)}
    keywords = {
        key: value
        for key, value in schema.items()
        if key not in hoisted and key not in ("$schema", "$id")
    }
    roots = tuple(f"#/{key}/" for key in hoisted)

    def moved(reference: str) -> str:
        if not reference.startswith("#") or reference.startswith(roots):
            return reference
        return f"#/properties/{name}{reference[1:]}"

    return (
        _with_references(keywords, moved),
        {key: _with_references({key: value}, moved)[key] for key, value in hoisted.items()},
    )


def plain(schema: JsonObject) -> JsonObject:
    """The schema without references and without the rarer keywords.

    Raises:
        RecursiveSchema: if it refers to itself.
    """
    result: JsonObject = _plain(schema, schema, ())
    return result


def is_strict(schema: Any) -> bool:
    """Whether the schema is closed everywhere and uses nothing that strict mode refuses."""
    if not isinstance(schema, dict) or not schema.keys() <= _STRICT:
        return False
    kind = schema.get("type")
    properties = schema.get("properties", {})
    if kind == "object" or (isinstance(kind, list) and "object" in kind) or properties:
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties):
            return False
    elif not schema.keys() & {"type", "anyOf", "enum", "const", "$ref"}:
        return False
    if kind == "array" and "items" not in schema:
        return False
    parts = [*properties.values(), *schema.get("anyOf", ())]
    parts += [part for key in _DEFINITIONS for part in schema.get(key, {}).values()]
    parts += [schema["items"]] if "items" in schema else []
    return all(is_strict(part) for part in parts)


def _with_references(schema: Any, moved: Callable[[str], str]) -> Any:
    if isinstance(schema, list):
        return [_with_references(part, moved) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result: JsonObject = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            result[key] = moved(value)
        elif key in _VALUES:
            result[key] = value
        elif key in _NAMED_SCHEMAS and isinstance(value, dict):
            result[key] = {name: _with_references(part, moved) for name, part in value.items()}
        else:
            result[key] = _with_references(value, moved)
    return result


def _plain(schema: Any, root: JsonObject, path: tuple[str, ...]) -> Any:
    if isinstance(schema, list):
        return [_plain(part, root, path) for part in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference in path:
            raise RecursiveSchema(reference)
        target = _target(root, reference)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _plain({**target, **beside}, root, (*path, reference))
    result: JsonObject = {}
    for key, value in schema.items():
        if key == "const":
            result["enum"] = [value]
        elif key in _NOT_PLAIN:
            continue
        elif key in _VALUES:
            result[key] = value
        elif key == "properties" and isinstance(value, dict):
            result[key] = {name: _plain(part, root, path) for name, part in value.items()}
        else:
            result[key] = _plain(value, root, path)
    return result


def _target(root: JsonObject, reference: str) -> JsonObject:
    found: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if not step:
            continue
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, Mapping) else None
    # What cannot be found allows anything, as an empty schema does.
    return found if isinstance(found, dict) else {}

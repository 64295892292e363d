"""An output schema as a table of fields: what the table shows of it, and what its edits do.

The schema stays a JSON value throughout. An edit changes one place of it and shares the rest, so
keywords that the table does not show survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine.vocabulary.tools import JsonObject

Path = tuple[str, ...]
"""The keys that lead to a schema inside the schema."""

OBJECT = "object"
LISTS = "array:"
OBJECTS = LISTS + OBJECT
OTHER = "other"
KINDS = {
    "string": "Text",
    "integer": "Integer",
    "number": "Number",
    "boolean": "Yes / no",
    OBJECT: "Group",
    f"{LISTS}string": "List of texts",
    f"{LISTS}integer": "List of integers",
    f"{LISTS}number": "List of numbers",
    f"{LISTS}boolean": "List of yes / no",
    OBJECTS: "List of groups",
}
"""The kinds of fields that can be chosen, as a person calls them."""

_SCALARS = ("string", "integer", "number", "boolean")
_COMPOSING = (
    "$ref",
    "$dynamicRef",
    "$defs",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "propertyNames",
    "unevaluatedProperties",
    "prefixItems",
    "contains",
)
_SHOWN = frozenset({"type", "description", "properties", "required", "items"})
_USUAL = frozenset({*_SHOWN, "additionalProperties", "title"})


class FieldRow(NamedTuple):
    """One field.

    `path` leads to its schema; `depth` is 0 for fields of the output itself; `kind` is one of
    `KINDS`, or `OTHER` where the table cannot show what it is; `more` says in short what else its
    schema asks for.
    """

    path: Path
    depth: int
    name: str
    kind: str
    is_required: bool
    description: str
    more: str = ""

    @property
    def parent(self) -> Path:
        """Where the object is that has the field."""
        return self.path[:-2]

    @property
    def inside(self) -> Path | None:
        """Where the object is that the fields below it belong to, if it can have any."""
        if self.kind == OBJECT:
            return self.path
        return (*self.path, "items") if self.kind == OBJECTS else None


def why_json_only(schema: Any) -> str:
    """Why a table cannot show the schema at all, in a clause; empty if it can."""
    if not isinstance(schema, dict):
        return "it is not an object"
    if schema.get("type", OBJECT) != OBJECT:
        return f"its type is {schema['type']!r}"
    for word in _COMPOSING:
        if word in schema:
            return f"it uses “{word}”"
    return _why_not_listed(schema)


def rows_of(schema: JsonObject) -> list[FieldRow]:
    """The fields from top to bottom, those of a group right below it."""
    return list(_rows(schema, (), 0))


def unused_name(schema: JsonObject, place: Path) -> str:
    """A name for a new field that no other field of the object at `place` has."""
    taken = _at(schema, place).get("properties", {})
    number = 1
    while (name := f"field_{number}" if number > 1 else "field") in taken:
        number += 1
    return name


def with_field(schema: JsonObject, place: Path, name: str, kind: str = "string") -> JsonObject:
    """The schema with one more required field at the end of the object at `place`."""

    def change(holder: JsonObject) -> JsonObject:
        properties = {**holder.get("properties", {}), name: _schema_of(kind)}
        return _put(_put(holder, "properties", properties), "required", [*_required(holder), name])

    return _changed(schema, place, change)


def without_field(schema: JsonObject, row: FieldRow) -> JsonObject:
    """The schema without a field."""

    def change(holder: JsonObject) -> JsonObject:
        properties = {key: value for key, value in _fields(holder).items() if key != row.name}
        holder = {**holder, "properties": properties}
        return _with_required(holder, [name for name in _required(holder) if name != row.name])

    return _changed(schema, row.parent, change)


def renamed(schema: JsonObject, row: FieldRow, name: str) -> JsonObject:
    """The schema with a field under another name, in the same place.

    Raises:
        ValueError: The name is blank or taken.
    """
    holder = _at(schema, row.parent)
    if not name.strip():
        raise ValueError("A field needs a name")
    if name != row.name and name in _fields(holder):
        raise ValueError(f"There already is a field “{name}” here")

    def change(holder: JsonObject) -> JsonObject:
        properties = {
            name if key == row.name else key: value for key, value in _fields(holder).items()
        }
        holder = {**holder, "properties": properties}
        required = [name if key == row.name else key for key in _required(holder)]
        return _with_required(holder, required)

    return _changed(schema, row.parent, change)


def with_required(schema: JsonObject, row: FieldRow, is_required: bool) -> JsonObject:
    """The schema with a field that has to be there, or need not be."""

    def change(holder: JsonObject) -> JsonObject:
        asked = {name for name in _required(holder) if name != row.name}
        if is_required:
            asked.add(row.name)
        order = [name for name in _required(holder) if name in asked]
        order += [name for name in _fields(holder) if name in asked and name not in order]
        return _with_required(holder, order)

    return _changed(schema, row.parent, change)


def with_description(schema: JsonObject, row: FieldRow, text: str) -> JsonObject:
    """The schema with a field described otherwise; an empty text is no description."""

    def change(field: JsonObject) -> JsonObject:
        if text:
            return _put(field, "description", text)
        return {key: value for key, value in field.items() if key != "description"}

    return _changed(schema, row.path, change)


def with_kind(schema: JsonObject, row: FieldRow, kind: str) -> JsonObject:
    """The schema with a field of another kind.

    Fields below stay where both kinds have some; what else was asked of the value goes, since it
    was meant for the old kind, but for numbers, which share it.
    """

    def change(field: JsonObject) -> JsonObject:
        if {row.kind, kind} == {"integer", "number"}:
            return {**field, "type": kind}
        words: JsonObject = {key: field[key] for key in ("title", "description") if key in field}
        inner: JsonObject = {}
        if row.kind in (OBJECT, OBJECTS) and kind in (OBJECT, OBJECTS):
            inner = field if row.kind == OBJECT else field["items"]
            inner = {key: value for key, value in inner.items() if key not in words}
        new = _schema_of(kind)
        if inner and kind == OBJECT:
            new = inner
        elif inner:
            new = {**new, "items": inner}
        head: JsonObject = {"type": new["type"]}
        return {**head, **words, **new}

    return _changed(schema, row.path, change)


def moved(schema: JsonObject, row: FieldRow, by: int) -> JsonObject:
    """The schema with a field further up or down among its neighbours."""

    def change(holder: JsonObject) -> JsonObject:
        names = list(_fields(holder))
        at = names.index(row.name)
        names.insert(max(0, min(len(names) - 1, at + by)), names.pop(at))
        return {**holder, "properties": {name: _fields(holder)[name] for name in names}}

    return _changed(schema, row.parent, change)


def _rows(holder: JsonObject, place: Path, depth: int) -> Iterator[FieldRow]:
    required = _required(holder)
    for name, field in _fields(holder).items():
        path = (*place, "properties", name)
        kind = _kind_of(field)
        words = field.get("description", "") if isinstance(field, dict) else ""
        words = words if isinstance(words, str) else ""
        more = _more(field) if isinstance(field, dict) else ""
        row = FieldRow(path, depth, name, kind, name in required, words, more)
        yield row
        if row.inside is not None:
            yield from _rows(_at(field, row.inside[len(path) :]), row.inside, depth + 1)


def _kind_of(field: Any) -> str:
    if not isinstance(field, dict) or any(word in field for word in _COMPOSING):
        return OTHER
    if not isinstance(field.get("description", ""), str):
        return OTHER
    kind = field.get("type")
    if kind in _SCALARS:
        return str(kind)
    if kind == OBJECT:
        return OTHER if _why_not_listed(field) else OBJECT
    if kind == "array" and _kind_of(field.get("items")) in (*_SCALARS, OBJECT):
        return LISTS + _kind_of(field["items"])
    return OTHER


def _why_not_listed(holder: JsonObject) -> str:
    """Why the fields of an object cannot be listed, in a clause."""
    if not isinstance(holder.get("properties", {}), dict):
        return "its “properties” are no object"
    required = holder.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return "its “required” is no list of names"
    if strangers := [name for name in required if name not in holder.get("properties", {})]:
        return f"it requires “{strangers[0]}”, which is none of its properties"
    if not isinstance(holder.get("additionalProperties", True), bool):
        return "it describes further properties"
    return ""


def _more(field: JsonObject) -> str:
    """What a schema asks for besides what the table shows, in short."""
    told = []
    for key, value in field.items():
        if key == "enum" and isinstance(value, list):
            told.append("one of " + ", ".join(map(str, value)))
        elif key not in _USUAL and not isinstance(value, dict | list):
            told.append(f"{key} {value}")
        elif key not in _USUAL:
            told.append(key)
    items = field.get("items")
    if isinstance(items, dict) and items.get("type") in _SCALARS and (inner := _more(items)):
        told.append(f"each {inner}")
    return "; ".join(told)


def _schema_of(kind: str) -> JsonObject:
    if kind.startswith(LISTS):
        return {"type": "array", "items": _schema_of(kind.removeprefix(LISTS))}
    if kind == OBJECT:
        return {"type": OBJECT, "properties": {}, "additionalProperties": False}
    return {"type": kind}


def _fields(holder: JsonObject) -> JsonObject:
    found: JsonObject = holder.get("properties", {})
    return found


def _required(holder: JsonObject) -> list[str]:
    found: list[str] = holder.get("required", [])
    return found


def _with_required(holder: JsonObject, names: list[str]) -> JsonObject:
    if names or not _required(holder):
        return _put(holder, "required", names) if names else holder
    return {key: value for key, value in holder.items() if key != "required"}


def _put(schema: JsonObject, key: str, value: Any) -> JsonObject:
    """The schema with a key set; a new one goes before those that only close the object."""
    if key in schema or "additionalProperties" not in schema:
        return {**schema, key: value}
    closing = {"additionalProperties": schema["additionalProperties"]}
    rest = {name: each for name, each in schema.items() if name not in closing}
    return {**rest, key: value, **closing}


def _at(schema: JsonObject, path: Path) -> JsonObject:
    for key in path:
        schema = schema[key]
    return schema


def _changed(
    schema: JsonObject, path: Path, change: Callable[[JsonObject], JsonObject]
) -> JsonObject:
    """The schema with one place changed; the order of keys is kept."""
    if not path:
        return change(schema)
    return {**schema, path[0]: _changed(schema[path[0]], path[1:], change)}

"""Models as JSON documents again: what was not edited is what was read."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal, get_origin

from engine.graph.file_model import FileModel, Key, keys_of
from engine.graph.json_text import same_json
from engine.vocabulary.tools import JsonObject


def document_of(model: FileModel) -> JsonObject:
    """The model as a JSON object.

    A model that was read gives what was read, with the edits laid over it: keys keep their order
    and spelling, unknown ones stay, and an absent key is added only if its value was changed. A
    new model gives all its keys.
    """
    origin = model.origin
    if origin is None:
        return _written(model)
    if not model.edited:
        return origin
    return _laid_over(origin, model)


def _laid_over(origin: JsonObject, after: FileModel) -> JsonObject:
    """`origin`, which was read as a model of the same type, changed so that it is read as `after`.

    Lists of parts are compared part by part, so the old ones need not be read again.
    """
    result = dict(origin)
    keys = keys_of(type(after))
    lists = {name for key in keys if key.holds_parts for name in key.spellings}
    before = type(after).from_document(
        {name: [] if name in lists else value for name, value in origin.items()}
    )
    is_same_part = after.origin is origin
    for key in keys:
        if is_same_part and key.field not in after.edited:
            continue
        old, new = getattr(before, key.field), getattr(after, key.field)
        names = [name for name in key.spellings if name in origin]
        if names:
            raw = origin[names[0]]
            value = _changed_parts(raw, new) if key.holds_parts else _changed(raw, old, new)
            result.update(dict.fromkeys(names, value))
        elif not _alike(old, new):
            result = _with_key(result, key, _plain(new, brief=True), keys)
    return result


def _changed(raw: Any, old: Any, new: Any) -> Any:
    """`raw`, which was read as `old`, changed so that it is read as `new`."""
    if _alike(old, new):
        return raw
    if isinstance(new, FileModel) and new.origin is None:
        if type(new) is type(old) and isinstance(raw, dict):
            return _laid_over(raw, new)
        return _written(new)
    return _plain(new)


def _changed_parts(raw: Any, new: tuple[FileModel, ...]) -> list[Any]:
    """The parts as a list; one that was made anew is laid over the old one with its id."""
    before = {
        item["id"]: item
        for item in reversed(raw)
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    items = []
    for part in new:
        old = None if part.origin is not None else before.get(getattr(part, "id", ""))
        items.append(_plain(part) if old is None else _laid_over(old, part))
    return items


def _alike(a: Any, b: Any) -> bool:
    """Whether two values of a field would be written alike but for spelling and order of keys."""
    if isinstance(a, FileModel):
        return (
            type(a) is type(b)
            and a.unknown_keys == b.unknown_keys
            and all(
                _alike(getattr(a, key.field), getattr(b, key.field)) for key in keys_of(type(a))
            )
        )
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_alike, a, b))
    return same_json(a, b)


def _plain(value: Any, *, brief: bool = False) -> Any:
    if isinstance(value, FileModel):
        return _written(value, brief=brief) if value.origin is None else document_of(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _written(model: FileModel, *, brief: bool = False) -> JsonObject:
    """A new object; a brief one leaves out whatever a reader fills in by itself."""
    document: JsonObject = {}
    for key in keys_of(type(model)):
        value = getattr(model, key.field)
        may_be_absent = brief or key.field in model.skipped_when_default
        if not (may_be_absent and _is_default(key, value)):
            document[key.written] = _plain(value, brief=brief)
    return document


def _is_default(key: Key, value: Any) -> bool:
    if key.info.is_required() or get_origin(key.info.annotation) is Literal:
        return False
    return _alike(key.info.get_default(call_default_factory=True), value)


def _with_key(document: JsonObject, key: Key, value: Any, keys: tuple[Key, ...]) -> JsonObject:
    """The document with one more key, near its usual place but never last.

    A last place would put a comma behind the line before it, and change that line too.
    """
    earlier = {name for other in keys[: keys.index(key)] for name in other.spellings}
    names = list(document)
    place = max((i + 1 for i, name in enumerate(names) if name in earlier), default=0)
    names.insert(min(place, max(len(names) - 1, 0)), key.written)
    return {name: document.get(name, value) for name in names}

"""JSON text that is changed in place: what stays the same keeps its spelling and its layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

MAX_DEPTH = 128
"""How deep objects and arrays may be nested; the deepest that other readers of the format take."""

_SPACE = re.compile(r"[ \t\n\r]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_scan_value = json.JSONDecoder().raw_decode


class Span(NamedTuple):
    """A value in a text, and where it is; `start` is that of the key where there is one."""

    key: str | int
    start: int
    value_start: int
    end: int
    value: Any


def spans(text: str, start: int) -> Iterator[Span]:
    """The members of the object, or the items of the array, that begins at `start`."""
    is_object, closing = text[start] == "{", "}" if text[start] == "{" else "]"
    at = _after_space(text, start + 1)
    index = 0
    while text[at] != closing:
        if index:
            at = _after_space(text, at + 1)
        key: str | int = index
        value_start = at
        if is_object:
            key, colon = _scan_value(text, at)
            value_start = _after_space(text, _after_space(text, colon) + 1)
        value, end = _scan_value(text, value_start)
        yield Span(key, at, value_start, end, value)
        index += 1
        at = _after_space(text, end)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def formatted(value: Any) -> str:
    """A value as a file of its own: two-space indent, final newline."""
    return _dumped(value, 2) + "\n"


def _dumped(value: Any, indent: int | str | None = None) -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def nesting_exceeds(value: Any, depth: int) -> bool:
    """Whether objects and arrays are nested more than `depth` deep."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def same_json(a: Any, b: Any) -> bool:
    """Whether two JSON values are written alike: `1`, `1.0` and `true` differ, so does order."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_json(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    return bool(a == b)


def rewritten(text: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    """The text, which says `old`, changed to say `new`; untouched lines stay as they are.

    A text that has everything on one line is laid out anew, with a two-space indent.
    """
    start = _after_space(text, 0)
    lead = text[start + 1 : _after_space(text, start + 1)]
    if "\n" not in lead:
        return formatted(new)
    if not same_json(old, new):
        indent = lead.rsplit("\n", 1)[1]
        editor = _Editor(text, indent, "\r\n" if "\r\n" in lead else "\n")
        body, end = editor.value(start, old, new)
        text = text[:start] + body + text[end:]
    return text if text.endswith("\n") else text + "\n"


class _Editor:
    """Reads each character of the old text once."""

    def __init__(self, text: str, indent: str, newline: str) -> None:
        self._text, self._indent, self._newline = text, indent, newline

    def value(self, start: int, old: Any, new: Any, *, inline: bool = False) -> tuple[str, int]:
        """The text of `new`, made from that of `old`, which begins at `start`; and its end."""
        same = same_json(old, new)
        if not same and old and new and type(old) is type(new) and isinstance(new, dict | list):
            return self._container(start, old, new)
        _, end = _scan_value(self._text, start)
        if same:
            return self._text[start:end], end
        return self._render(new, None if inline else self._indentation_at(start)), end

    def _container(self, start: int, old: Any, new: Any) -> tuple[str, int]:
        first = _after_space(self._text, start + 1)
        lead = self._text[start + 1 : first]
        inline = "\n" not in lead
        origins = _matches(old, new)
        targets = {place: key for key, place in origins if place is not None}
        bodies: list[str] = []
        gaps: list[str] = []
        at = first
        for place, old_key in enumerate(old if isinstance(old, dict) else range(len(old))):
            name = self._name(at) if isinstance(old, dict) else ""
            at += len(name)
            if place in targets:
                body, end = self.value(at, old[old_key], new[targets[place]], inline=inline)
            else:
                body, end = "", _scan_value(self._text, at)[1]
            bodies.append(name + body)
            at = _after_space(self._text, end)
            if self._text[at] == ",":
                at = _after_space(self._text, at + 1)
                gaps.append(self._text[end:at])
        comma = gaps[0] if gaps else f",{lead or ' '}"
        own_indentation = None if inline else lead.rsplit("\n", 1)[1]
        parts = [self._text[start], lead]
        for number, (key, origin) in enumerate(origins):
            if number:
                parts.append(gaps[origin - 1] if origin else comma)
            if origin is None:
                added = self._render(new[key], own_indentation)
                name = f"{_dumped(key)}: " if isinstance(key, str) else ""
                parts.append(name + added)
            else:
                parts.append(bodies[origin])
        parts.append(self._text[end : at + 1])
        return "".join(parts), at + 1

    def _name(self, start: int) -> str:
        _, colon = _scan_value(self._text, start)
        value = _after_space(self._text, _after_space(self._text, colon) + 1)
        return self._text[start:value]

    def _indentation_at(self, start: int) -> str:
        line = self._text.rfind("\n", 0, start) + 1
        match = _SPACE.match(self._text, line, start)
        return match[0] if match else ""

    def _render(self, value: Any, indentation: str | None) -> str:
        if indentation is None:
            return _dumped(value)
        return _dumped(value, self._indent).replace("\n", self._newline + indentation)


def _matches(old: Any, new: Any) -> list[tuple[Any, int | None]]:
    """Each key of `new` in order, with the position in `old` of what it replaces."""
    if isinstance(new, dict):
        places = {key: place for place, key in enumerate(old)}
        return [(key, places.get(key)) for key in new]
    old_ids, new_ids = _ids(old), _ids(new)
    if old_ids is not None and new_ids is not None:
        place_by_id = {item_id: place for place, item_id in enumerate(old_ids)}
        return [(key, place_by_id.get(item_id)) for key, item_id in enumerate(new_ids)]
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if not same_json(old[i], new[i])), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if not same_json(old[-1 - i], new[-1 - i])), rest)
    grown = len(new) - len(old)
    return [
        (key, key - grown if key >= len(new) - tail else key if key < len(old) - tail else None)
        for key in range(len(new))
    ]


def _ids(items: Sequence[Any]) -> list[str] | None:
    """The ids of the items, if each has one of its own."""
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    texts = [item_id for item_id in ids if isinstance(item_id, str)]
    return texts if len(texts) == len(ids) == len(set(texts)) else None

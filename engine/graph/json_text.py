"""JSON text that is changed in place: what stays the same keeps its spelling and its layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

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
    return _escape_lone(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _escape_lone(text: str) -> str:
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
    body_end = len(text.rstrip())
    lead = text[start + 1 : _after_space(text, start + 1)]
    if "\n" not in lead:
        return formatted(new)
    if not same_json(old, new):
        indent = lead.rsplit("\n", 1)[1]
        editor = _Editor(text, indent, "\r\n" if "\r\n" in lead else "\n")
        text = text[:start] + editor.value(start, body_end, old, new) + text[body_end:]
    return text if text.endswith("\n") else text + "\n"


class _Editor:
    def __init__(self, text: str, indent: str, newline: str) -> None:
        self._text, self._indent, self._newline = text, indent, newline

    def value(self, start: int, end: int, old: Any, new: Any, *, inline: bool = False) -> str:
        """The text of `new`, made from that of `old`, which stands from `start` to `end`."""
        if same_json(old, new):
            return self._text[start:end]
        if old and new and type(old) is type(new) and isinstance(new, dict | list):
            return self._container(start, end, old, new)
        return self._render(new, None if inline else self._indentation_at(start))

    def _container(self, start: int, end: int, old: Any, new: Any) -> str:
        found = list(spans(self._text, start))
        lead = self._text[start + 1 : found[0].start]
        inline = "\n" not in lead
        comma = self._text[found[0].end : found[1].start] if len(found) > 1 else f",{lead or ' '}"
        own_indentation = None if inline else lead.rsplit("\n", 1)[1]
        parts = [self._text[start], lead]
        for key, before in _matches(found, old, new):
            value = new[key]
            if before is None:
                body = self._render(value, own_indentation)
                if isinstance(key, str):
                    body = f"{_escape_lone(json.dumps(key, ensure_ascii=False))}: {body}"
                separator = comma
            else:
                was = found[before]
                name = self._text[was.start : was.value_start]
                body = name + self.value(
                    was.value_start, was.end, old[was.key], value, inline=inline
                )
                separator = self._text[found[before - 1].end : was.start] if before else comma
            parts.extend((separator, body) if len(parts) > 2 else (body,))
        parts.append(self._text[found[-1].end : end])
        return "".join(parts)

    def _indentation_at(self, start: int) -> str:
        line = self._text.rfind("\n", 0, start) + 1
        match = _SPACE.match(self._text, line, start)
        return match[0] if match else ""

    def _render(self, value: Any, indentation: str | None) -> str:
        if indentation is None:
            return _escape_lone(json.dumps(value, ensure_ascii=False, allow_nan=False))
        text = json.dumps(value, indent=self._indent, ensure_ascii=False, allow_nan=False)
        return _escape_lone(text).replace("\n", self._newline + indentation)


def _matches(found: Sequence[Span], old: Any, new: Any) -> Iterator[tuple[Any, int | None]]:
    """Each key of `new` in order, with the position in `found` of what it replaces."""
    if isinstance(new, dict):
        places = {span.key: place for place, span in enumerate(found)}
        for key in new:
            yield key, places.get(key)
        return
    old_ids, new_ids = _ids(old), _ids(new)
    if old_ids is not None and new_ids is not None:
        place_by_id = {item_id: place for place, item_id in enumerate(old_ids)}
        for key, item_id in enumerate(new_ids):
            yield key, place_by_id.get(item_id)
        return
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if not same_json(old[i], new[i])), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if not same_json(old[-1 - i], new[-1 - i])), rest)
    for key in range(len(new)):
        if key >= len(new) - tail:
            yield key, key - len(new) + len(old)
        else:
            yield key, key if key < len(old) - tail else None


def _ids(items: Sequence[Any]) -> list[str] | None:
    """The ids of the items, if each has one of its own."""
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    texts = [item_id for item_id in ids if isinstance(item_id, str)]
    return texts if len(texts) == len(ids) == len(set(texts)) else None

"""JSON as models write it when nobody makes them write it well."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

_WORDS = st.text("abcdefgh ", min_size=1, max_size=8)
NAMES = st.text("abcdefgh_", min_size=1, max_size=6)
SLOPPY_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
SLOPPY_OBJECTS = st.dictionaries(NAMES, SLOPPY_VALUES, max_size=4)


def sloppy(value: Any, draw: Draw) -> str:
    """The value in a notation that can be meant in one way only, and often is no JSON."""
    match value:
        case None:
            return str(draw(st.sampled_from(["null", "None", "NULL", "undefined"])))
        case bool():
            word = str(value)
            return str(draw(st.sampled_from([word, word.lower(), word.upper()])))
        case int():
            return f"+{value}" if value > 0 and draw(st.booleans()) else str(value)
        case str():
            return _text(value, draw)
        case list():
            return _joined([sloppy(item, draw) for item in value], "[]", draw)
    return _joined([f"{_key(k, draw)}: {sloppy(v, draw)}" for k, v in value.items()], "{}", draw)


def _text(value: str, draw: Draw) -> str:
    forms = [json.dumps(value), f"'{value}'", f'"""{value}"""', f"“{value}”"]
    return str(draw(st.sampled_from(forms)))


def _key(name: str, draw: Draw) -> str:
    return str(draw(st.sampled_from([json.dumps(name), f"'{name}'", name])))


def _joined(parts: list[str], brackets: str, draw: Draw) -> str:
    text: str = brackets[0] + draw(st.sampled_from(["", "\n", " /* as wanted */ ", " // so\n"]))
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        between = ["", ",", ",\n"] if is_last else [", ", ",\n", "\n", ", # next\n"]
        text += part + draw(st.sampled_from(between))
    return text + brackets[1]

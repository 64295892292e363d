"""Values in nested data, by the steps that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def put(data: dict[str, Any], place: Sequence[str], value: Any) -> None:
    """Put a value to its place; `None` takes what is there away, and what is empty without it."""
    *steps, last = place
    trail: list[tuple[dict[str, Any], str]] = []
    inner = data
    for step in steps:
        below = inner.get(step)
        if not isinstance(below, dict):
            if value is None:
                return
            below = inner[step] = {}
        trail.append((inner, step))
        inner = below
    if value is not None:
        inner[last] = value
        return
    inner.pop(last, None)
    for outer, step in reversed(trail):
        if not outer[step]:
            del outer[step]

"""Where a service puts the reasoning of its models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_WORDS = ("reasoning", "thinking", "thought")
_COUNTS = ("_tokens", "_effort", "_budget")
_DEEPEST = 6


def reasoning_fields(event: Any, depth: int = 0) -> Iterator[str]:
    """Names of the fields of an event, and types of its parts, that hold reasoning."""
    if depth > _DEEPEST:
        return
    if isinstance(event, list):
        for part in event:
            yield from reasoning_fields(part, depth + 1)
    if not isinstance(event, dict):
        return
    for name, value in event.items():
        is_reasoning = any(word in name for word in _WORDS) and not name.endswith(_COUNTS)
        if is_reasoning and value and isinstance(value, str | list):
            yield name
        elif name == "type" and value in ("thinking", "redacted_thinking", "reasoning"):
            yield str(value)
        else:
            yield from reasoning_fields(value, depth + 1)

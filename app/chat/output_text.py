"""A node's output as a text that a person reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.chat.tool_words import pretty

_SCALARS = (str, int, float, bool)


def output_markdown(output: Any) -> str:
    """The output as Markdown: fields with their names, lists as lists, anything deeper as JSON."""
    if isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        if set(output) == {"markdown"} and isinstance(output["markdown"], str):
            return str(output["markdown"])
        parts = [_field(str(key), value) for key, value in output.items()]
        return "\n\n".join(parts) if parts else "*(an empty object)*"
    if _is_plain_list(output):
        return _items(output)
    return _code(output)


def _field(key: str, value: Any) -> str:
    name = f"**{_name(key)}**"
    if isinstance(value, str):
        if "\n" in value or len(value) > 60:
            return f"{name}\n\n{value}"
        return f"{name}: {value}" if value else f"{name}: *(empty)*"
    if value is None or isinstance(value, _SCALARS):
        return f"{name}: {_word(value)}"
    if not value:
        return f"{name}: *(empty)*"
    if _is_plain_list(value):
        return f"{name}\n\n{_items(value)}"
    return f"{name}\n\n{_code(value)}"


def _word(value: Any) -> str:
    if value is None:
        return "*(nothing)*"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _name(key: str) -> str:
    words = key.replace("_", " ").strip() or key
    return words[:1].upper() + words[1:]


def _is_plain_list(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) > 0
        and all(isinstance(item, _SCALARS) for item in value)
    )


def _items(values: Sequence[Any]) -> str:
    return "\n".join(f"- {_indented(str(value))}" for value in values)


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _code(value: Any) -> str:
    return f"```json\n{pretty(value)}\n```"

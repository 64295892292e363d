"""Long texts are shown in part, with a word on how much is left out."""

from __future__ import annotations

from app.kit.formats import plural

_MOST_LINES = 200
_MOST_CHARACTERS = 24_000


def shortened(text: str) -> str:
    """The beginning of a long text, with a word on how much is left out."""
    shown = text[:_MOST_CHARACTERS]
    lines = shown.split("\n", _MOST_LINES)
    shown = "\n".join(lines[:_MOST_LINES])
    if len(shown) >= len(text.rstrip("\n")):
        return text
    left_out = text[len(shown) :]
    count = plural(left_out.strip("\n").count("\n") + 1, "more line")
    return f"{shown}\n… and {count}, {len(left_out)} characters: copy it to have it whole"

"""Markdown documents by their sections: a small model fills them one by one.

It would not spell the headings of a template as they are, nor know when to stop. Asked for one
text for each heading it does both, and the document is put together from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.vocabulary.tools import JsonObject

DOCUMENT = "markdown"
"""The property of a node's output that holds its document."""

_HEADING = re.compile(r"\s*(#{1,6})(?!#)\s*(\S.*?)\s*$")
_MOST_SECTIONS = 12


class Section(Struct, frozen=True):
    """A heading as the template spells it, and the property for its text; none for a title."""

    heading: str
    level: int
    property: str | None = None


def sections(template: str) -> tuple[Section, ...]:
    """The sections of a template in order; a heading with one below it is a title without text."""
    found = [
        Section(f"{match[1]} {match[2]}", len(match[1]))
        for line in template.splitlines()
        if (match := _HEADING.match(line))
    ]
    result: list[Section] = []
    for index, section in enumerate(found):
        below = found[index + 1].level if index + 1 < len(found) else 0
        has_text = below <= section.level and len(result) < _MOST_SECTIONS
        name = _property(section, len(result)) if has_text else None
        result.append(Section(section.heading, section.level, name))
    return tuple(result)


def sections_schema(parts: tuple[Section, ...]) -> JsonObject:
    """The schema of an object with a text for each section."""
    names = [part.property for part in parts if part.property is not None]
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }


def document(parts: tuple[Section, ...], texts: Mapping[str, Any]) -> str:
    """The document: each heading with its text below it."""
    blocks: list[str] = []
    for part in parts:
        blocks.append(part.heading)
        text = texts.get(part.property) if part.property is not None else None
        if isinstance(text, str) and text.strip():
            blocks.append(text.strip())
    return "\n\n".join(blocks) + "\n"


def _property(section: Section, index: int) -> str:
    words = re.sub(r"\W+", "_", section.heading.lstrip("# ").lower()).strip("_")
    # The number keeps equal headings apart and stands behind the words that the model goes by.
    return f"{words[:40] or 'section'}_{index}"

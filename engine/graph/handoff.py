"""What a node hands over: headings of a Markdown document, or an output of a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.graph.node_config import AgentNodeConfig, MarkdownHandoff
from engine.vocabulary.tools import JsonObject

DEFAULT_OUTPUT_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
"""Stands in for a schema that does not describe an object; never to be changed."""

MARKDOWN_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"markdown": {"type": "string"}},
    "required": ["markdown"],
    "additionalProperties": False,
}
"""What a node with a Markdown handoff submits; never to be changed."""

DEFAULT_TEMPLATE = """\
# Handoff

## Summary
<!-- What was done and what came of it, in a few sentences. -->

## Findings
<!-- Facts that the next step needs, each with where it comes from. -->

## Files
<!-- Files that were read or changed and matter later on, one to a line. -->

## Risks
<!-- What may be wrong, is missing or was assumed. -->

## Recommended Next Step
<!-- The one thing to do next, and why. -->
"""

_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"(#{1,6})(?!#)\s*(\S.*)")


def headings(text: str) -> tuple[str, ...]:
    """The headings of a Markdown text, in order, each as its hashes, a blank and its title.

    A blank after the hashes is not asked for. What stands in fenced code is no heading.
    """
    return tuple(_headings(text))


def _headings(text: str) -> Iterator[str]:
    fence = ""
    for raw_line in text.split("\n"):
        line = raw_line.strip()
        opened = _FENCE.fullmatch(line)
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
        elif found := _HEADING.fullmatch(line):
            yield f"{found[1]} {found[2]}"


def missing_headings(template: str, text: str) -> tuple[str, ...]:
    """The headings of the template that the text does not have, each once, in order.

    Title and level have to be the same; order, repetition and further headings do not matter.
    """
    given = frozenset(headings(text))
    return tuple(dict.fromkeys(heading for heading in headings(template) if heading not in given))


def effective_output_schema(schema: Any) -> JsonObject:
    """The schema itself if it describes an object, else `DEFAULT_OUTPUT_SCHEMA`."""
    if isinstance(schema, dict) and (schema.get("type") == "object" or "properties" in schema):
        return schema
    return DEFAULT_OUTPUT_SCHEMA


def submission_schema(agent: AgentNodeConfig) -> JsonObject:
    """The schema of what the node submits."""
    if isinstance(agent.handoff, MarkdownHandoff):
        return MARKDOWN_SCHEMA
    return effective_output_schema(agent.output_schema)

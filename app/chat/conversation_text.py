"""Rows as a text for the clipboard."""

from __future__ import annotations

from collections.abc import Iterable

from app.chat.rows import THINKING, USER, Row


def row_text(row: Row) -> str:
    """What one row says, the whole message it belongs to; of a call its arguments and output."""
    tool = row.tool
    if tool is None:
        return row.whole_text
    parts = [f"{tool.verb} {tool.target}".strip(), tool.arguments, tool.output]
    return "\n\n".join(part for part in parts if part)


def conversation_text(rows: Iterable[Row]) -> str:
    """Everything in order, as Markdown, each under the name of who says it."""
    parts: list[str] = []
    speaker = ""
    for row in rows:
        text = row_text(row).strip()
        if not text or row.before is not None:
            continue
        name = "You" if row.kind == USER else row.label
        if name != speaker:
            speaker = name
            if name:
                parts.append(f"## {name}")
        if row.tool is not None:
            parts.append(_fenced(text))
        elif row.kind == THINKING:
            parts.append("\n".join(f"> {line}" for line in text.split("\n")))
        else:
            parts.append(text)
    return "\n\n".join(parts) + "\n" if parts else ""


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"

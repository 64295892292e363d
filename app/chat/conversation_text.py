"""Rows as a text for the clipboard."""

from __future__ import annotations

from collections.abc import Iterable

from app.chat.message_parts import code_spans, fence_after
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


def whole_code(row: Row, *, is_first: bool, is_last: bool) -> str | None:
    """A code block that goes on in other parts of a message; `None` if it does not.

    It is the first, the last or the only one in the part `row`.
    """
    goes_back = is_first and row.before is not None and fence_after(row.opening) != ""
    goes_on = is_last and row.after is not None and row.closing != ""
    spans = code_spans(row.text, row.opening)
    if not spans or not (goes_back or goes_on):
        return None
    start, end = spans[0 if goes_back else -1]
    pieces = [row.text[start:end]]
    before, after = row.before, row.after
    while goes_back and before is not None:
        spans = code_spans(before.text, before.opening)
        pieces.insert(0, before.text[slice(*spans[-1])])
        goes_back = spans[-1][0] == 0 and fence_after(before.opening) != ""
        before = before.before
    while goes_on and after is not None:
        spans = code_spans(after.text, after.opening)
        pieces.append(after.text[slice(*spans[0])])
        goes_on = spans[0][1] == len(after.text) and after.closing != ""
        after = after.after
    return "".join(pieces).removesuffix("\n")


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"

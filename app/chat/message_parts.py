"""Where a long message is cut, so that no single row costs more than a frame.

Where the cuts are depends on the text alone, not on the pieces in which it arrived.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SOFT = 4_000
"""From here on a part ends at the next blank line between two blocks."""

HARD = 6_000
"""Here a part ends in any case."""

TABLE_ROWS = 60
"""So many lines of a table are in one part: tables cost much more than other text."""

_FENCES = ("```", "~~~")
_FENCE_LINE = re.compile(r"^ *(?:```|~~~)[^\n]*", re.MULTILINE)


class Part(NamedTuple):
    """A piece of a message, and what makes Markdown of it that can be read by itself.

    All `text`s of a message in order are the message.
    """

    text: str
    opening: str = ""
    closing: str = ""


def next_cut(text: str, opening: str = "") -> int:
    """How many characters the first part of `text` has; 0 while it may still grow."""
    if len(text) <= SOFT and text.count("|") < TABLE_ROWS:
        return 0
    fence = fence_after(opening)
    start, last_line, table_lines = 0, 0, 0
    was_blank = False
    limit = min(len(text), HARD + 1)
    if text.count("|", 0, limit) < TABLE_ROWS:
        # No table can end the part: nothing before the soft limit needs to be read line by line.
        start = text.rfind("\n", 0, SOFT) + 1
        fence = fence_after(text[:start], fence)
        was_blank = start > 0 and not text[text.rfind("\n", 0, start - 1) + 1 : start].strip()
    while start < limit:
        if start >= SOFT:
            last_line = start
            if not fence and was_blank and text[start] not in " \t\n":
                return start
        if table_lines >= TABLE_ROWS and text.startswith("|", start):
            return start
        end = text.find("\n", start)
        if end < 0:
            break
        line = text[start:end]
        table_lines = table_lines + 1 if not fence and line.startswith("|") else 0
        fence = _fence_behind(line, fence)
        was_blank = not line.strip()
        start = end + 1
    if len(text) <= HARD:
        return 0
    return last_line or text.rfind(" ", SOFT, HARD) + 1 or HARD


def parts_of(text: str, *, is_markdown: bool = True) -> list[Part]:
    """Cut a message into its parts; most have one."""
    parts: list[Part] = []
    opening, start = "", 0
    # Where a part ends depends on so many characters alone.
    while at := next_cut(text[start : start + HARD + 1], opening):
        part = text[start : start + at]
        following, closing = seam(part, opening) if is_markdown else ("", "")
        parts.append(Part(part, opening, closing))
        opening, start = following, start + at
    parts.append(Part(text[start:], opening))
    return parts


def seam(text: str, opening: str) -> tuple[str, str]:
    """What stands before the part behind `text`, and what closes `text` itself."""
    whole = opening + text
    fence = fence_after(whole)
    if fence:
        closing = fence if whole.endswith("\n") else f"\n{fence}"
        return f"{_opening_line(whole, fence)}\n", closing
    return _table_head(whole), ""


def fence_after(text: str, fence: str = "") -> str:
    """The fence that is open at the end of the text; `fence` is open at its beginning."""
    for line in _FENCE_LINE.findall(text):
        fence = _fence_behind(line, fence)
    return fence


def code_spans(text: str, opening: str) -> list[tuple[int, int]]:
    """Where the fenced code of a part begins and ends, without the fences."""
    fence, start = fence_after(opening), 0
    spans: list[tuple[int, int]] = []
    for match in _FENCE_LINE.finditer(text):
        behind = _fence_behind(match[0], fence)
        if fence and not behind:
            spans.append((start, match.start()))
        elif behind and not fence:
            start = match.end() + 1
        fence = behind
    if fence:
        spans.append((start, len(text)))
    return spans


def _fence_behind(line: str, fence: str) -> str:
    bare = line.lstrip(" ")
    if fence:
        closes = bare.startswith(fence) and not bare.strip(fence[0] + " ")
        return "" if closes else fence
    opening = next((mark for mark in _FENCES if bare.startswith(mark)), "")
    if not opening:
        return ""
    return opening[0] * (len(bare) - len(bare.lstrip(opening[0])))


def _opening_line(text: str, fence: str) -> str:
    """The line that opened the fence that is still open."""
    found, opened = "", ""
    for line in _FENCE_LINE.findall(text):
        behind = _fence_behind(line, opened)
        if behind and not opened:
            found = line.strip()
        opened = behind
    return found or fence


def _table_head(text: str) -> str:
    """The first two lines of the table that the text ends in the middle of."""
    if not text.endswith("\n"):
        return ""
    lines = text.removesuffix("\n").split("\n")
    first = len(lines)
    while first and lines[first - 1].lstrip().startswith("|"):
        first -= 1
    table = lines[first:]
    if len(table) < 2 or table[1].strip("|:- \t"):
        return ""
    return f"{table[0]}\n{table[1]}\n"

"""Split large texts in portions, so that no other thread has to wait long for its turn."""

from __future__ import annotations

_PORTION = 64 * 1024


def lines_of(text: str) -> list[str]:
    """What stands between the line feeds, as `text.split` with one of them gives it."""
    lines: list[str] = []
    start = 0
    while (end := text.find("\n", start + _PORTION)) >= 0:
        lines += text[start:end].split("\n")
        start = end + 1
    lines += text[start:].split("\n")
    return lines


def lines_with_ends(text: str) -> list[str]:
    """The lines, each with its line feed; the last has none where the text ends without one."""
    lines = [f"{line}\n" for line in lines_of(text)]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines

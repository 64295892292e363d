"""Where the finished part of a growing Markdown text ends."""

from __future__ import annotations

TELLING = 4
"""So many characters of a line tell whether it goes on with a list."""

_FENCES = ("```", "~~~")


def closed_length(text: str) -> int:
    """How many characters at the start of `text` are whole blocks that cannot change any more.

    A block closes at the blank line behind it, a fenced one behind its closing fence. A list or a
    quote stays open over a blank line until something else follows it.
    """
    closed = 0
    fence = ""
    held_open = False
    start = 0
    while True:
        end = text.find("\n", start)
        if end < 0:
            rest = text[start:]
            ends_container = held_open and not fence and text[:start].endswith("\n\n")
            if ends_container and len(rest) >= TELLING and _starts_prose(rest):
                return start
            return closed
        line = text[start:end]
        bare = line.lstrip(" ")
        start = end + 1
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0] + " "):
                fence = ""
                if not held_open:
                    closed = start
            continue
        opening = next((mark for mark in _FENCES if bare.startswith(mark)), "")
        if opening:
            fence = opening[0] * (len(bare) - len(bare.lstrip(opening[0])))
            if len(bare) == len(line):
                if held_open:
                    closed = end - len(line)
                held_open = False
        elif not line.strip():
            if not held_open:
                closed = start
        elif _continues_a_container(line):
            held_open = True
        elif held_open and _starts_prose(line) and text[:start].endswith("\n\n" + line + "\n"):
            held_open = False
            closed = start - len(line) - 1


def _starts_prose(line: str) -> bool:
    """Whether a line behind a blank one ends the list or the quote before it."""
    return not line.startswith((" ", "\t")) and not _continues_a_container(line)


def _continues_a_container(line: str) -> bool:
    """Whether the line is an item of a list or part of a quote."""
    bare = line.lstrip(" ")
    if bare.startswith((">", "- ", "* ", "+ ")):
        return True
    digits = bare[:9].lstrip("0123456789")
    return len(digits) < len(bare[:9]) and digits.startswith((". ", ") "))

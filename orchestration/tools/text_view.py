"""Show a text to a model: a header that names it, numbered lines, an outline or chosen ranges."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from orchestration.tools.outline import outline
from orchestration.tools.selectors import Selection

MAX_LINES = 3000
MAX_LINE_LENGTH = 2000
ELLIPSIS = "…"


def tag(text: str) -> str:
    """Four hex digits that change with the text; edits name them to say what they saw.

    They are the low 16 bits of the CRC-32 of the UTF-8 text with LF line ends and without blanks
    at the ends of lines, so that neither of these makes an edit stale.
    """
    normal = "\n".join(line.rstrip() for line in text.split("\n"))
    return f"{zlib.crc32(normal.encode('utf-8', 'surrogatepass')) & 0xFFFF:04X}"


def render(
    label: str, text: str, selection: Selection | None = None, outlined: str | None = None
) -> str:
    """Give what a model sees of a text.

    Args:
        label: how the text is addressed, as the header and the notices name it.
        text: the whole text.
        selection: the lines asked for.
        outlined: shown in place of the whole text where no lines were asked for.
    """
    if selection is not None and selection.raw and not selection.ranges:
        return text
    lines = split_lines(text)
    header = f"¶{label}#{tag(text)}"
    if selection is None:
        if outlined is not None:
            notice = (
                f"[outline of {len(lines)} lines; "
                f"read {label}:FIRST-LAST or {label}:raw for the text]"
            )
            return f"{header}\n{outlined}\n{notice}"
        return "\n".join([header, *_beginning(label, lines)])
    chunks = [_chunk(lines, first, last) for first, last in selection.ranges]
    if selection.raw:
        return f"\n{ELLIPSIS}\n".join(
            "\n".join(line for _, line in chunk) for chunk in chunks if chunk
        )
    shown = f"\n{ELLIPSIS}\n".join("\n".join(_numbered(chunk)) for chunk in chunks if chunk)
    return f"{header}\n{shown or f'[no such lines: there are {len(lines)}]'}"


def split_lines(text: str) -> list[str]:
    """Split at line feeds, without the carriage returns before them and the last empty line."""
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    if lines[-1] == "":
        lines.pop()
    return lines


def outline_text(text: str, extension: str) -> str | None:
    """The outline of a code file as numbered lines, `None` where there is none.

    `extension` is the file's, in lower case with its dot.
    """
    found = outline(split_lines(text), extension)
    return "\n".join(_numbered(found)) or None


def _beginning(label: str, lines: Sequence[str]) -> Iterable[str]:
    if not lines:
        return ["[empty]"]
    shown = list(_numbered(enumerate(lines[:MAX_LINES], start=1)))
    if len(lines) > MAX_LINES:
        shown.append(
            f"[{MAX_LINES} of {len(lines)} lines; read {label}:{MAX_LINES + 1}- for the rest]"
        )
    return shown


def _chunk(lines: Sequence[str], first: int, last: int | None) -> list[tuple[int, str]]:
    end = len(lines) if last is None else min(last, len(lines))
    return [(number, lines[number - 1]) for number in range(first, end + 1)]


def _numbered(lines: Iterable[tuple[int, str]]) -> Iterable[str]:
    for number, line in lines:
        clipped = line if len(line) <= MAX_LINE_LENGTH else line[:MAX_LINE_LENGTH] + ELLIPSIS
        yield f"{number}:{clipped}"

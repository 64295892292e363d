"""Show a text to a model: a header that names it, numbered lines, an outline or chosen ranges.

Texts are gone through in blocks of lines. No step takes long, so a thread that shows a large file
gives way to the event loop all the time, and only what is shown is kept.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from msgspec import Struct

from orchestration.tools.outline import outline
from orchestration.tools.selectors import Selection

MAX_LINES = 3000
MAX_LINE_LENGTH = 2000
MAX_SHOWN = 4 * 1024 * 1024
ELLIPSIS = "…"

MAX_LINE_BYTES = 10 * 1024 * 1024
"""As much as edits take of a whole file: what is done with one line is one step."""

_BLOCK = 64 * 1024
_STEP = 1024 * 1024


class TooMuch(Exception):
    """More characters were asked for than are ever shown at once."""

    def __init__(self) -> None:
        super().__init__(f"that is more than {MAX_SHOWN} characters; ask for fewer lines")


class LineTooLong(Exception):
    """A line is longer than anything that is still a text."""

    def __init__(self) -> None:
        super().__init__(f"has a line of more than {MAX_LINE_BYTES} bytes")


class Shown(Struct, frozen=True):
    """What a model sees of a text, and its outline where that is what is seen."""

    content: str
    outline: str | None = None


def tag(text: str) -> str:
    """Four hex digits that change with the text; edits name them to say what they saw.

    They are the low 16 bits of the CRC-32 of the UTF-8 text with LF line ends, without byte order
    mark and without blanks at the ends of lines, so that none of these makes an edit stale.
    """
    return _scan(text.encode("utf-8", "surrogatepass"), (), "surrogatepass").tag


def show(
    label: str,
    data: bytes,
    selection: Selection | None = None,
    *,
    extension: str = "",
    errors: str = "surrogatepass",
    page_bytes: int | None = None,
) -> Shown:
    """Give what a model sees of a text.

    Args:
        label: how the text is addressed, as the header and the notices name it.
        data: the whole text in UTF-8.
        selection: the lines asked for.
        extension: the file's, in lower case with its dot; code is shown as an outline where no
            lines were asked for.
        errors: how the text is decoded, as `bytes.decode` has it.
        page_bytes: about how many bytes are shown where no lines were asked for.

    Raises:
        LineTooLong: a line of it is too long to be gone through.
        TooMuch: what was asked for is too large to be handed on in one piece.
        UnicodeDecodeError: the bytes are no UTF-8; `start` counts from the beginning of `data`.
    """
    if selection is None:
        return _without_selection(label, data, extension, errors, page_bytes)
    if selection.raw and not selection.ranges:
        if len(data) > MAX_SHOWN:
            raise TooMuch
        return Shown("".join(_decoded(data, errors)))
    scan = _scan(data, selection.ranges, errors, raw=selection.raw)
    shown = f"\n{ELLIPSIS}\n".join("\n".join(parts) for parts in scan.parts if parts)
    shown = shown or ("" if any(scan.parts) else f"[no such lines: there are {scan.total}]")
    return Shown(shown if selection.raw else f"¶{label}#{scan.tag}\n{shown}")


def _without_selection(
    label: str, data: bytes, extension: str, errors: str, page_bytes: int | None
) -> Shown:
    declared = list(islice(outline(_lines(data, errors), extension), MAX_LINES))
    count = MAX_LINES if page_bytes is None else _lines_that_fit(data, errors, page_bytes)
    scan = _scan(data, () if declared else ((1, count),), errors)
    header = f"¶{label}#{scan.tag}"
    if declared:
        outlined = "\n".join(_numbered(declared))
        notice = f"[outline of {scan.total} lines; read {label}:FIRST-LAST or {label}:raw for text]"
        return Shown(f"{header}\n{outlined}\n{notice}", outlined)
    if not scan.total:
        return Shown(f"{header}\n[empty]")
    shown = [header, *scan.parts[0]]
    if scan.total > count:
        shown.append(f"[{count} of {scan.total} lines; read {label}:{count + 1}- for the rest]")
    return Shown("\n".join(shown))


class _Scan(Struct, frozen=True):
    """How many lines there are, their tag, and for each range its text in pieces."""

    total: int
    tag: str
    parts: tuple[list[str], ...]


def _scan(
    data: bytes,
    ranges: Sequence[tuple[int, int | None]],
    errors: str,
    *,
    raw: bool = False,
) -> _Scan:
    total = checksum = size = 0
    parts: tuple[list[str], ...] = tuple([] for _ in ranges)
    between = ""
    for lines in _blocks(data, errors):
        normal = between + "\n".join([line.rstrip() for line in lines])
        checksum = zlib.crc32(normal.encode("utf-8", "surrogatepass"), checksum)
        between = "\n"
        for (first, last), part in zip(ranges, parts, strict=True):
            end = len(lines) if last is None else min(last - total, len(lines))
            start = max(first - total, 1)
            if start <= end:
                wanted = lines[start - 1 : end]
                shown = wanted if raw else _numbered(enumerate(wanted, start=total + start))
                part.append("\n".join(shown))
                size += len(part[-1])
                if size > MAX_SHOWN:
                    raise TooMuch
        total += len(lines)
    if data.endswith((b"\n", b"\r")):
        checksum = zlib.crc32(b"\n", checksum)
    return _Scan(total, f"{checksum & 0xFFFF:04X}", parts)


def _lines(data: bytes, errors: str) -> Iterator[str]:
    return chain.from_iterable(_blocks(data, errors))


def _blocks(data: bytes, errors: str) -> Iterator[list[str]]:
    """The lines without their ends, LF, CRLF or CR, and without the byte order mark."""
    mark = codecs.BOM_UTF8
    for text in _decoded(data, errors, len(mark) if data.startswith(mark) else 0):
        normal = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        lines = normal.split("\n")
        if not lines[-1]:
            lines.pop()
        yield lines


def _decoded(data: bytes, errors: str, start: int = 0) -> Iterator[str]:
    """The text from a byte on, in pieces of whole lines; none of the pieces is empty."""
    while start < len(data):
        end = _end_of_line(data, min(start + _BLOCK, len(data)))
        if end - start > MAX_LINE_BYTES + _BLOCK:
            raise LineTooLong
        yield "".join(_in_steps(data, start, end, errors))
        start = end


def _in_steps(data: bytes, start: int, end: int, errors: str) -> Iterator[str]:
    """The text from byte to byte in pieces of whole characters."""
    while start < end:
        stop = min(start + _STEP, end)
        while stop < end and stop > start + _STEP - 4 and data[stop] & 0xC0 == 0x80:
            stop -= 1
        try:
            yield data[start:stop].decode("utf-8", errors)
        except UnicodeDecodeError as error:
            begin, after = start + error.start, start + error.end
            raise UnicodeDecodeError("utf-8", data, begin, after, error.reason) from None
        start = stop


def _end_of_line(data: bytes, at: int) -> int:
    """Where the first line that ends at `at` or later is over, its end included."""
    while at < len(data):
        stop = at + _BLOCK
        found = [place for end in (b"\n", b"\r") if (place := data.find(end, at, stop)) >= 0]
        if found:
            place = min(found)
            return place + (2 if data[place : place + 2] == b"\r\n" else 1)
        at = stop
    return len(data)


def _lines_that_fit(data: bytes, errors: str, page_bytes: int) -> int:
    """How many lines are shown within a number of bytes; one at least."""
    size = 0
    for number, line in enumerate(islice(_lines(data, errors), MAX_LINES), start=1):
        size += len(_clipped(line).encode("utf-8", "surrogatepass")) + len(f"{number}:\n")
        if size > page_bytes:
            return max(1, number - 1)
    return MAX_LINES


def _numbered(lines: Iterable[tuple[int, str]]) -> Iterator[str]:
    for number, line in lines:
        yield f"{number}:{_clipped(line)}"


def _clipped(line: str) -> str:
    return line if len(line) <= MAX_LINE_LENGTH else line[:MAX_LINE_LENGTH] + ELLIPSIS

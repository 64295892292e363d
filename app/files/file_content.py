"""A file as it can be looked at; one of any size costs a bounded read, in a worker thread."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from orchestration.workspace.paths import PathRefused, Workspace

MOST_BYTES = 1 << 20
"""So much of a text is shown."""
MOST_LINES = 20_000
LONGEST_LINE = 4000
"""Longer lines are cut, and so marked."""
LARGEST_IMAGE = 32 << 20
CUT = " …"
_HEAD = 8192
_IMAGES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg", ".ico"})
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class FileContent(NamedTuple):
    """What a file holds.

    Attributes:
        path: its real place.
        label: what it is called, relative to the folder.
        kind: `text`, `image` or `nothing`.
        text: the text, or as much of it as is shown.
        data: the bytes of an image.
        size: bytes of the whole file.
        notices: sentences about what is not shown, and why.
        stamp: another one where the file has changed.
    """

    path: Path
    label: str
    kind: str
    text: str = ""
    data: bytes = b""
    size: int = 0
    notices: tuple[str, ...] = ()
    stamp: tuple[int, int, int] = (0, 0, 0)


def read_content(workspace: Workspace, name: str) -> FileContent:
    """Read a file of the folder; what cannot be read says why. Blocking.

    Args:
        workspace: the folder, and which others may be looked at.
        name: a path as somebody wrote it, absolute or relative to the folder.
    """
    try:
        path = workspace.resolve(name)
    except PathRefused as refusal:
        return FileContent(Path(name), name, "nothing", notices=(f"{_capital(str(refusal))}.",))
    label = workspace.label(path)
    try:
        return _read(path, label)
    except OSError as error:
        why = error.strerror or str(error)
        return FileContent(path, label, "nothing", notices=(f"This file cannot be read: {why}.",))


def stamp_of(path: Path) -> tuple[int, int, int]:
    """Changes with a file; zeros where there is none. Blocking."""
    try:
        facts = os.stat(path)
    except OSError:
        return 0, 0, 0
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def size_text(count: int) -> str:
    """A size: `812 bytes`, `4.2 KB`, `1.0 GB`."""
    if count < 1000:
        return f"{count} bytes" if count != 1 else "1 byte"
    size = float(count)
    for unit in ("KB", "MB", "GB"):
        size /= 1000
        if size < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def _read(path: Path, label: str) -> FileContent:
    # A pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(file.fileno())
        stamp = facts.st_mtime_ns, facts.st_size, facts.st_ino
        if not stat.S_ISREG(facts.st_mode):
            kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "no ordinary file"
            words = f"'{label}' is {kind}, so there is nothing to read."
            return FileContent(path, label, "nothing", notices=(words,))
        size = facts.st_size
        if path.suffix.lower() in _IMAGES:
            if size > LARGEST_IMAGE:
                words = f"This image is too large to be shown ({size_text(size)})."
                return FileContent(path, label, "nothing", "", b"", size, (words,), stamp)
            return FileContent(path, label, "image", "", file.read(), size, (), stamp)
        data = file.read(MOST_BYTES)
    text = _decoded(data, is_whole=len(data) == size)
    if text is None:
        words = f"This is a binary file ({size_text(size)}), so there is nothing to read."
        return FileContent(path, label, "nothing", "", b"", size, (words,), stamp)
    shown, notices = _bounded(text, len(data), size)
    return FileContent(path, label, "text", shown, b"", size, notices, stamp)


def _decoded(data: bytes, *, is_whole: bool) -> str | None:
    """The text; `None` where it is none."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_HEAD]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not is_whole and error.start > len(data) - 4:
            return data[: error.start].decode("utf-8")
    head = data[:_HEAD].decode("utf-8", "replace")
    strange = sum(sign == "\ufffd" or (sign < " " and sign not in "\t\r\n\f\x1b") for sign in head)
    if strange > len(head) * 0.1:
        return None
    return data.decode("utf-8", "replace")


def _bounded(text: str, read: int, size: int) -> tuple[str, tuple[str, ...]]:
    notices = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # What Qt would take for the ends of lines or paragraphs.
    text = text.replace("\u2028", "\ufffd").replace("\u2029", "\ufffd").replace("\0", "\ufffd")
    if read < size:
        text = text[: text.rfind("\n") + 1] or text
        notices.append(f"Only the first {size_text(read)} of {size_text(size)} are shown.")
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        notices.append(f"Only the first {MOST_LINES:,} of {len(lines):,} lines are shown.")
        del lines[MOST_LINES:]
    long = 0
    for number, line in enumerate(lines):
        if len(line) > LONGEST_LINE:
            lines[number] = line[:LONGEST_LINE] + CUT
            long += 1
    if long:
        which = "One line is" if long == 1 else f"{long:,} lines are"
        notices.append(f"{which} cut after {LONGEST_LINE:,} characters.")
    return "\n".join(lines), tuple(notices)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Read the text of a patch: which files it adds, deletes, moves and changes, and how."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from orchestration.tools.tool import FailureKind, ToolFailure

BEGIN = "*** Begin Patch"
END = "*** End Patch"
ADD = "*** Add File:"
DELETE = "*** Delete File:"
UPDATE = "*** Update File:"
MOVE = "*** Move to:"
END_OF_FILE = "*** End of File"
NO_NEWLINE = "\\ No newline at end of file"

_HEREDOC = re.compile(r"(?:[\w./-]+[ \t]+)?<<-?[ \t]*(['\"]?)(?P<word>\w+)\1")
_UNIFIED_RANGES = re.compile(r"-\d+(?:,\d+)? \+\d+(?:,\d+)? @@.*|-\d+(?:,\d+)? \+\d+(?:,\d+)?")


class PatchLine(Struct, frozen=True):
    """A line of a hunk; `mark` is a blank for context, `-` for an old and `+` for a new line."""

    mark: str
    text: str


class Hunk(Struct, frozen=True):
    """One changed place of a file.

    Attributes:
        line: where the hunk stands in the patch, from 1.
        anchors: lines of the file (`@@ ...`) that come before it, each after the one before.
        lines: what the place looks like before and after.
        at_end: the place is the end of the file.
    """

    line: int
    anchors: tuple[str, ...]
    lines: tuple[PatchLine, ...]
    at_end: bool = False

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that the file has there now."""
        return tuple(line.text for line in self.lines if line.mark != "+")


class AddFile(Struct, frozen=True):
    """A new file with these lines."""

    line: int
    path: str
    lines: tuple[str, ...]


class DeleteFile(Struct, frozen=True):
    """A file that goes."""

    line: int
    path: str


class UpdateFile(Struct, frozen=True):
    """A file that changes, moves, or both."""

    line: int
    path: str
    move_to: str | None
    hunks: tuple[Hunk, ...]


Entry = AddFile | DeleteFile | UpdateFile


def parse_patch(text: str) -> tuple[Entry, ...]:
    """Give the entries of a patch in its order; there may be none.

    Args:
        text: from `*** Begin Patch` to `*** End Patch`, perhaps wrapped as a shell's here-document.

    Raises:
        ToolFailure: it is no patch; the text says which line is wrong and what belongs there.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    first, last = _without_heredoc(lines, *_without_blanks(lines, 0, len(lines)))
    if first >= last or lines[first].strip() != BEGIN:
        raise _invalid(f"the patch does not start with '{BEGIN}'", "make it the first line")
    if last - first < 2 or lines[last - 1].strip() != END:
        raise _invalid(f"the patch does not end with '{END}'", "make it the last line")
    return _Parser(lines, first + 1, last - 1).entries()


class _Parser:
    def __init__(self, lines: Sequence[str], first: int, last: int) -> None:
        self._lines, self._at, self._last = lines, first, last

    def entries(self) -> tuple[Entry, ...]:
        found: list[Entry] = []
        while self._at < self._last:
            line = self._lines[self._at]
            if line.strip():
                found.append(self._entry(line))
            else:
                self._at += 1
        return tuple(found)

    def _entry(self, line: str) -> Entry:
        number = self._at + 1
        for header in (ADD, DELETE, UPDATE):
            if line.startswith(header):
                path = line.removeprefix(header).strip()
                if not path:
                    raise _invalid(f"line {number} of the patch names no file: '{line.strip()}'")
                self._at += 1
                if header == DELETE:
                    return DeleteFile(number, path)
                return self._add(number, path) if header == ADD else self._update(number, path)
        raise _invalid(
            f"line {number} of the patch is no file header: '{_clip(line)}'",
            f"a file starts with '{ADD} PATH', '{UPDATE} PATH' or '{DELETE} PATH'",
        )

    def _add(self, number: int, path: str) -> AddFile:
        added: list[str] = []
        blanks = 0
        while self._at < self._last and not _is_header(line := self._lines[self._at]):
            if line.startswith("+"):
                # A blank line within the file whose plus sign was left out.
                added.extend([""] * blanks)
                added.append(line[1:])
                blanks = 0
            elif not line.strip():
                blanks += 1
            else:
                raise _invalid(
                    f"line {self._at + 1} of the patch, in the new file '{path}', "
                    f"has no '+' before it: '{_clip(line)}'",
                    "put '+' before each line of a new file",
                )
            self._at += 1
        return AddFile(number, path, tuple(added))

    def _update(self, number: int, path: str) -> UpdateFile:
        move_to = None
        if self._at < self._last and self._lines[self._at].startswith(MOVE):
            move_to = self._lines[self._at].removeprefix(MOVE).strip()
            if not move_to:
                raise _invalid(f"line {self._at + 1} of the patch names no file to move to")
            self._at += 1
        hunks: list[Hunk] = []
        while self._at < self._last and not _is_header(line := self._lines[self._at]):
            if line.strip():
                hunks.append(self._hunk(path))
            else:
                self._at += 1
        if not hunks and move_to is None:
            raise _invalid(
                f"the update of '{path}' in line {number} of the patch changes nothing",
                "give lines that start with ' ', '-' or '+' after a line '@@'",
            )
        return UpdateFile(number, path, move_to, tuple(hunks))

    def _hunk(self, path: str) -> Hunk:
        number = self._at + 1
        anchors = self._anchors()
        lines: list[PatchLine] = []
        bare_blanks = 0
        at_end = False
        while self._at < self._last:
            line = self._lines[self._at]
            if line.rstrip() == END_OF_FILE:
                at_end = True
                self._at += 1
                break
            if _is_header(line) or line.startswith("@@"):
                break
            if line.rstrip() != NO_NEWLINE:
                bare_blanks = 0 if line else bare_blanks + 1
                lines.append(self._line(line, path))
            self._at += 1
        # An empty line before the next header parts it from the hunk.
        kept = tuple(lines[: len(lines) - bare_blanks])
        if not any(line.mark != " " for line in kept):
            raise _invalid(
                f"the hunk in line {number} of the patch, for '{path}', has no line to change",
                "put '-' before each line that goes and '+' before each that comes",
            )
        return Hunk(number, anchors, kept, at_end)

    def _anchors(self) -> tuple[str, ...]:
        anchors: list[str] = []
        while self._at < self._last and self._lines[self._at].startswith("@@"):
            anchor = self._lines[self._at].removeprefix("@@").strip()
            if anchor and not _UNIFIED_RANGES.fullmatch(anchor):
                anchors.append(anchor)
            self._at += 1
        return tuple(anchors)

    def _line(self, line: str, path: str) -> PatchLine:
        if not line:
            return PatchLine(" ", "")
        if line[0] in " -+":
            return PatchLine(line[0], line[1:])
        raise _invalid(
            f"line {self._at + 1} of the patch, in '{path}', starts with none of ' ', '-' and "
            f"'+': '{_clip(line)}'",
            "put a blank before a line that stays",
        )


def _is_header(line: str) -> bool:
    return line.startswith("*** ")


def _without_blanks(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    return first, last


def _without_heredoc(lines: Sequence[str], first: int, last: int) -> tuple[int, int]:
    if last - first < 2:
        return first, last
    opening = _HEREDOC.fullmatch(lines[first].strip())
    if opening is None or lines[last - 1].strip() != opening["word"]:
        return first, last
    return _without_blanks(lines, first + 1, last - 1)


def _clip(line: str) -> str:
    return line if len(line) <= 80 else line[:80] + "…"


def _invalid(detail: str, hint: str = "") -> ToolFailure:
    return ToolFailure(FailureKind.INVALID_ARGS, detail, hint)

"""Read the text of a hash-line edit: sections of files, each with operations on numbered lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from orchestration.tools.tool import FailureKind, ToolFailure

MARK = "¶"

_HEADER = re.compile(r"¶\s*(?P<path>.*?)\s*(?:#(?P<tag>[0-9A-Fa-f]{4}))?\s*")
_SPAN = r"(?P<first>\d{1,9})(?:\s*(?:\.\.|-|…)\s*(?P<last>\d{1,9}))?"
_REPLACE = re.compile(rf"replace\s+{_SPAN}\s*:?", re.IGNORECASE)
_DELETE = re.compile(rf"delete\s+{_SPAN}\s*:?", re.IGNORECASE)
_INSERT_AT = re.compile(r"insert\s+(?P<side>before|after)\s+(?P<line>\d{1,9})\s*:?", re.IGNORECASE)
_INSERT_END = re.compile(r"insert\s+(?P<end>head|tail)\s*:?", re.IGNORECASE)
_BLOCK = re.compile(r"(?:replace|delete)\s+block\b.*", re.IGNORECASE)
_OPS = (_REPLACE, _DELETE, _INSERT_AT, _INSERT_END, _BLOCK)
_BARE_SPAN = re.compile(rf"{_SPAN}\s*:?")
_PATCH_MARK = re.compile(
    r"\*\*\* (?:Add File|Update File|Delete File|Move to|End of File)\b.*|diff --git .*"
)
_UNIFIED = re.compile(r"@@.*|--- \S.*|\+\+\+ [ab]/.*")
_BROKEN = re.compile(r"(?:replace|delete|insert)\s+[^\s:]+(?:\s+[^\s:]+)?\s*:", re.IGNORECASE)


class OpKind(StrEnum):
    """What an operation does to lines."""

    REPLACE = "replace"
    DELETE = "delete"
    BEFORE = "before"
    AFTER = "after"
    HEAD = "head"
    TAIL = "tail"


class Op(Struct, frozen=True):
    """One operation.

    Attributes:
        kind: what it does.
        first: the first line that it names, from 1; 0 where it names none.
        last: the last line that it names; the same one unless it names a range.
        rows: the new lines.
        text: the operation as it was written, for messages.
        line: where it stands in the input, from 1.
    """

    kind: OpKind
    first: int
    last: int
    rows: tuple[str, ...]
    text: str
    line: int

    @property
    def has_place(self) -> bool:
        """Whether it names lines of the file, which may have moved since."""
        return self.kind not in (OpKind.HEAD, OpKind.TAIL)


class Section(Struct, frozen=True):
    """The operations on one file; `tag` names the version whose lines they number, upper-case."""

    path: str
    tag: str
    ops: tuple[Op, ...]
    warnings: tuple[str, ...] = ()


def parse_hashline(text: str) -> tuple[Section, ...]:
    """Give the sections in their order; those of the same path are one.

    Raises:
        ToolFailure: something is not understood; the text says which line and what belongs there.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return _merged(_Parser(lines).sections())


class _Open(Struct):
    """A section that is being read."""

    path: str
    tag: str
    ops: list[Op]
    warnings: list[str]


class _Parser:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    def sections(self) -> list[Section]:
        found: list[_Open] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            plain = line.strip()
            if plain == "*** Abort":
                break
            if not plain or plain in ("*** Begin Patch", "*** End Patch") or _is_comment(plain):
                self._at += 1
            elif plain.startswith(MARK):
                found.append(self._header(plain))
            elif not found:
                raise self._wrong(
                    "stands before the first file",
                    f"start with '{MARK}PATH#TAG', as read prints it",
                )
            else:
                found[-1].ops.append(self._op(plain, found[-1]))
        if not found:
            raise _invalid("the input names no file", f"start with '{MARK}PATH#TAG'")
        for section in found:
            if not section.ops:
                raise _invalid(
                    f"the section of '{section.path}' does nothing",
                    "give operations such as 'replace 3..5:' after its header",
                )
        return [
            Section(section.path, section.tag, tuple(section.ops), tuple(section.warnings))
            for section in found
        ]

    def _header(self, line: str) -> _Open:
        match = _HEADER.fullmatch(line)
        path = match["path"] if match else ""
        if match is None or not path:
            raise self._wrong("names no file", f"write '{MARK}PATH#TAG'")
        if match["tag"] is None:
            raise self._wrong(
                f"has no tag, or not one of four hex digits, after '{path}'",
                f"copy the header '{MARK}PATH#TAG' that read prints",
            )
        self._at += 1
        return _Open(path, match["tag"].upper(), [], [])

    def _op(self, plain: str, section: _Open) -> Op:
        number = self._at + 1
        if _BLOCK.fullmatch(plain):
            raise self._wrong(
                "names a block, which is not supported", "name its lines: 'replace FIRST..LAST:'"
            )
        if match := _DELETE.fullmatch(plain):
            first, last = self._span(match)
            self._at += 1
            return self._without_rows(Op(OpKind.DELETE, first, last, (), plain, number))
        if match := _REPLACE.fullmatch(plain):
            first, last = self._span(match)
            return Op(OpKind.REPLACE, first, last, self._rows(plain, section), plain, number)
        if match := _INSERT_AT.fullmatch(plain):
            line, kind = int(match["line"]), OpKind(match["side"].lower())
            if line < 1:
                raise self._wrong("names line 0", "the first line is 1, or use 'insert head:'")
            return Op(kind, line, line, self._rows(plain, section), plain, number)
        if match := _INSERT_END.fullmatch(plain):
            kind = OpKind(match["end"].lower())
            return Op(kind, 0, 0, self._rows(plain, section), plain, number)
        raise self._no_op(plain)

    def _no_op(self, plain: str) -> ToolFailure:
        if _PATCH_MARK.fullmatch(plain):
            return self._wrong(
                "belongs to apply_patch", f"start a file with '{MARK}PATH#TAG', or call apply_patch"
            )
        if _UNIFIED.fullmatch(plain):
            return self._wrong(
                "belongs to a unified diff", "write operations such as 'replace 3..5:'"
            )
        if _BARE_SPAN.fullmatch(plain):
            return self._wrong(
                "names lines but does not say what to do with them",
                f"write 'replace {plain.rstrip(': ')}:' or 'delete {plain.rstrip(': ')}'",
            )
        if plain.startswith("-"):
            return self._wrong(
                "marks a line as removed, which no operation does",
                "name the lines instead: 'delete FIRST..LAST'",
            )
        if plain.startswith("+"):
            return self._wrong(
                "is a row of no operation",
                "put 'replace FIRST..LAST:' or 'insert after LINE:' before it",
            )
        return self._wrong(
            "is no operation",
            "use 'replace FIRST..LAST:', 'delete FIRST..LAST', 'insert before LINE:', "
            "'insert after LINE:', 'insert head:' or 'insert tail:'",
        )

    def _span(self, match: re.Match[str]) -> tuple[int, int]:
        first = int(match["first"])
        last = first if match["last"] is None else int(match["last"])
        if first < 1:
            raise self._wrong("names line 0", "the first line is 1")
        if last < first:
            raise self._wrong("names a range that ends before it begins", f"use {last}..{first}")
        return first, last

    def _without_rows(self, op: Op) -> Op:
        if self._at < len(self._lines) and self._lines[self._at].startswith("+"):
            raise self._wrong(f"is a row after '{op.text}'", "a delete has no rows; use replace")
        return op

    def _rows(self, op: str, section: _Open) -> tuple[str, ...]:
        """The rows after the operation at which the parser stands."""
        header = self._at + 1
        self._at += 1
        rows: list[str] = []
        blanks = 0
        bare: list[int] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            plain = line.strip()
            if line.startswith("+"):
                rows += [*[""] * blanks, line[1:]]
                blanks = 0
            elif not plain:
                blanks += 1
            elif self._ends_rows(plain) or (_is_comment(plain) and rows and not bare):
                break
            else:
                self._refuse_as_row(plain)
                bare.append(self._at + 1)
                rows += [*[""] * blanks, line]
                blanks = 0
            self._at += 1
        if not rows:
            self._at = header - 1
            raise self._wrong(
                "has no rows",
                "put '+' and the text of each new line under it, or use 'delete FIRST..LAST'",
            )
        if bare:
            section.warnings.append(
                f"line {bare[0]} of the input, under '{op}', had no '+' before it and was taken as "
                "a row; put '+' before each"
            )
        return tuple(rows)

    def _ends_rows(self, plain: str) -> bool:
        return (
            plain.startswith((MARK, "*** Begin Patch", "*** End Patch", "*** Abort"))
            or any(op.fullmatch(plain) for op in _OPS)
            or _BROKEN.fullmatch(plain) is not None
        )

    def _refuse_as_row(self, plain: str) -> None:
        """Refuse a line without `+` that shows a misunderstanding of the format."""
        misplaced = (_PATCH_MARK, _UNIFIED, _BARE_SPAN)
        if plain.startswith("-") or any(shape.fullmatch(plain) for shape in misplaced):
            raise self._no_op(plain)

    def _wrong(self, what: str, hint: str) -> ToolFailure:
        line = self._lines[self._at].strip()
        shown = line if len(line) <= 80 else line[:80] + "…"
        return _invalid(f"line {self._at + 1} of the input {what}: '{shown}'", hint)


def _merged(sections: Sequence[Section]) -> tuple[Section, ...]:
    merged: dict[str, Section] = {}
    for section in sections:
        before = merged.get(section.path)
        if before is None:
            merged[section.path] = section
        elif before.tag != section.tag:
            raise _invalid(
                f"'{section.path}' is named with two tags, {before.tag} and {section.tag}",
                "number all lines of a file by one version of it",
            )
        else:
            merged[section.path] = Section(
                section.path,
                section.tag,
                before.ops + section.ops,
                before.warnings + section.warnings,
            )
    return tuple(merged.values())


def _is_comment(plain: str) -> bool:
    return plain.startswith("#")


def _invalid(detail: str, hint: str = "") -> ToolFailure:
    return ToolFailure(FailureKind.INVALID_ARGS, detail, hint)

"""Change the lines of a file as placed hunks say, keeping what the file itself has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from orchestration.tools.file_edits.file_text import FileText, LineSplice
from orchestration.tools.file_edits.line_splices import with_line_splices
from orchestration.tools.file_edits.patch_likeness import folded
from orchestration.tools.file_edits.patch_match import Placed, place_hunks
from orchestration.tools.file_edits.patch_parse import Hunk, PatchLine

MAX_CARRIED_LENGTH = 2000


def apply_hunks(
    file: FileText, hunks: Sequence[Hunk], label: str
) -> tuple[FileText, tuple[str, ...]]:
    """Give the changed file, and what is worth saying about how the hunks were placed.

    Raises:
        ToolFailure: see `place_hunks`.
    """
    lines = file.lines
    placed = place_hunks(lines, hunks, label)
    splices = [splice for one in placed for splice in hunk_splices(lines, one)]
    notes = tuple(
        f"the hunk in line {one.hunk.line} of the patch was placed at line {one.start + 1} of "
        f"'{label}' although it differs there in {one.ignores}"
        for one in placed
        if one.ignores
    )
    return with_line_splices(file, splices), notes


def hunk_splices(lines: Sequence[str], placed: Placed) -> Iterable[LineSplice]:
    """The changes of one hunk by line; context is left as the file has it."""
    start = index = placed.start
    indents = _indents(lines[start : start + len(placed.hunk.old)], placed.hunk.old)
    removed: list[PatchLine] = []
    added: list[str] = []
    for line in (*placed.hunk.lines, PatchLine(" ", "")):
        if line.mark == "+":
            added.append(line.text)
        elif line.mark == "-":
            if added:
                yield _splice(lines, index, removed, added, indents)
                removed, added = [], []
            removed.append(line)
            index += 1
        else:
            if removed or added:
                yield _splice(lines, index, removed, added, indents)
                removed, added = [], []
            index += 1


def _splice(
    lines: Sequence[str],
    stop: int,
    removed: Sequence[PatchLine],
    added: Sequence[str],
    indents: Mapping[str, str],
) -> LineSplice:
    first = stop - len(removed)
    new = [_indented(text, indents) for text in added]
    if len(removed) == len(added):
        new = [
            _carried(old.text, patch, text, lines[first + i])
            for i, (old, patch, text) in enumerate(zip(removed, added, new, strict=True))
        ]
    return LineSplice(first + 1, stop, tuple(new))


def _indents(found: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """How the patch's indents are written in the file; empty where they are the same.

    Also empty where one indent of the patch stands for several of the file.
    """
    indents: dict[str, str] = {}
    for line, text in zip(found, wanted, strict=True):
        if text.strip() and indents.setdefault(_indent(text), _indent(line)) != _indent(line):
            return {}
    return {} if all(one == other for one, other in indents.items()) else indents


def _indented(text: str, indents: Mapping[str, str]) -> str:
    """A new line with the file's kind of indent, as far as the lines around show what that is."""
    indent = _indent(text)
    if not indents or not text.strip():
        return text
    known = max((one for one in indents if indent.startswith(one)), key=len, default=None)
    if known is not None:
        further = indent[len(known) :]
        return indents[known] + _in_units(further, indents) + text[len(indent) :]
    shallower = min(indents, key=len)
    if shallower.startswith(indent) and indents[shallower].endswith(shallower):
        # The file has the whole place deeper by some blanks.
        return indents[shallower].removesuffix(shallower) + text
    return text


def _in_units(indent: str, indents: Mapping[str, str]) -> str:
    """Further blanks as tabs, where the file has one tab for each so many blanks."""
    units = {
        len(patch) // len(file)
        for patch, file in indents.items()
        if patch and file and not patch.strip(" ") and not file.strip("\t")
    }
    unit = units.pop() if len(units) == 1 else 0
    if not unit or indent.strip(" ") or len(indent) % unit:
        return indent
    return "\t" * (len(indent) // unit)


def _carried(old: str, patch: str, new: str, found: str) -> str:
    """`new`, with the file's own characters where the patch keeps the line as it thinks it is.

    `patch` is the new line as the patch has it and `found` the line of the file that it replaces.
    """
    was, line = old.strip(), found.strip()
    if was == line or folded(was) != folded(line) or len(patch) > MAX_CARRIED_LENGTH:
        return new
    body = patch.strip()
    pieces = [new[: len(new) - len(new.lstrip())]]
    for kind, a, b, c, d in SequenceMatcher(None, was, body, autojunk=False).get_opcodes():
        pieces.append(line[a:b] if kind == "equal" else body[c:d])
    return "".join((*pieces, new[len(new.rstrip()) :]))


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]

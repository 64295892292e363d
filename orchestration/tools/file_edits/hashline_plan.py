"""Plan a hash-line edit: which version each section numbers, and what becomes of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.vocabulary.tools import JsonObject
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.file_memory import FileVersion
from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.file_edits.hashline_apply import splices_of
from orchestration.tools.file_edits.hashline_parse import MARK, Op, Section, parse_hashline
from orchestration.tools.file_edits.hashline_rebase import Moved, rebased
from orchestration.tools.file_edits.line_splices import with_line_splices
from orchestration.tools.file_edits.reading import (
    StaleFile,
    Target,
    decoded,
    encoded,
    is_stale,
    look_up,
)
from orchestration.tools.text_view import tag
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure

SHOWN_WHOLE = 60
AROUND = 2


def plan_hashline(arguments: JsonObject, context: ToolContext) -> ChangePlan:
    """Work out the edits of `input`. All sections are planned before any is done.

    Raises:
        ToolFailure: a section cannot be done, or one of several changes nothing.
    """
    sections = _by_file(parse_hashline(str(arguments.get("input", ""))), context)
    edited = [_edited(target, section, context) for target, section in sections]
    idle = [one.label for one in edited if one.before == one.after]
    notes = tuple(note for one in edited for note in one.notes)
    if idle and len(edited) > 1:
        raise ToolFailure(
            FailureKind.FAILED,
            f"the section of '{idle[0]}' changes nothing, so nothing was written",
            "leave it out",
        )
    if idle:
        told = f"No change: '{idle[0]}' already reads as the input would have it."
        return ChangePlan((), (told, *notes))
    return ChangePlan(tuple(one.change() for one in edited), notes)


def hashline_paths(arguments: JsonObject) -> tuple[str, ...]:
    """The paths that the input names; none where it is no hash-line edit."""
    try:
        return tuple(section.path for section in parse_hashline(str(arguments.get("input", ""))))
    except ToolFailure:
        return ()


class _Edited(Struct, frozen=True):
    target: Target
    after: bytes
    notes: tuple[str, ...]

    @property
    def label(self) -> str:
        return self.target.label

    @property
    def before(self) -> bytes | None:
        return self.target.data

    def change(self) -> FileChange:
        return FileChange(
            path=self.target.path,
            label=self.label,
            before=self.before,
            after=self.after,
        )


def _by_file(sections: Sequence[Section], context: ToolContext) -> Iterator[tuple[Target, Section]]:
    """The sections with their files; a file may be spelled in several ways and is taken once."""
    files: dict[str, tuple[Target, Section]] = {}
    for section in sections:
        target = look_up(section.path, context)
        key = str(target.path)
        if key in files:
            before = files[key][1]
            if before.tag != section.tag:
                raise ToolFailure(
                    FailureKind.INVALID_ARGS,
                    f"'{target.label}' is named with two tags, {before.tag} and {section.tag}",
                    "number all lines of a file by one version of it",
                )
            section = Section(
                before.path,
                before.tag,
                before.ops + section.ops,
                before.warnings + section.warnings,
            )
        files[key] = (target, section)
    return iter(files.values())


def _edited(target: Target, section: Section, context: ToolContext) -> _Edited:
    live = decoded(target)
    if is_stale(target, context):
        raise StaleFile(target)
    ops, notes = section.ops, list(section.warnings)
    if tag(live.text) != section.tag:
        base = _older_version(target, section, context)
        if base is not None:
            ops = _carried_over(base, target, live, section)
            notes.append(
                f"'{target.label}' had changed since the version {section.tag}; the edit was "
                "carried over to what it is now"
            )
        elif any(op.has_place for op in ops):
            raise _stale(target, live, section, "is not a version that you have seen")
        else:
            notes.append(
                f"'{target.label}' is no longer the version {section.tag}; lines were added at "
                "its ends all the same"
            )
    found = splices_of(live.lines, ops)
    after = encoded(with_line_splices(live, found.splices), target.label)
    return _Edited(target, after, (*notes, *found.warnings))


def _older_version(
    target: Target, section: Section, context: ToolContext
) -> tuple[str, ...] | None:
    """The lines that the section numbers, where the conversation knows what became of them."""
    files = context.services.files
    if files.last_seen(context.caller_id, target.path) is None:
        return None
    named = [version for version in files.versions(target.path) if _has_tag(version, section.tag)]
    return FileText.decode(named[-1].data).lines if named else None


def _has_tag(version: FileVersion, wanted: str) -> bool:
    try:
        return tag(FileText.decode(version.data).text) == wanted
    except NotText:
        return False


def _carried_over(
    base: Sequence[str], target: Target, live: FileText, section: Section
) -> tuple[Op, ...]:
    splices_of(base, section.ops)  # what was wrong with the old version's lines is told as such
    try:
        return rebased(base, live.lines, section.ops)
    except Moved as moved:
        raise _stale(
            target, live, section, f"has changed since, and '{moved.op.text}' is where it did"
        ) from None


def _stale(target: Target, live: FileText, section: Section, why: str) -> ToolFailure:
    header = f"{MARK}{target.label}#{tag(live.text)}"
    shown = "\n".join((header, *_shown(live.lines, section.ops)))
    return ToolFailure(
        FailureKind.FAILED,
        f"'{target.label}' with the tag {section.tag} {why}, so nothing was written",
        f"number the lines of what it is now\n{shown}",
    )


def _shown(lines: Sequence[str], ops: Sequence[Op]) -> Iterator[str]:
    """The whole text where it is short, else what is around the lines that operations name."""
    count = len(lines)
    if count <= SHOWN_WHOLE:
        wanted = set(range(1, count + 1))
    else:
        wanted = {
            number
            for op in ops
            if op.has_place
            for edge in (op.first, op.last)
            for number in range(max(1, edge - AROUND), min(count, edge + AROUND) + 1)
        }
    before = 0
    for number in sorted(wanted):
        if number != before + 1:
            yield "…"
        yield f"{number}:{lines[number - 1]}"
        before = number
    if before < count:
        yield "…"

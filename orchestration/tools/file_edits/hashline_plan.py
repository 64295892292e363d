"""Plan a hash-line edit: which version each section numbers, and what becomes of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.vocabulary.tools import JsonObject
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.file_memory import FileVersion, digest_of
from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.file_edits.hashline_apply import splices_of
from orchestration.tools.file_edits.hashline_parse import MARK, Op, Section, parse_hashline
from orchestration.tools.file_edits.hashline_rebase import Moved, rebased
from orchestration.tools.file_edits.line_splices import with_line_splices
from orchestration.tools.file_edits.reading import Target, decoded, encoded, look_up
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
    is_reconciled: bool
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
            is_reconciled=self.is_reconciled,
        )


class _Base(Struct, frozen=True):
    """The version that a section numbers; `lines` is `None` where it is the present one."""

    lines: tuple[str, ...] | None = None
    is_reconciled: bool = False


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
    base = _base_of(target, live, section, context)
    ops, notes = section.ops, list(section.warnings)
    if base is None:
        if any(op.has_place for op in ops):
            raise _stale(target, live, section, "is not a version that this run has seen")
        notes.append(
            f"'{target.label}' is no longer the version {section.tag}; lines were added at its "
            "ends all the same"
        )
    elif base.lines is not None:
        ops = _carried_over(base.lines, target, live, section)
        notes.append(
            f"'{target.label}' had changed since the version {section.tag}; the edit was carried "
            "over to what it is now"
        )
    found = splices_of(live.lines, ops)
    after = encoded(with_line_splices(live, found.splices), target.label)
    return _Edited(target, after, base is None or base.is_reconciled, (*notes, *found.warnings))


def _base_of(
    target: Target, live: FileText, section: Section, context: ToolContext
) -> _Base | None:
    """The version whose lines the section numbers; `None` where nobody knows it any more."""
    files = context.services.files
    seen = files.last_seen(context.caller_id, target.path)
    named = [version for version in files.versions(target.path) if _has_tag(version, section.tag)]
    known = next((version for version in named if version.digest == seen), None)
    if tag(live.text) == section.tag:
        if seen is None or seen == digest_of(target.data or b""):
            return _Base()
        if known is None:
            # It names the present version, which a refusal or another conversation told it of.
            return _Base(is_reconciled=True)
    if known is None:
        known = named[-1] if named else None
    if known is None:
        return None
    return _Base(FileText.decode(known.data).lines, is_reconciled=True)


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

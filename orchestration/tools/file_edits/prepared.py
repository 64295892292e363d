"""A plan made ready: checked, formatted, with the diffs that are shown; still nothing is done."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from engine.vocabulary.tools import CallPreview, FileChangeOp, FilePreview
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.file_edits.formatters import formatted
from orchestration.tools.file_edits.generated_guard import why_generated
from orchestration.tools.file_edits.numbered_diff import numbered_diff
from orchestration.tools.file_edits.reading import StaleFile, Target, generated, is_stale
from orchestration.tools.text_view import tag
from orchestration.tools.tool import Inspected, ToolContext, ToolFailure

ABSENT = "absent"
_HEADINGS = {
    FileChangeOp.CREATE: "Created",
    FileChangeOp.UPDATE: "Updated",
    FileChangeOp.DELETE: "Deleted",
    FileChangeOp.RENAME: "Moved",
}


class PreparedChange(Struct, frozen=True):
    """A change with everything that is told of it.

    Attributes:
        change: what is done; `after` is as the formatter left it.
        diff: complete and numbered.
        summary: what the model is told: a heading, the tag of the new text, the diff.
    """

    change: FileChange
    diff: str
    summary: str


class PreparedPlan(Struct, frozen=True):
    """The changes to make in order, lines for the model, and why what came after is left out."""

    changes: tuple[PreparedChange, ...]
    notes: tuple[str, ...] = ()
    failure: ToolFailure | None = None


def prepare(plan: ChangePlan, context: ToolContext) -> PreparedPlan:
    """Check and complete a plan; a run and its preview are made of the same.

    Blocks: a formatter may run.

    Raises:
        ToolFailure: a file is generated, or changed since the conversation knew it.
    """
    known: set[Path] = set()
    prepared = []
    for index, change in enumerate(plan.changes):
        if change.path not in known:
            _refuse(change, context)
        destination = change.destination[0]
        known |= {change.path, destination}
        is_final = all(later.path != destination for later in plan.changes[index + 1 :])
        prepared.append(_prepared(change, context, may_format=is_final))
    return PreparedPlan(tuple(prepared), plan.notes, plan.failure)


def inspected(plan: PreparedPlan) -> Inspected:
    """What a person is shown of a plan before it is done, and what it would touch."""
    targets: dict[Path, bytes | None] = {}
    for change in (item.change for item in plan.changes):
        targets.setdefault(change.path, change.before)
        targets.setdefault(change.destination[0], None)
    return Inspected(
        tuple(sorted(f"{path}@{_version(data)}" for path, data in targets.items())),
        CallPreview(
            tuple(
                FilePreview(item.change.label, item.change.op, item.diff, item.change.move_label)
                for item in plan.changes
            ),
            problem=None if plan.failure is None else str(plan.failure),
        ),
    )


def _version(data: bytes | None) -> str:
    return ABSENT if data is None else digest_of(data)


def _refuse(change: FileChange, context: ToolContext) -> None:
    """Also for planners that looked the file up in a way of their own."""
    if context.services.settings.protect_generated:
        destination, data = change.destination[1], change.before
        for label in {change.label, destination} if data is not None else ():
            if why := why_generated(label, data):
                raise generated(label, why)
    target = Target(change.path, change.label, change.before)
    if is_stale(target, context):
        raise StaleFile(target)


def _prepared(change: FileChange, context: ToolContext, *, may_format: bool) -> PreparedChange:
    label, remark = change.destination[1], ""
    if may_format and change.after is not None and context.services.settings.format_on_write:
        after, remark = formatted(change.after, change.destination[0], context)
        change = replace(change, after=after)
    before, after_text = _text(change.before), _text(change.after)
    if isinstance(before, str) and isinstance(after_text, str):
        diff = numbered_diff(before, after_text)
    else:
        diff = f"[no text: {_size(change.before)} before, {_size(change.after)} after]"
    lines = [change.heading or _heading(change)]
    if isinstance(after_text, str) and change.after is not None:
        lines.append(f"¶{label}#{tag(after_text)}")
    if diff:
        lines.append(diff)
    elif change.before != change.after:
        lines.append("[only line ends changed]")
    if remark:
        lines.append(remark)
    return PreparedChange(change, diff, "\n".join(lines))


def _heading(change: FileChange) -> str:
    verb = _HEADINGS[change.op]
    return f"{verb} {change.label}" + (f" to {change.move_label}" if change.move_label else "")


def _text(data: bytes | None) -> str | None:
    """The text of a file, empty where there is none; `None` where it is no text."""
    try:
        return FileText.decode(data or b"").text
    except NotText:
        return None


def _size(data: bytes | None) -> str:
    return "nothing" if data is None else f"{len(data)} bytes"

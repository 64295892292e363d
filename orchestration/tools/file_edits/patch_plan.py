"""Plan a patch: its entries in order, each on what those before it leave behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.vocabulary.tools import JsonObject
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.patch_apply import apply_hunks
from orchestration.tools.file_edits.patch_parse import (
    AddFile,
    DeleteFile,
    Entry,
    UpdateFile,
    parse_patch,
)
from orchestration.tools.file_edits.reading import (
    StaleFile,
    Target,
    decoded,
    encoded,
    look_up,
    read_target,
)
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure


def plan_patch(arguments: JsonObject, context: ToolContext) -> ChangePlan:
    """Work out the changes of `input`, up to the first entry that cannot be done.

    Raises:
        ToolFailure: it is no patch, it is empty, or its first entry cannot be done.
    """
    entries = parse_patch(str(arguments.get("input", "")))
    if not entries:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            "the patch names no file",
            "give '*** Add File: PATH', '*** Update File: PATH' or '*** Delete File: PATH'",
        )
    plan = _Plan(context)
    for index, entry in enumerate(entries):
        try:
            plan.take(entry)
        except ToolFailure as failure:
            if not index:
                raise
            told = _with_rest(failure, entries[index + 1 :])
            return ChangePlan(tuple(plan.changes), tuple(plan.notes), told)
    return ChangePlan(tuple(plan.changes), tuple(plan.notes))


def patch_paths(arguments: JsonObject) -> tuple[str, ...]:
    """The paths that the input names; none where it is no patch."""
    try:
        entries = parse_patch(str(arguments.get("input", "")))
    except ToolFailure:
        return ()
    moves = [entry.move_to for entry in entries if isinstance(entry, UpdateFile) and entry.move_to]
    return tuple(dict.fromkeys((*(entry.path for entry in entries), *moves)))


class _Plan:
    def __init__(self, context: ToolContext) -> None:
        self.changes: list[FileChange] = []
        self.notes: list[str] = []
        self._context = context
        self._left: dict[Path, bytes | None] = {}

    def take(self, entry: Entry) -> None:
        match entry:
            case AddFile():
                change = self._add(entry)
            case DeleteFile():
                change = self._delete(entry)
            case UpdateFile():
                change = self._update(entry)
        self.changes.append(change)
        self._left[change.path] = None
        self._left[change.destination[0]] = change.after

    def _target(self, path: str) -> Target:
        """The file as the entries before leave it."""
        target = look_up(path, self._context)
        if target.path in self._left:
            return target._replace(data=self._left[target.path])
        return read_target(path, self._context)

    def _add(self, entry: AddFile) -> FileChange:
        target = self._target(entry.path)
        if target.data is not None:
            raise ToolFailure(
                FailureKind.FAILED,
                f"'{target.label}' is there already and cannot be added",
                "change it with '*** Update File:'",
            )
        text = FileText.new("".join(f"{line}\n" for line in entry.lines))
        return _change(target, encoded(text, target.label))

    def _delete(self, entry: DeleteFile) -> FileChange:
        target = self._target(entry.path)
        if target.data is None:
            raise ToolFailure(FailureKind.NOT_FOUND, f"there is no '{target.label}' to delete")
        return _change(target, None)

    def _update(self, entry: UpdateFile) -> FileChange:
        target = self._target(entry.path)
        after = target.data
        notes: tuple[str, ...] = ()
        if entry.hunks or after is None:
            changed, notes = apply_hunks(decoded(target), entry.hunks, target.label)
            after = encoded(changed, target.label)
        if entry.move_to is not None:
            moved = self._destination(entry.move_to, target)
        elif after == target.data:
            raise ToolFailure(
                FailureKind.FAILED,
                f"the update of '{target.label}' changes nothing",
                "leave it out",
            )
        else:
            moved = None
        self.notes += notes
        return _change(target, after, moved)

    def _destination(self, path: str, source: Target) -> Target:
        target = self._target(path)
        if target.path == source.path:
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"'{source.label}' cannot be moved to itself",
                "leave '*** Move to:' out",
            )
        if target.data is not None:
            raise ToolFailure(
                FailureKind.FAILED,
                f"'{source.label}' cannot be moved to '{target.label}', which is there already",
                f"delete '{target.label}' first if nobody needs it",
            )
        return target


def _change(target: Target, after: bytes | None, moved: Target | None = None) -> FileChange:
    return FileChange(
        path=target.path,
        label=target.label,
        before=target.data,
        after=after,
        move_to=None if moved is None else moved.path,
        move_label=None if moved is None else moved.label,
    )


def _with_rest(failure: ToolFailure, rest: Sequence[Entry]) -> ToolFailure:
    """The failure, saying what was not even tried after it."""
    if not rest or isinstance(failure, StaleFile):
        return failure
    named = ", ".join(f"'{entry.path}'" for entry in rest)
    return ToolFailure(
        failure.kind,
        f"{failure.detail}; what the patch says after it, of {named}, was not tried",
        failure.hint,
    )

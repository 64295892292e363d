"""Make one planned change, if the file still is what the plan was made for."""

from __future__ import annotations

from pathlib import Path

from orchestration.tools.file_edits.change_plan import FileChange
from orchestration.tools.file_edits.file_errors import failure_of
from orchestration.tools.file_edits.reading import StaleFile, Target, refused
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.workspace import jailed_files
from orchestration.workspace.paths import PathRefused, Workspace


def apply(change: FileChange, workspace: Workspace, mode: int | None = None) -> None:
    """Make the change; blocks.

    Args:
        change: what to do.
        workspace: the jail.
        mode: the permissions of a file that is made.

    Raises:
        ToolFailure: it was not made, and everything is as it was; where a move failed half-way and
            could not be taken back, the text says so.
    """
    path, label = change.path, change.label
    if change.after is None:
        if change.before is not None:
            _remove(workspace, path, label, change.before)
    elif change.move_to is None:
        _write(workspace, path, label, change.after, change.before, mode)
    elif change.before is not None:
        _move(change, change.before, change.after, workspace)


def _move(change: FileChange, before: bytes, after: bytes, workspace: Workspace) -> None:
    destination, label = change.destination
    try:
        mode = jailed_files.mode_of(change.path)
    except OSError as error:
        raise failure_of(error, change.label, "moved") from error
    _write(workspace, destination, label, after, None, mode)
    try:
        _remove(workspace, change.path, change.label, before)
    except ToolFailure as failure:
        try:
            _remove(workspace, destination, label, after)
        except ToolFailure as second:
            raise ToolFailure(
                failure.kind,
                f"{failure.detail}; and it now stands at '{label}' too: {second.detail}",
            ) from None
        raise


def _write(
    workspace: Workspace,
    path: Path,
    label: str,
    data: bytes,
    expected: bytes | None,
    mode: int | None = None,
) -> None:
    try:
        jailed_files.replace(workspace, path, data, expected, mode=mode)
    except jailed_files.ChangedMeanwhile as changed:
        raise _changed(path, label, changed.data) from None
    except jailed_files.NotAFile as error:
        raise ToolFailure(FailureKind.FAILED, f"'{label}' {error}") from None
    except PathRefused as refusal:
        raise refused(refusal) from None
    except OSError as error:
        raise failure_of(error, label, "written") from error


def _remove(workspace: Workspace, path: Path, label: str, expected: bytes) -> None:
    try:
        jailed_files.remove(workspace, path, expected)
    except jailed_files.ChangedMeanwhile as changed:
        raise _changed(path, label, changed.data) from None
    except jailed_files.NotAFile as error:
        raise ToolFailure(FailureKind.FAILED, f"'{label}' {error}") from None
    except PathRefused as refusal:
        raise refused(refusal) from None
    except OSError as error:
        raise failure_of(error, label, "deleted") from error


def _changed(path: Path, label: str, now: bytes | None) -> ToolFailure:
    if now is None:
        return ToolFailure(FailureKind.NOT_FOUND, f"'{label}' was deleted while it was edited")
    return StaleFile(Target(path, label, now))

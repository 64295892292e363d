"""What an editing call is going to do to files, worked out before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from engine.vocabulary.tools import FileChangeOp, JsonObject
from orchestration.tools.tool import ToolContext, ToolFailure


class FileChange(Struct, frozen=True, kw_only=True):
    """One change of one file; a plan may change a file several times, in order.

    Attributes:
        path: the real path.
        label: how output names it, relative to the execution folder.
        before: its bytes as the plan found them, `None` where there is no file.
        after: its bytes afterwards, at `move_to` where that is set; `None` deletes it.
        move_to: the real path that the file moves to; there must be nothing there.
        move_label: how output names that.
        heading: the line above the diff; the usual one where it is empty.
    """

    path: Path
    label: str
    before: bytes | None
    after: bytes | None
    move_to: Path | None = None
    move_label: str | None = None
    heading: str = ""

    @property
    def op(self) -> FileChangeOp:
        """What happens to the file."""
        if self.move_to is not None:
            return FileChangeOp.RENAME
        if self.before is None:
            return FileChangeOp.CREATE
        return FileChangeOp.DELETE if self.after is None else FileChangeOp.UPDATE

    @property
    def destination(self) -> tuple[Path, str]:
        """Where the file is afterwards, and how output names that."""
        if self.move_to is None:
            return self.path, self.label
        return self.move_to, self.move_label or self.label


class ChangePlan(Struct, frozen=True):
    """The changes of a call in order.

    `notes` are lines for the model, after the diffs. `failure` says why what came after these
    changes could not be planned; they are made all the same. A plan without changes and failure is
    a success that changes nothing.
    """

    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()
    failure: ToolFailure | None = None


Planner = Callable[[JsonObject, ToolContext], ChangePlan]
"""Reads files and changes none; blocks; raises `ToolFailure` where nothing can be done."""

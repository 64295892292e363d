"""What is known of calls whose run broke off, and what a person may say about the others."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from engine.vocabulary.tools import NO_EFFECTS, ToolCall, ToolEffects, ToolResult

ABSENT = "absent"
"""The version of a file that is not there."""
UNREADABLE = "unreadable"
"""The version of a file that cannot be looked at now."""


class Sign(StrEnum):
    """What the evidence says about a call of unknown end."""

    UNTOUCHED = "untouched"
    """All that the call was about to touch is as it was: it has probably not run."""
    CHANGED = "changed"
    """Something is no longer as it was: it has probably run, in part or whole."""
    UNKNOWN = "unknown"
    """Nothing was noted that could be compared, as with a command."""


class FileEvidence(Struct, frozen=True, gc=False):
    """One file then and now; a version is a SHA-256 in hexadecimal, `absent` or `unreadable`."""

    path: str
    before: str
    now: str

    @property
    def is_same(self) -> bool:
        """Whether the file is certainly as it was."""
        return self.before == self.now and self.now != UNREADABLE


class CallEvidence(Struct, frozen=True, gc=False, omit_defaults=True):
    """What can still be found out about a call of unknown end.

    `folders` are where commands were about to run.
    """

    call_id: str
    sign: Sign = Sign.UNKNOWN
    files: tuple[FileEvidence, ...] = ()
    folders: tuple[str, ...] = ()


class KnownEnd(Struct, frozen=True, gc=False, omit_defaults=True):
    """How a call ended, and what it did besides, as written down before the run broke off."""

    result: ToolResult
    effects: ToolEffects = NO_EFFECTS


class UncertainChoice(StrEnum):
    """What a person makes of a call of unknown end."""

    DONE = "done"
    """It has been carried out; the model is told so."""
    REDO = "redo"
    """It is to run again."""
    SKIP = "skip"
    """It is not to run; the model is told so."""


class UncertainCall(Struct, frozen=True, gc=False, omit_defaults=True):
    """A call that may have run or not: the program ended in the middle of it.

    `path` is the chain of node and subagent ids that leads to the caller, and `node_id` its first.
    """

    node_id: str
    node_label: str
    tool_call: ToolCall
    evidence: CallEvidence
    path: tuple[str, ...] = ()

    @property
    def call_id(self) -> str:
        """The id that an answer names."""
        return self.tool_call.id

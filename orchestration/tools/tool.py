"""What a tool is: its definition, its function, and what goes in and comes out of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from engine.vocabulary.tools import (
    NO_EFFECTS,
    JsonObject,
    OutputMeta,
    ToolDefinition,
    ToolEffects,
)
from orchestration.workspace.paths import Workspace

HandoffReader = Callable[[str, str], str | None]
"""Gives the text of a node's handoff document by path segment and file name; may touch the disk."""


class FailureKind(StrEnum):
    """The classes of errors that a model is told; each stands in brackets before the text."""

    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    INVALID_ARGS = "invalid_args"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ToolFailure(Exception):
    """A call that did not do what it was asked for. `hint` says what the model may do next."""

    def __init__(self, kind: FailureKind, detail: str, hint: str = "") -> None:
        self.kind, self.detail, self.hint = kind, detail, hint
        super().__init__(f"[{kind}] {detail} - {hint}" if hint else f"[{kind}] {detail}")


class ToolContext(Struct, frozen=True):
    """What surrounds one call. `update` shows the latest tail of an output that still grows."""

    node_id: str
    call_id: str
    workspace: Workspace
    update: Callable[[str], None]
    read_handoff: HandoffReader | None = None


class ToolOutput(Struct, frozen=True):
    """What a call gave back; the runner cuts `content` where it is too long."""

    content: str
    is_error: bool = False
    meta: OutputMeta | None = None
    effects: ToolEffects = NO_EFFECTS


class Tool(Struct, frozen=True):
    """One tool. `run` raises `ToolFailure`; whatever blocks in it belongs in a thread.

    `lock_keys` names what an exclusive call must have for itself, from its arguments; without it
    all calls of the tool exclude one another.
    """

    definition: ToolDefinition
    run: Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]
    lock_keys: Callable[[JsonObject], Sequence[str]] | None = None

"""What a tool is: its definition, its function, and what goes in and comes out of it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from engine.vocabulary.tools import (
    NO_EFFECTS,
    CallPreview,
    EditBatch,
    JsonObject,
    OutputMeta,
    ToolAccessPolicy,
    ToolDefinition,
    ToolEffects,
)
from orchestration.settings.model import ToolSettings
from orchestration.tools.file_edits.file_memory import FileMemory
from orchestration.workspace.artifacts import ArtifactStore
from orchestration.workspace.paths import Workspace
from orchestration.workspace.plan_draft import PlanDraft

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


class ToolServices(Struct, frozen=True, kw_only=True):
    """What the calls of one run share.

    Attributes:
        workspace: the folders that tools may touch.
        artifacts: where large outputs and exact diffs are put aside.
        files: which versions of files the run's conversations have seen.
        edits: a folder of the run's own in which editing calls keep what was there before.
        plan: the plan that plan mode makes, `run://PLAN.md`.
        settings: what the user set about tools.
        read_handoff: opens the documents at `run://handoffs/`.
        now_ms: milliseconds since the epoch.
    """

    workspace: Workspace
    artifacts: ArtifactStore
    files: FileMemory
    edits: Path
    plan: PlanDraft
    settings: ToolSettings
    now_ms: Callable[[], int]
    read_handoff: HandoffReader | None = None


def services_in(
    folder: Path,
    workspace: Workspace,
    settings: ToolSettings | None = None,
    read_handoff: HandoffReader | None = None,
    files: FileMemory | None = None,
) -> ToolServices:
    """The services of a run whose own folder is `folder`; nothing is made before it is needed.

    `files` is what its conversations know of files from another day.
    """
    artifacts = folder / "artifacts"
    return ToolServices(
        workspace=workspace,
        artifacts=ArtifactStore(artifacts),
        files=files or FileMemory(),
        edits=folder / "edits",
        plan=PlanDraft(artifacts),
        settings=settings or ToolSettings(),
        now_ms=lambda: time.time_ns() // 1_000_000,
        read_handoff=read_handoff,
    )


class ToolContext(Struct, frozen=True, kw_only=True):
    """What surrounds one call.

    Attributes:
        node_id: the node to which the call's changes and reads count.
        caller_id: the node or the subagent that calls; each is a conversation of its own.
        call_id: the call.
        services: what the calls of the run share.
        update: shows the latest tail of an output that still grows; to be called on the event loop.
        policy: the phase of plan mode.
    """

    node_id: str
    caller_id: str
    call_id: str
    services: ToolServices
    update: Callable[[str], None]
    policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION

    @property
    def workspace(self) -> Workspace:
        """The folders that tools may touch."""
        return self.services.workspace


class ToolOutput(Struct, frozen=True):
    """What a call gave back; the runner puts `content` aside where it is too long.

    `batch` can be reverted. `artifact_ids` are those that the call stored itself. `whole`: the
    content was put aside before and is handed on as it is, however long.
    """

    content: str
    is_error: bool = False
    meta: OutputMeta | None = None
    effects: ToolEffects = NO_EFFECTS
    batch: EditBatch | None = None
    artifact_ids: tuple[str, ...] = ()
    whole: bool = False


class Inspected(Struct, frozen=True):
    """What a call would touch: see `CallInspection`."""

    targets: tuple[str, ...] = ()
    preview: CallPreview | None = None


class Tool(Struct, frozen=True, kw_only=True):
    """One tool.

    Attributes:
        definition: what a model is told of it.
        run: does the call; raises `ToolFailure`. Whatever blocks in it belongs in a thread.
        lock_paths: the paths in an exclusive call's arguments, as the model wrote them, that it
            must have for itself; without it all calls of the tool exclude one another.
        inspect: finds out what the call would touch and do, without doing it; raises
            `ToolFailure` for what is certain to fail. Without it a call has no targets.
        writes: whether the call may change files, so that listings and searches are stale after it.
        is_cacheable: whether equal arguments give an equal result for as long as no file changes;
            `None`: never.
    """

    definition: ToolDefinition
    run: Callable[[JsonObject, ToolContext], Awaitable[ToolOutput]]
    lock_paths: Callable[[JsonObject], Sequence[str]] | None = None
    inspect: Callable[[JsonObject, ToolContext], Awaitable[Inspected]] | None = None
    writes: bool = False
    is_cacheable: Callable[[JsonObject], bool] | None = None

"""How a call ended: its result as a model gets it, what it did besides, and the telling of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from engine.vocabulary.effects import RunTools
from engine.vocabulary.events import (
    EditBatchRecorded,
    FileChanged,
    RunEvent,
    ToolArtifactCreated,
    ToolCompleted,
)
from engine.vocabulary.tools import (
    NO_EFFECTS,
    EditBatch,
    OutputMeta,
    ToolCall,
    ToolEffects,
    ToolResult,
)
from orchestration.tools.admission import path_of
from orchestration.tools.output import Shown, is_short, shortened
from orchestration.tools.tool import ToolFailure, ToolOutput
from orchestration.workspace.artifacts import Artifact, ArtifactStore


class Ended(Struct, frozen=True):
    """One call that has ended. `artifacts` are those that it led to, `batch` can be undone."""

    result: ToolResult
    effects: ToolEffects = NO_EFFECTS
    batch: EditBatch | None = None
    artifacts: tuple[Artifact, ...] = ()


def ended_at_once(call: ToolCall, output: ToolOutput) -> Ended | None:
    """What comes of a tool's output if that takes no waiting, as most do; else `None`."""
    if output.artifact_ids or not (output.whole or is_short(output.content)):
        return None
    result = ToolResult(
        call.id, call.name, output.content, output.is_error, output_meta=output.meta
    )
    return Ended(result, output.effects, output.batch)


async def ended(call: ToolCall, output: ToolOutput, store: ArtifactStore) -> Ended:
    """What comes of a tool's output; one that is too long is put aside."""
    shown = Shown(output.content)
    if not output.whole:
        shown = await shortened(output.content, call.name, store)
    artifacts: tuple[Artifact, ...] = ()
    artifact_ids = output.artifact_ids
    if artifact_ids:
        artifacts = await asyncio.to_thread(_stored, artifact_ids, store)
    if shown.artifact is not None:
        artifacts = (*artifacts, shown.artifact)
        artifact_ids = (*artifact_ids, shown.artifact.id)
    meta = output.meta
    if shown.truncation is not None:
        meta = OutputMeta(shown.truncation, None if meta is None else meta.source_url)
    result = ToolResult(
        call.id, call.name, shown.content, output.is_error, artifact_ids, output_meta=meta
    )
    return Ended(result, output.effects, output.batch, artifacts)


def refused(call: ToolCall, failure: ToolFailure) -> Ended:
    """A call that did not run, or was stopped."""
    return Ended(ToolResult(call.id, call.name, str(failure), is_error=True))


def tell(emit: Callable[[RunEvent], None], batch: RunTools, call: Ended) -> None:
    """Tell all that there is to tell of a call, its completion last."""
    caller, node_id = batch.node_id, path_of(batch.node_id, batch.path)[0]
    result = call.result
    for artifact in call.artifacts:
        emit(
            ToolArtifactCreated(
                caller, artifact.id, result.tool_name, str(artifact.path), artifact.size_bytes
            )
        )
    if call.batch is not None:
        emit(EditBatchRecorded(node_id, call.batch))
    for record in call.effects.file_changes:
        emit(FileChanged(node_id, record))
    emit(
        ToolCompleted(
            caller,
            result.call_id,
            result.tool_name,
            result.content,
            result.is_error,
            result.output_meta,
            result.artifact_ids,
        )
    )


def together(parts: Iterable[ToolEffects]) -> ToolEffects:
    """What several calls did, in their order."""
    some = [part for part in parts if part is not NO_EFFECTS]
    if not some:
        return NO_EFFECTS
    return ToolEffects(
        file_changes=tuple([record for part in some for record in part.file_changes]),
        reads=tuple([record for part in some for record in part.reads]),
        read_call_paths=tuple([path for part in some for path in part.read_call_paths]),
    )


def _stored(artifact_ids: Sequence[str], store: ArtifactStore) -> tuple[Artifact, ...]:
    paths = [(artifact_id, store.find(artifact_id)) for artifact_id in artifact_ids]
    return tuple(
        [Artifact(name, path, path.stat().st_size) for name, path in paths if path is not None]
    )

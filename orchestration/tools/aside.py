"""Keep results that conversations have become too long for, so that a model can read them again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from engine.vocabulary.effects import AsideText
from engine.vocabulary.events import RunEvent, ToolArtifactCreated
from orchestration.tools.cache import ToolCache
from orchestration.tools.output import kind_of
from orchestration.workspace.artifacts import Artifact, ArtifactStore


class Aside:
    """Puts aside what the requests of a run do not hold any more."""

    def __init__(
        self, store: ArtifactStore, cache: ToolCache, emit: Callable[[RunEvent], None]
    ) -> None:
        self._store, self._cache, self._emit = store, cache, emit

    async def put(self, node_id: str, texts: tuple[AsideText, ...]) -> None:
        """Store the texts that are not stored, and answer calls of theirs in full again.

        Raises:
            OSError: they cannot be written.
        """
        self._cache.forget(text.call_id for text in texts)
        for text, artifact in await asyncio.to_thread(self._stored, texts):
            self._emit(
                ToolArtifactCreated(
                    node_id, artifact.id, text.tool_name, str(artifact.path), artifact.size_bytes
                )
            )

    def _stored(self, texts: Iterable[AsideText]) -> list[tuple[AsideText, Artifact]]:
        return [
            (text, self._store.save(text.content, kind_of(text.tool_name), text.artifact_id))
            for text in texts
            if text.content is not None and self._store.find(text.artifact_id) is None
        ]

"""A chat of another day, as it is shown until somebody says something in it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject

from app.chat.transcript_feed import TranscriptFeed
from app.run_session import ShownRun
from engine.graph.workflow import Workflow
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView

_AT_ONCE = 200


class PastChat(ShownRun):
    """Its run is not on; a message takes it up."""

    is_replay = True

    def __init__(
        self,
        run_id: str,
        path: Path,
        workflow: Workflow,
        view: RunView,
        moment: float,
        parent: QObject,
    ) -> None:
        super().__init__(run_id, path, workflow, view, parent)
        self.moment = moment

    async def show(self, records: Sequence[EventRecord]) -> None:
        """Make the rows of everything that it told."""
        feed = TranscriptFeed(self.model, self.view, is_read_only=True, is_talk=True)
        for start in range(0, len(records), _AT_ONCE):
            feed.apply(records[start : start + _AT_ONCE])
            await asyncio.sleep(0)
        self.model.flush()

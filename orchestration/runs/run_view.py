"""The projection of one run: what the window and the report read, folded from the events.

One event costs the same at any size of the run. Readers take the collections as they are and
do not change them.
"""

from __future__ import annotations

from engine.vocabulary.events import EditBatchUndone, RunEvent
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.view_reducers import REDUCERS
from orchestration.runs.view_state import ViewState


class RunView(ViewState):
    """A run as its events tell it; see `ViewState` for what there is to read."""

    def apply(self, record: EventRecord) -> None:
        """Fold one record in."""
        self.project(record.event, record.time)

    def project(self, event: RunEvent, time: float) -> None:
        """Fold one event in; after the end nothing changes any more, but an edit may be undone."""
        if self.active or type(event) is EditBatchUndone:
            REDUCERS[type(event)](self, event, time)

"""The projection of one run: what the window and the report read, folded from the events.

One event costs the same at any size of the run. Readers take the collections as they are and
do not change them.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestration.runs.event_hub import EventRecord
from orchestration.runs.view_reducers import REDUCERS
from orchestration.runs.view_state import ViewState


class RunView(ViewState):
    """A run as its events tell it; see `ViewState` for what there is to read."""

    def __init__(
        self,
        run_id: str,
        workflow_id: str,
        labels: Mapping[str, str],
        *,
        plan_source: str | None = None,
    ) -> None:
        super().__init__(run_id, workflow_id, labels, plan_source=plan_source)
        self.last_seq = 0

    def apply(self, record: EventRecord) -> None:
        """Fold one event in; events that come after the end change nothing."""
        if self.active:
            self.last_seq = record.seq
            event = record.event
            REDUCERS[type(event)](self, event, record.time)

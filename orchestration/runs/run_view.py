"""The projection of one run: what the window and the report read, folded from the events.

One event costs the same at any size of the run. Readers take the collections as they are and
do not change them.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.vocabulary.events import EditBatchUndone, RunEvent
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.span_log import FOLDS, SpanLog
from orchestration.runs.spans import Span
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
        self._span_log = SpanLog(self.name, self.actors.owner)

    @property
    def spans(self) -> list[Span]:
        """The timeline: spans of nodes, with turns, tool calls and subagents inside them."""
        return self._span_log.roots

    def reopen(self, time: float) -> None:
        """The run goes on; what was cut off in the timeline ends where it was cut off."""
        super().reopen(time)
        self._span_log.cut()

    def apply(self, record: EventRecord) -> None:
        """Fold one record in."""
        self.project(record.event, record.time)

    def project(self, event: RunEvent, time: float) -> None:
        """Fold one event in; after the end nothing changes any more, but an edit may be undone."""
        if self.active or type(event) is EditBatchUndone:
            REDUCERS[type(event)](self, event, time)
            if type(event) in FOLDS:
                self._span_log.note(event, time)

"""New rows under the name of who speaks, and which row of each came last."""

from __future__ import annotations

from app.chat.rows import Row
from app.chat.transcript_model import TranscriptModel
from orchestration.runs.run_view import RunView


class RowMaker:
    """Adds rows of nodes, of their subagents, and of the run as a whole."""

    def __init__(self, model: TranscriptModel, view: RunView) -> None:
        self.model = model
        self.view = view
        self._last: dict[str, Row] = {}

    def add(
        self, kind: str, actor_id: str, time: float, text: str = "", *, head: Row | None = None
    ) -> Row:
        """A row of a node, or of a subagent; the latter stands among its node's rows."""
        name, owner = self.view.name(actor_id), self.view.actors.owner(actor_id)
        if owner is None:
            row = self.model.add(kind, actor_id, name, time, text, head=head)
        else:
            label = f"{self.view.name(owner)} / {name}"
            row = self.model.add(kind, owner, label, time, text, actor_id=actor_id, head=head)
        self._last[actor_id] = row
        return row

    def last(self, actor_id: str) -> Row | None:
        """The latest row of a node or a subagent."""
        return self._last.get(actor_id)

    def forget(self, row: Row) -> None:
        """The row was taken out again."""
        if self._last.get(row.actor_id) is row:
            del self._last[row.actor_id]

"""What a run and each of its nodes have used up: added up when somebody reads it."""

from __future__ import annotations

from collections.abc import Callable

from engine.vocabulary.events import UsageReported
from orchestration.runs.view_values import UsageTotals


class UsageBoard:
    """Usage reports, in order; a subagent's count to its node."""

    __slots__ = ("_by_node", "_pending", "_total", "note")

    def __init__(self) -> None:
        self._total = UsageTotals()
        self._by_node: dict[str, UsageTotals] = {}
        self._pending: list[UsageReported] = []
        self.note: Callable[[UsageReported], None] = self._pending.append
        """Remembers a report."""

    @property
    def total(self) -> UsageTotals:
        """What the whole run has used up."""
        self._catch_up()
        return self._total

    @property
    def by_node(self) -> dict[str, UsageTotals]:
        """What each node has used up with its subagents; one of which nobody said is absent."""
        self._catch_up()
        return self._by_node

    def _catch_up(self) -> None:
        for event in self._pending:
            self._total.add(event.usage)
            owner = event.parent_id or event.node_id
            known = self._by_node.get(owner)
            if known is None:
                known = self._by_node[owner] = UsageTotals()
            known.add(event.usage)
        self._pending.clear()

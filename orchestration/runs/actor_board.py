"""The subagents of a run as its events tell of them: whose they are, and how they stand."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from engine.vocabulary.events import SubagentSummary
from orchestration.runs.view_values import NodeStatus

_ENDED = frozenset(
    {NodeStatus.COMPLETED, NodeStatus.FAILED, NodeStatus.INTERRUPTED, NodeStatus.STOPPED}
)


def actor_id(node_id: str, subagent_id: str) -> str:
    """Under which id the events of a subagent at work come."""
    return f"{node_id}/{subagent_id}"


class ActorBoard:
    """Subagents by their nodes. Costs what the node has at work, however long the run is."""

    __slots__ = ("_at_work", "_owners", "by_node", "status")

    def __init__(self) -> None:
        self.by_node: dict[str, dict[str, SubagentSummary]] = {}
        self.status: dict[str, NodeStatus] = {}
        """How each subagent that was called stands, by the id of its actor."""
        self._owners: dict[str, tuple[str, str]] = {}
        self._at_work: dict[str, set[str]] = {}

    def owner(self, actor: str) -> str | None:
        """The node whose subagent this is; `None` for a node."""
        found = self._owners.get(actor)
        return found[0] if found is not None else None

    def name(self, actor: str) -> str:
        """The name of a subagent; what is no subagent is called by its id."""
        found = self._owners.get(actor)
        return self.by_node[found[0]][found[1]].name if found is not None else actor

    def actors_of(self, node_id: str) -> list[str]:
        """The actors of a node's subagents, in the order in which they were declared."""
        return [actor_id(node_id, each) for each in self.by_node.get(node_id, {})]

    def declare(self, node_id: str, summaries: Iterable[SubagentSummary]) -> None:
        """A node has these subagents."""
        known = self.by_node.setdefault(node_id, {})
        for summary in summaries:
            known[summary.id] = summary
            self._owners[actor_id(node_id, summary.id)] = (node_id, summary.id)

    def mark(self, node_id: str, subagent_id: str, status: str) -> None:
        """A subagent stands like this now; one that nobody declared is known by its id."""
        known = self.by_node.get(node_id, {}).get(subagent_id)
        if known is None:
            known = SubagentSummary(subagent_id, subagent_id, "", status)
        self.declare(node_id, [replace(known, status=status)])

    def set_status(self, actor: str, status: NodeStatus) -> None:
        """Change how a subagent's actor stands."""
        self.status[actor] = status
        at_work = self._at_work.setdefault(self._owners[actor][0], set())
        if status in _ENDED:
            at_work.discard(actor)
        else:
            at_work.add(actor)

    def standing(self, node_id: str) -> tuple[bool, bool]:
        """Whether any subagent of a node moves by itself, and whether any waits for a person."""
        states = [self.status[actor] for actor in self._at_work.get(node_id, ())]
        return any(state.is_busy for state in states), bool(states)

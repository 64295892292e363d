"""The part of the door that tells what can be steered in a run under way, and how it stands."""

from __future__ import annotations

from engine.vocabulary.spending import Allowance
from orchestration.history_door import HistoryDoor
from orchestration.runs.steered import NodeSettings, QueuedWord


class SteeringDoor(HistoryDoor):
    """What a person needs to see before they change it; reading costs nothing."""

    def queued_messages(self, run_id: str) -> tuple[QueuedWord, ...]:
        """Messages to nodes at work that have not been delivered, node by node."""
        return self._runs.get(run_id).queued_messages()

    def node_settings(self, run_id: str, node_id: str) -> NodeSettings:
        """What counts at a node's next model call.

        Raises:
            UnknownNode: the run has no such agent.
        """
        return self._runs.get(run_id).node_settings(node_id)

    def allowance(self, run_id: str, node_id: str = "") -> Allowance:
        """What a run, or one node of it, may use up, with what a person has added since."""
        return self._runs.get(run_id).allowance(node_id)

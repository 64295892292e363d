"""Drawing an edge, or taking an end of one elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QPointF, Qt

from app.canvas import commands
from app.canvas.document import WorkflowDocument
from app.canvas.geometry import in_port, out_port
from app.canvas.gesture import Gesture
from app.canvas.scene import WorkflowScene

End = Literal["source", "target"]
Offer = Callable[[QPointF, str, End], None]
"""Asks for a new node at a point; it becomes the given end of an edge with the given node."""


def refused_ends(
    document: WorkflowDocument, fixed: str, loose: End, edge_id: str = ""
) -> frozenset[str]:
    """The nodes that cannot be the loose end: a circle would close, or there is such an edge."""
    from engine.graph.edits import leads_to, reaches

    workflow = document.workflow
    if workflow is None:
        return frozenset(document.places)
    others = [edge for edge in workflow.edges if edge.id != edge_id]
    if loose == "target":
        taken = {edge.target for edge in others if edge.source == fixed}
        return reaches(others, fixed) | taken
    return leads_to(others, fixed) | {edge.source for edge in others if edge.target == fixed}


class ConnectGesture(Gesture):
    """Leads a loose end to a card. Cards that it cannot go to are dimmed, and do not take it."""

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        scene: WorkflowScene,
        document: WorkflowDocument,
        fixed: str,
        loose: End,
        offer: Offer,
        *,
        edge_id: str = "",
    ) -> None:
        """Begin.

        Args:
            scene: Where it is drawn.
            document: What is changed in the end.
            fixed: The node that stays.
            loose: Which end is led.
            offer: What to do when it is let go over the open ground.
            edge_id: The edge whose end is taken elsewhere; a new one without.
        """
        self._scene = scene
        self._document = document
        self._fixed = fixed
        self._loose = loose
        self._offer = offer
        self._edge_id = edge_id
        self._refused = refused_ends(document, fixed, loose, edge_id)
        scene.dim(self._refused - {fixed})
        scene.hide_edge(edge_id)

    def move(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Draw the edge to here, or to the port of the card that is here."""
        node_id = self._node_at(at)
        takes = bool(node_id) and node_id not in self._refused
        self._scene.mark_target(node_id if takes else "")
        places = self._document.places
        if self._loose == "target":
            start, end = out_port(*places[self._fixed]), at
            if takes:
                end = in_port(*places[node_id])
        else:
            start, end = at, in_port(*places[self._fixed])
            if takes:
                start = out_port(*places[node_id])
        self._scene.overlay.show_edge(start, end, is_refused=bool(node_id) and not takes)

    def finish(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """Connect to the card that is here; over the open ground, offer a new one."""
        node_id = self._node_at(at)
        self.cancel()
        if not node_id:
            if not self._edge_id:
                self._offer(at, self._fixed, self._loose)
        elif node_id not in self._refused:
            self.connect_to(node_id)

    def connect_to(self, node_id: str) -> None:
        """Make the step."""
        document = self._document
        if self._edge_id:
            ends = {self._loose: node_id}
            commands.reconnect(document, self._edge_id, **ends)
        elif self._loose == "target":
            commands.connect(document, self._fixed, node_id)
        else:
            commands.connect(document, node_id, self._fixed)

    def cancel(self) -> None:
        """Draw nothing any more."""
        self._scene.overlay.clear()
        self._scene.mark_target("")
        self._scene.dim(frozenset())
        self._scene.hide_edge("")

    def _node_at(self, at: QPointF) -> str:
        item = self._scene.card_at(at)
        return item.card.id if item is not None and item.card.id != self._fixed else ""

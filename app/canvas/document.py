"""The workflow that a window has open: what is drawn, where, and the model behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.canvas.auto_layout import Place, places
from app.canvas.graph_sketch import EMPTY_GRAPH, Card, Graph, Wire, drawable

if TYPE_CHECKING:
    from engine.graph.workflow import Node, Workflow


class WorkflowDocument(QObject):
    """The open workflow; views listen to it and never change it behind its back.

    Attributes:
        path: The file, or `None` where nothing is open.
        graph: What is drawn of it.
        places: Card id to top left corner, in scene units.
        workflow: The full model, or `None` until it has been read and checked.

    Signals:
        replaced: Another graph is to be drawn.
    """

    replaced = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path: Path | None = None
        self.graph: Graph = EMPTY_GRAPH
        self.places: dict[str, Place] = {}
        self.workflow: Workflow | None = None

    def show_sketch(self, path: Path, graph: Graph) -> None:
        """Show a graph whose full model is still to be read."""
        self.workflow = None
        self._show(path, graph)

    def show_workflow(self, path: Path, workflow: Workflow) -> None:
        """Show a workflow that was read and is well formed."""
        self.workflow = workflow
        graph = graph_of(workflow)
        if path != self.path or graph != self.graph:
            self._show(path, graph)

    def clear(self) -> None:
        """Show nothing."""
        self.workflow = None
        self._show(None, EMPTY_GRAPH)

    def label(self, node_id: str) -> str:
        """What a person calls the node; its id where it is not in this workflow."""
        card = self.card(node_id)
        return card.label if card else node_id

    def card(self, node_id: str) -> Card | None:
        """The card of a node, if there is one."""
        return next((card for card in self.graph.cards if card.id == node_id), None)

    def _show(self, path: Path | None, graph: Graph) -> None:
        self.path = path
        self.graph = graph
        self.places = places(graph)
        self.replaced.emit()


def graph_of(workflow: Workflow) -> Graph:
    """What is drawn of a workflow."""
    return drawable(
        workflow.id,
        workflow.name,
        (_card_of(node) for node in workflow.nodes),
        (Wire(edge.id, edge.source, edge.target) for edge in workflow.edges),
    )


def _card_of(node: Node) -> Card:
    return Card(
        id=node.id,
        label=node.label or node.id,
        kind=node.kind,
        model=node.agent.model if node.agent else "",
        x=node.position.x,
        y=node.position.y,
    )

"""A workflow as it was at one time, and the step from one such time to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtGui import QUndoCommand

from app.canvas.auto_layout import Place, places
from app.canvas.graph_sketch import EMPTY_GRAPH, Card, Graph, Wire, drawable

if TYPE_CHECKING:
    from engine.graph.workflow import Edge, Node, Workflow


class Snapshot(NamedTuple):
    """What is drawn, where, and the model behind it.

    `is_arranged`: the places were chosen here, since those of the file are of no use. Snapshots
    share what did not change between them, so each costs what is new.
    """

    graph: Graph
    places: Mapping[str, Place]
    workflow: Workflow | None
    cards: Mapping[str, Card]
    wires: Mapping[str, Wire]
    is_arranged: bool


def drawn(graph: Graph, workflow: Workflow | None) -> Snapshot:
    """A snapshot of a graph that is opened."""
    chosen = places(graph)
    return Snapshot(
        graph,
        chosen,
        workflow,
        {card.id: card for card in graph.cards},
        {wire.id: wire for wire in graph.wires},
        any((card.x, card.y) != chosen[card.id] for card in graph.cards),
    )


EMPTY = drawn(EMPTY_GRAPH, None)


def of_workflow(workflow: Workflow, before: Snapshot | None = None) -> Snapshot:
    """A snapshot of a workflow: opened, or changed from `before`.

    After a change cards stay where they were unless their own place was changed; a card that is
    new among arranged ones is put where it says.
    """
    graph = graph_of(workflow, before)
    if before is None:
        return drawn(graph, workflow)
    old = before.places
    spots: dict[str, Place] = {}
    for card in graph.cards:
        known = before.cards.get(card.id)
        moved = known is None or (card.x, card.y) != (known.x, known.y)
        spots[card.id] = (card.x or 0.0, card.y or 0.0) if moved else old[card.id]
    return Snapshot(
        graph,
        spots,
        workflow,
        {card.id: card for card in graph.cards},
        {wire.id: wire for wire in graph.wires},
        before.is_arranged and any((card.x, card.y) != spots[card.id] for card in graph.cards),
    )


class EditCommand(QUndoCommand):
    """One step of the undo list; to undo it is to go back to the very same workflow."""

    def __init__(
        self,
        text: str,
        become: Callable[[Snapshot], None],
        before: Snapshot,
        after: Snapshot,
        merge: str = "",
    ) -> None:
        super().__init__(text)
        self._become = become
        self._before = before
        self._after = after
        self._merge = merge

    def redo(self) -> None:
        """Do the step, for the first time or again."""
        self._become(self._after)

    def undo(self) -> None:
        """Go back to before the step."""
        self._become(self._before)

    def id(self) -> int:
        """Steps with an id of 1 may be merged."""
        return 1 if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take the next step into this one, if both are of the same typing."""
        if not isinstance(other, EditCommand) or other._merge != self._merge:
            return False
        self._after = other._after
        after, before = self._after.workflow, self._before.workflow
        self.setObsolete(after is not None and before is not None and same_workflow(after, before))
        return True


def same_workflow(a: Workflow, b: Workflow) -> bool:
    """Whether two workflows would be written alike; to Python 1, 1.0 and true are equal."""
    from engine.graph.document import document_of
    from engine.graph.json_text import same_json

    return a is b or (a == b and same_json(document_of(a), document_of(b)))


def graph_of(workflow: Workflow, before: Snapshot | None = None) -> Graph:
    """What is drawn of a workflow; the cards of unchanged nodes are used again."""
    if before is None or before.workflow is None:
        cards = tuple(map(_card_of, workflow.nodes))
        wires = tuple(map(_wire_of, workflow.edges))
        return drawable(workflow.id, workflow.name, cards, wires)
    old = before.workflow
    known = before.cards
    same = {id(node) for node in old.nodes}
    cards = tuple(
        [
            known[node.id] if id(node) in same and node.id in known else _card_of(node)
            for node in workflow.nodes
        ]
    )
    if workflow.edges is old.edges and len(workflow.nodes) == len(old.nodes):
        wires = before.graph.wires
    else:
        wires = tuple(map(_wire_of, workflow.edges))
    return drawable(workflow.id, workflow.name, cards, wires)


def _wire_of(edge: Edge) -> Wire:
    return Wire(edge.id, edge.source, edge.target)


def _card_of(node: Node) -> Card:
    return Card(
        id=node.id,
        label=node.label or node.id,
        kind=node.kind,
        model=node.agent.model if node.agent else "",
        x=node.position.x,
        y=node.position.y,
    )

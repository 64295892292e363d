"""What a person can do to a workflow on the canvas: each a step that can be undone.

Mouse, keys, menus and the palette all come here, so that a thing done one way is the same step as
the thing done another way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from app.canvas.auto_layout import Place, laid_out
from app.canvas.document import WorkflowDocument
from app.canvas.geometry import CARD_HEIGHT, CARD_WIDTH, GRID_STEP
from app.kit.formats import plural

if TYPE_CHECKING:
    from engine.graph.fragments import Fragment
    from engine.graph.workflow import Annotation, Node, Workflow

Side = Literal["left", "center", "right", "top", "middle", "bottom"]
Axis = Literal["across", "down"]

NEW_LABEL = "New agent"


def new_id() -> str:
    """An id that nothing else has."""
    return str(uuid4())


def snapped(value: float) -> float:
    """The nearest line of the grid."""
    return round(value / GRID_STEP) * GRID_STEP


def add_node(
    document: WorkflowDocument,
    at: Place,
    *,
    template: Node | None = None,
    after: str = "",
    before: str = "",
) -> str:
    """Add a node and, in the same step, connect it to one before or after it; give its id.

    Args:
        document: Where to.
        at: Its top left corner; it is put on the grid, and aside where a card lies there already.
        template: What it is like; a plain agent without one.
        after: Id of a node that leads to it.
        before: Id of a node that it leads to.
    """
    from engine.graph import edits
    from engine.graph.templates import new_agent_config
    from engine.graph.workflow import Edge, Node, Position

    node_id = new_id()
    x, y = _free_place(document.places.values(), at)
    place = Position(x=x, y=y)
    if template is None:
        label = _free_label(document, NEW_LABEL)
        node = Node(id=node_id, label=label, kind="agent", position=place, agent=new_agent_config())
    else:
        label = _free_label(document, template.label)
        node = template.model_copy(update={"id": node_id, "label": label, "position": place})

    def change(workflow: Workflow) -> Workflow:
        workflow = edits.add_node(_pinned(document, workflow), node)
        for source, target in ((after, node_id), (node_id, before)):
            if source and target:
                edge = Edge(id=new_id(), source=source, target=target)
                workflow = edits.connect(workflow, edge)
        return workflow

    document.edit(f"Add “{label}”", change)
    return node_id


def delete(
    document: WorkflowDocument,
    *,
    nodes: Collection[str] = (),
    edges: Collection[str] = (),
    annotations: Collection[str] = (),
) -> None:
    """Delete nodes with their edges, single edges, and notes, all in one step."""
    from engine.graph import edits

    def change(workflow: Workflow) -> Workflow:
        if annotations:
            workflow = edits.remove_annotations(workflow, annotations)
        if nodes:
            workflow = edits.remove_nodes(workflow, nodes)
        present = {edge.id for edge in workflow.edges}
        return edits.disconnect(workflow, [edge for edge in edges if edge in present])

    document.edit(_delete_text(document, nodes, edges, annotations), change)


def connect(document: WorkflowDocument, source: str, target: str) -> None:
    """Connect two nodes; nothing happens where they are connected.

    Raises:
        EditRefused: It would close a circle.
    """
    from engine.graph import edits
    from engine.graph.workflow import Edge

    edge = Edge(id=new_id(), source=source, target=target)
    text = f"Connect “{document.label(source)}” to “{document.label(target)}”"
    document.edit(text, lambda workflow: edits.connect(workflow, edge))


def reconnect(
    document: WorkflowDocument,
    edge_id: str,
    *,
    source: str | None = None,
    target: str | None = None,
) -> None:
    """Move an end of an edge to another node.

    Raises:
        EditRefused: It would close a circle or double an edge.
    """
    from engine.graph import edits

    document.edit(
        "Reconnect",
        lambda workflow: edits.reconnect(workflow, edge_id, source=source, target=target),
    )


def rename(document: WorkflowDocument, node_id: str, label: str) -> None:
    """Give a node another label; a blank one changes nothing."""
    from engine.graph import edits

    text = f"Rename “{document.label(node_id)}”"
    document.edit(text, lambda workflow: edits.rename_node(workflow, node_id, label))


def rename_workflow(document: WorkflowDocument, name: str) -> None:
    """Give the workflow another name; a blank one changes nothing."""
    from engine.graph import edits

    document.edit("Rename workflow", lambda workflow: edits.rename_workflow(workflow, name))


def move(
    document: WorkflowDocument,
    places: Mapping[str, Place],
    annotations: Mapping[str, Place] | None = None,
    *,
    text: str = "",
    merge: str = "",
) -> None:
    """Put cards and notes elsewhere.

    Where the places were chosen by the program, the step fixes all of them: the others would be
    laid out anew otherwise.
    """
    from engine.graph import edits
    from engine.graph.workflow import Position

    def change(workflow: Workflow) -> Workflow:
        workflow = _pinned(document, workflow)
        for note_id, (x, y) in (annotations or {}).items():
            workflow = edits.change_annotation(workflow, note_id, position=Position(x=x, y=y))
        spots = {key: Position(x=x, y=y) for key, (x, y) in places.items()}
        return edits.move_nodes(workflow, spots) if spots else workflow

    count = len(places) + len(annotations or {})
    document.edit(text or ("Move" if count == 1 else f"Move {count} items"), change, merge=merge)


def arrange(document: WorkflowDocument) -> None:
    """Lay the whole graph out from left to right."""
    move(document, laid_out(document.graph), text="Arrange")


def align(document: WorkflowDocument, node_ids: Collection[str], side: Side) -> None:
    """Line cards up along a side or a middle of what encloses them."""
    spots = {key: document.places[key] for key in node_ids if key in document.places}
    if len(spots) < 2:
        return
    xs, ys = [x for x, _ in spots.values()], [y for _, y in spots.values()]
    across = {"left": min(xs), "center": (min(xs) + max(xs)) / 2, "right": max(xs)}
    down = {"top": min(ys), "middle": (min(ys) + max(ys)) / 2, "bottom": max(ys)}
    moved = {key: (across.get(side, x), down.get(side, y)) for key, (x, y) in spots.items()}
    move(document, moved, text=f"Align {side}")


def distribute(document: WorkflowDocument, node_ids: Collection[str], axis: Axis) -> None:
    """Put equal gaps between three cards or more; the outer two stay."""
    spots = {key: document.places[key] for key in node_ids if key in document.places}
    if len(spots) < 3:
        return
    index = 0 if axis == "across" else 1
    order = sorted(spots, key=lambda key: (spots[key][index], key))
    first, last = spots[order[0]][index], spots[order[-1]][index]
    step = (last - first) / (len(order) - 1)
    moved: dict[str, Place] = {}
    for rank, key in enumerate(order):
        x, y = spots[key]
        value = first + step * rank
        moved[key] = (value, y) if axis == "across" else (x, value)
    move(document, moved, text=f"Distribute {axis}")


def paste(
    document: WorkflowDocument, fragment: Fragment, *, at: Place | None = None, text: str = "Paste"
) -> frozenset[str]:
    """Add the nodes of a fragment under new ids, with the edges between them; give the ids.

    `at` is where the top left corner of the whole goes; without it, it lies a little off where it
    was.
    """
    from engine.graph import fragments

    ids: frozenset[str] = frozenset()

    def change(workflow: Workflow) -> Workflow:
        nonlocal ids
        shown = fragment if at is None else fragments.moved_to(fragment, *at)
        offset = GRID_STEP * 2 if at is None else 0.0
        result = fragments.pasted(_pinned(document, workflow), shown, new_id, offset=offset)
        ids = frozenset(result.node_ids.values())
        return result.workflow

    document.edit(text, change)
    return ids


def duplicate(document: WorkflowDocument, node_ids: Collection[str]) -> frozenset[str]:
    """Paste nodes beside themselves; give the ids of the new ones."""
    from engine.graph import fragments

    workflow = document.workflow
    if workflow is None or not node_ids:
        return frozenset()
    pinned = _pinned(document, workflow)
    return paste(document, fragments.copied(pinned, node_ids), text="Duplicate")


def add_annotation(document: WorkflowDocument, annotation: Annotation) -> None:
    """Add a note or a frame."""
    from engine.graph import edits

    document.edit(
        f"Add {annotation.kind}", lambda workflow: edits.add_annotation(workflow, annotation)
    )


def _pinned(document: WorkflowDocument, workflow: Workflow) -> Workflow:
    """The workflow with every node where it is shown, if the places were chosen here."""
    if not document.is_arranged:
        return workflow
    from engine.graph import edits
    from engine.graph.workflow import Position

    spots = {key: Position(x=x, y=y) for key, (x, y) in document.places.items()}
    return edits.move_nodes(workflow, spots)


def _free_place(taken: Iterable[Place], wanted: Place) -> Place:
    """The wanted place on the grid, or the next one down to the right where no card begins."""
    spots = set(taken)
    x, y = snapped(wanted[0]), snapped(wanted[1])
    step = GRID_STEP * 2
    while any(abs(x - a) < CARD_WIDTH / 4 and abs(y - b) < CARD_HEIGHT / 4 for a, b in spots):
        x, y = x + step * 2, y + step
    return x, y


def _free_label(document: WorkflowDocument, label: str) -> str:
    taken = {card.label for card in document.graph.cards}
    number, free = 2, label
    while free in taken:
        free = f"{label} {number}"
        number += 1
    return free


def _delete_text(
    document: WorkflowDocument,
    nodes: Collection[str],
    edges: Collection[str],
    annotations: Collection[str],
) -> str:
    if len(nodes) == 1 and not annotations:
        return f"Delete “{document.label(next(iter(nodes)))}”"
    parts = [
        plural(len(found), word)
        for found, word in ((nodes, "node"), (annotations, "note"))
        if found
    ]
    if not parts:
        return "Delete connection" if len(edges) == 1 else f"Delete {len(edges)} connections"
    return "Delete " + " and ".join(parts)

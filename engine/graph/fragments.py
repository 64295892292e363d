"""Parts of a workflow that are copied and pasted."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

from msgspec import Struct

from engine.graph.document import document_of
from engine.graph.serialization import WorkflowFormatError, workflow_from_document
from engine.graph.workflow import Edge, Node, Workflow

FRAGMENT_KEY = "openflowFragment"
FRAGMENT_VERSION = 1


class Fragment(Struct, frozen=True):
    """Nodes and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


class Pasted(Struct, frozen=True):
    """A workflow with a fragment pasted into it, and the new ids by the old ones."""

    workflow: Workflow
    node_ids: dict[str, str]


def copied(workflow: Workflow, node_ids: Collection[str]) -> Fragment:
    """The nodes with these ids, in the order of the workflow, and the edges between them."""
    wanted = frozenset(node_ids)
    return Fragment(
        nodes=tuple(node for node in workflow.nodes if node.id in wanted),
        edges=tuple(e for e in workflow.edges if e.source in wanted and e.target in wanted),
    )


def moved_to(fragment: Fragment, x: float, y: float) -> Fragment:
    """The fragment with the top left corner of all its nodes at a point."""
    left = min((node.position.x for node in fragment.nodes), default=0.0)
    top = min((node.position.y for node in fragment.nodes), default=0.0)
    nodes = tuple(
        node.model_copy(
            update={
                "position": node.position.model_copy(
                    update={"x": node.position.x - left + x, "y": node.position.y - top + y}
                )
            }
        )
        for node in fragment.nodes
    )
    return Fragment(nodes=nodes, edges=fragment.edges)


def fragment_text(fragment: Fragment) -> str:
    """The fragment as readable JSON, for the clipboard."""
    document = {
        FRAGMENT_KEY: FRAGMENT_VERSION,
        "nodes": [document_of(node) for node in fragment.nodes],
        "edges": [document_of(edge) for edge in fragment.edges],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def read_fragment(text: str) -> Fragment | None:
    """The fragment that a clipboard's text holds; `None` if it is none, or a damaged one.

    A whole workflow file is taken for a fragment too. Edges to nodes outside are left out.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        return None
    whole = {"id": "fragment", "name": "", "edges": [], **document}
    whole.pop(FRAGMENT_KEY, None)
    try:
        workflow = workflow_from_document(whole)
    except WorkflowFormatError:
        return None
    return copied(workflow, {node.id for node in workflow.nodes})


def pasted(
    workflow: Workflow, fragment: Fragment, new_id: Callable[[], str], *, offset: float = 32.0
) -> Pasted:
    """Put a fragment into a workflow as new nodes, `offset` canvas units right and down.

    Every node and edge gets an id of its own: `new_id` is asked again while its answer is taken.
    """
    taken = {node.id for node in workflow.nodes} | {edge.id for edge in workflow.edges}

    def fresh_id() -> str:
        identifier = new_id()
        while identifier in taken:
            identifier = new_id()
        taken.add(identifier)
        return identifier

    ids = {node.id: fresh_id() for node in fragment.nodes}
    nodes = [
        node.model_copy(
            update={
                "id": ids[node.id],
                "position": node.position.model_copy(
                    update={"x": node.position.x + offset, "y": node.position.y + offset}
                ),
            }
        )
        for node in fragment.nodes
    ]
    edges = [
        edge.model_copy(
            update={"id": fresh_id(), "source": ids[edge.source], "target": ids[edge.target]}
        )
        for edge in fragment.edges
    ]
    changed = workflow.model_copy(
        update={"nodes": (*workflow.nodes, *nodes), "edges": (*workflow.edges, *edges)}
    )
    return Pasted(workflow=changed, node_ids=ids)

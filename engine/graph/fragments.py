"""Parts of a workflow that are copied and pasted."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct

from engine.graph.workflow import Edge, Node, Workflow


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

"""Who comes before whom: layers, parents and ancestors."""

from __future__ import annotations

from collections.abc import Mapping

from engine.graph.workflow import Workflow
from engine.vocabulary.errors import EngineError


class WorkflowCycle(EngineError):
    """The edges run in a circle, so there is no order; `node_ids` are those on it."""

    def __init__(self, node_ids: tuple[str, ...]) -> None:
        self.node_ids = node_ids
        super().__init__(f"the edges run in a circle: {cycle_text(node_ids)}")


def cycle_text(node_ids: tuple[str, ...]) -> str:
    """The ids along a cycle back to the first one, at most eight of them."""
    left_out = ("…",) if len(node_ids) > 8 else ()
    return " → ".join((*node_ids[:8], *left_out, node_ids[0]))


def execution_layers(workflow: Workflow) -> tuple[tuple[str, ...], ...]:
    """Node ids layer by layer, each layer sorted; all parents of a node lie in earlier layers.

    Layers order and arrange nodes; they are no barrier. Edges without an end are left out.

    Raises:
        WorkflowCycle: if the edges run in a circle.
    """
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_nodes_from(node.id for node in workflow.nodes)
    graph.add_edges_from(
        (edge.source, edge.target)
        for edge in workflow.edges
        if edge.source in graph and edge.target in graph
    )
    try:
        return tuple(tuple(sorted(layer)) for layer in networkx.topological_generations(graph))
    except networkx.NetworkXUnfeasible:
        cycles = find_cycles(workflow)
        raise WorkflowCycle(cycles[0]) from None


def find_cycles(workflow: Workflow) -> tuple[tuple[str, ...], ...]:
    """One cycle for each knot of nodes that reach each other, each from its smallest id on.

    Takes time linear in nodes and edges, and imports nothing while there is no cycle.
    """
    children = _children_on_cycles(workflow)
    if not children:
        return ()
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph(children)
    found = []
    for knot in networkx.strongly_connected_components(graph):
        part = graph.subgraph(knot)
        if len(knot) > 1 or part.number_of_edges():
            ids = [source for source, _ in networkx.find_cycle(part, min(knot))]
            first = ids.index(min(ids))
            found.append((*ids[first:], *ids[:first]))
    return tuple(sorted(found))


def _children_on_cycles(workflow: Workflow) -> dict[str, list[str]]:
    """The graph without everything that can be ordered: empty if there is no cycle."""
    children: dict[str, list[str]] = {node.id: [] for node in workflow.nodes}
    waiting = dict.fromkeys(children, 0)
    for edge in workflow.edges:
        if edge.source in children and edge.target in children:
            children[edge.source].append(edge.target)
            waiting[edge.target] += 1
    ready = [node_id for node_id, count in waiting.items() if count == 0]
    while ready:
        for child in children.pop(ready.pop()):
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    return children


def parents_by_node(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    """The direct parents of every node, sorted, each once."""
    parents: dict[str, list[str]] = {node.id: [] for node in workflow.nodes}
    for edge in workflow.edges:
        if edge.source in parents and edge.target in parents:
            parents[edge.target].append(edge.source)
    return {
        node_id: tuple(ids) if len(ids) < 2 else tuple(sorted(set(ids)))
        for node_id, ids in parents.items()
    }


def ancestors(node_id: str, parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Everything from which the node can be reached, sorted, itself not included."""
    found: set[str] = set()
    waiting = list(parents.get(node_id, ()))
    while waiting:
        ancestor = waiting.pop()
        if ancestor not in found:
            found.add(ancestor)
            waiting.extend(parents.get(ancestor, ()))
    found.discard(node_id)
    return tuple(sorted(found))

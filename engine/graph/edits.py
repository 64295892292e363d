"""Changes of a workflow: each takes a workflow and gives another one.

What was not changed is shared with the old workflow, so to undo is to go back to it, edges of a
removed node included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from engine.graph.node_config import AgentNodeConfig
from engine.graph.workflow import Annotation, Edge, Node, Position, Workflow
from engine.vocabulary.errors import EngineError


class EditRefused(EngineError):
    """A change that would make the workflow wrong; nothing was changed."""


class UnknownEdge(EngineError):
    """There is no edge with this id in the workflow."""

    def __init__(self, edge_id: str) -> None:
        self.edge_id = edge_id
        super().__init__(f"there is no edge '{edge_id}' in this workflow")


def rename_workflow(workflow: Workflow, name: str) -> Workflow:
    """Give the workflow another name; a blank one is no name and changes nothing."""
    return workflow.model_copy(update={"name": name.strip()}) if name.strip() else workflow


def with_workflow_id(workflow: Workflow, workflow_id: str) -> Workflow:
    """The same workflow under another id, such as one that is imported a second time."""
    return workflow.model_copy(update={"id": workflow_id})


def change_settings(workflow: Workflow, **settings: Any) -> Workflow:
    """Change settings of the workflow.

    Raises:
        pydantic.ValidationError: if one of them does not fit.
    """
    return workflow.model_copy(update={"settings": workflow.settings.model_copy(update=settings)})


def add_node(workflow: Workflow, node: Node) -> Workflow:
    """Add a node.

    Raises:
        EditRefused: if its id is taken.
    """
    if any(other.id == node.id for other in workflow.nodes):
        raise EditRefused(f"there already is a node '{node.id}': give the new one another id")
    return workflow.model_copy(update={"nodes": (*workflow.nodes, node)})


def remove_nodes(workflow: Workflow, node_ids: Collection[str]) -> Workflow:
    """Remove nodes and every edge that leads to or from one of them.

    Raises:
        UnknownNode: if one of them is not there.
    """
    gone = frozenset(node_ids)
    for node_id in gone:
        workflow.node(node_id)
    return workflow.model_copy(
        update={
            "nodes": tuple(node for node in workflow.nodes if node.id not in gone),
            "edges": tuple(
                edge
                for edge in workflow.edges
                if edge.source not in gone and edge.target not in gone
            ),
        }
    )


def rename_node(workflow: Workflow, node_id: str, label: str) -> Workflow:
    """Give a node another label; a blank one is no label and changes nothing.

    Raises:
        UnknownNode: if the node is not there.
    """
    node = workflow.node(node_id)
    if not label.strip():
        return workflow
    return replace_node(workflow, node.model_copy(update={"label": label.strip()}))


def move_nodes(workflow: Workflow, positions: Mapping[str, Position]) -> Workflow:
    """Put nodes elsewhere.

    Raises:
        UnknownNode: if one of them is not there.
    """
    moved = {}
    for node_id, position in positions.items():
        node = workflow.node(node_id)
        place = node.position.model_copy(update={"x": position.x, "y": position.y})
        moved[node_id] = node.model_copy(update={"position": place})
    nodes = tuple(moved.get(node.id, node) for node in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def replace_config(workflow: Workflow, node_id: str, config: AgentNodeConfig) -> Workflow:
    """Give a node other settings altogether.

    Raises:
        UnknownNode: if the node is not there.
    """
    return replace_node(workflow, workflow.node(node_id).model_copy(update={"agent": config}))


def change_config(workflow: Workflow, node_id: str, **settings: Any) -> Workflow:
    """Change some settings of a node.

    Raises:
        UnknownNode: if the node is not there.
        EditRefused: if the node is of a kind that has no such settings.
        pydantic.ValidationError: if one of them does not fit.
    """
    agent = workflow.node(node_id).agent
    if agent is None:
        raise EditRefused(f"node '{node_id}' is no agent and has no such settings")
    return replace_config(workflow, node_id, agent.model_copy(update=settings))


def replace_node(workflow: Workflow, node: Node) -> Workflow:
    """Put a node in the place of the one with the same id.

    Raises:
        UnknownNode: if there is none.
    """
    workflow.node(node.id)
    nodes = tuple(node if other.id == node.id else other for other in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def connect(workflow: Workflow, edge: Edge) -> Workflow:
    """Add an edge; where the two nodes are connected already, nothing changes.

    Raises:
        UnknownNode: if one of its ends is not there.
        EditRefused: if it leads to where it comes from, would close a circle, or its id is taken.
    """
    workflow.node(edge.source)
    workflow.node(edge.target)
    if any((one.source, one.target) == (edge.source, edge.target) for one in workflow.edges):
        return workflow
    if any(other.id == edge.id for other in workflow.edges):
        raise EditRefused(f"there already is an edge '{edge.id}': give the new one another id")
    _refuse_circles(workflow.edges, edge)
    return workflow.model_copy(update={"edges": (*workflow.edges, edge)})


def reconnect(
    workflow: Workflow, edge_id: str, *, source: str | None = None, target: str | None = None
) -> Workflow:
    """Move one or both ends of an edge.

    Raises:
        UnknownEdge: if the edge is not there.
        UnknownNode: if one of its new ends is not there.
        EditRefused: if it would lead to where it comes from, close a circle, or double an edge.
    """
    edge = next((edge for edge in workflow.edges if edge.id == edge_id), None)
    if edge is None:
        raise UnknownEdge(edge_id)
    changes = {"source": source or edge.source, "target": target or edge.target}
    moved = edge.model_copy(update=changes)
    for node_id in changes.values():
        workflow.node(node_id)
    others = tuple(other for other in workflow.edges if other.id != edge_id)
    if any((other.source, other.target) == (moved.source, moved.target) for other in others):
        raise EditRefused(f"'{moved.source}' and '{moved.target}' are connected already")
    _refuse_circles(others, moved)
    edges = tuple(moved if other.id == edge_id else other for other in workflow.edges)
    return workflow.model_copy(update={"edges": edges})


def disconnect(workflow: Workflow, edge_ids: Collection[str]) -> Workflow:
    """Remove edges.

    Raises:
        UnknownEdge: if one of them is not there.
    """
    gone = frozenset(edge_ids)
    present = {edge.id for edge in workflow.edges}
    for edge_id in gone - present:
        raise UnknownEdge(edge_id)
    edges = tuple(edge for edge in workflow.edges if edge.id not in gone)
    return workflow.model_copy(update={"edges": edges})


def reaches(edges: Iterable[Edge], start: str) -> frozenset[str]:
    """The nodes that lead to `start`, and itself: an edge to one of them closes a circle."""
    return _connected(((edge.target, edge.source) for edge in edges), start)


def leads_to(edges: Iterable[Edge], start: str) -> frozenset[str]:
    """The nodes that `start` leads to, and itself: an edge from one of them closes a circle."""
    return _connected(((edge.source, edge.target) for edge in edges), start)


def _connected(steps: Iterable[tuple[str, str]], start: str) -> frozenset[str]:
    following: dict[str, list[str]] = {}
    for here, there in steps:
        following.setdefault(here, []).append(there)
    seen, waiting = {start}, [start]
    while waiting:
        for node_id in following.get(waiting.pop(), ()):
            if node_id not in seen:
                seen.add(node_id)
                waiting.append(node_id)
    return frozenset(seen)


def add_annotation(workflow: Workflow, annotation: Annotation) -> Workflow:
    """Add a note or a frame.

    Raises:
        EditRefused: if its id is taken.
    """
    if any(other.id == annotation.id for other in workflow.annotations):
        raise EditRefused(f"there already is a note '{annotation.id}': give it another id")
    return workflow.model_copy(update={"annotations": (*workflow.annotations, annotation)})


def change_annotation(workflow: Workflow, annotation_id: str, **changes: Any) -> Workflow:
    """Change text, place, size or colour of a note or frame; an unknown one changes nothing.

    Raises:
        pydantic.ValidationError: if a value does not fit.
    """
    return workflow.model_copy(
        update={
            "annotations": tuple(
                other.model_copy(update=changes) if other.id == annotation_id else other
                for other in workflow.annotations
            )
        }
    )


def remove_annotations(workflow: Workflow, annotation_ids: Collection[str]) -> Workflow:
    """Remove notes and frames; those that are not there are no error."""
    gone = frozenset(annotation_ids)
    kept = tuple(other for other in workflow.annotations if other.id not in gone)
    return workflow.model_copy(update={"annotations": kept})


def _refuse_circles(edges: tuple[Edge, ...], new: Edge) -> None:
    if new.source == new.target:
        raise EditRefused(f"node '{new.source}' cannot be connected to itself")
    if new.source in leads_to(edges, new.target):
        raise EditRefused(
            f"'{new.target}' already leads to '{new.source}': this connection would close a circle"
        )

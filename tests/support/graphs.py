"""Workflows for tests, with as little to write as possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.graph.node_config import AgentNodeConfig
from engine.graph.workflow import Edge, Node, Position, Workflow, WorkflowSettings

SUMMARY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}


def agent_node(node_id: str, **config: Any) -> Node:
    """An agent node; `config` replaces settings of the agent."""
    settings = {
        "system_prompt": "",
        "task_prompt": f"Do the part of {node_id}.",
        "model": "test-model",
        "output_schema": SUMMARY_SCHEMA,
        **config,
    }
    return Node(
        id=node_id,
        label=node_id.capitalize(),
        kind="agent",
        position=Position(x=0.0, y=0.0),
        agent=AgentNodeConfig(**settings),
    )


def graph(
    nodes: Iterable[str | Node],
    edges: Iterable[tuple[str, str]] = (),
    settings: WorkflowSettings | None = None,
) -> Workflow:
    """A workflow of agent nodes; the edge from `a` to `b` has the id `a-b`."""
    return Workflow(
        id="wf",
        name="Test workflow",
        nodes=tuple(agent_node(node) if isinstance(node, str) else node for node in nodes),
        edges=tuple(Edge(id=f"{a}-{b}", source=a, target=b) for a, b in edges),
        settings=settings or WorkflowSettings(),
    )


def diamond() -> Workflow:
    """One root, two branches, one join."""
    return graph("sabj", [("s", "a"), ("s", "b"), ("a", "j"), ("b", "j")])

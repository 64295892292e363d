"""Nodes and workflows to assemble contexts of."""

from __future__ import annotations

from typing import Any

from engine.graph.node_config import (
    AgentNodeConfig,
)
from engine.graph.workflow import Edge, Node, Position, Workflow, WorkflowSettings

PROMPT = "You are careful."


def node(node_id: str = "a", **changes: Any) -> Node:
    agent = {"system_prompt": PROMPT, "task_prompt": "Work.", "output_schema": {}, **changes}
    return Node(
        id=node_id,
        label=node_id.upper(),
        kind="agent",
        position=Position(x=0.0, y=0.0),
        agent=AgentNodeConfig(**agent),
    )


def workflow(*nodes: Node, edges: tuple[str, ...] = (), **settings: Any) -> Workflow:
    return Workflow(
        id="w",
        name="W",
        nodes=nodes,
        edges=tuple(
            Edge(id=f"e{at}", source=pair[0], target=pair[-1]) for at, pair in enumerate(edges)
        ),
        settings=WorkflowSettings(**settings),
    )

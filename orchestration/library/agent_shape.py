"""Saved agents from nodes, and nodes from saved agents."""

from __future__ import annotations

from uuid import uuid4

from engine.graph.agents import CallableAgent
from engine.graph.handoff import DEFAULT_OUTPUT_SCHEMA
from engine.graph.node_config import AgentNodeConfig
from engine.graph.templates import new_agent_config
from engine.graph.workflow import AGENT_KIND, Node, Position

_SHARED = ("system_prompt", "task_prompt", "model", "output_schema", "handoff", "tools")


def agent_from(label: str, config: AgentNodeConfig) -> CallableAgent:
    """A saved agent with the settings of a node that an agent can have, under an id of its own."""
    return CallableAgent.model_validate(
        {"id": str(uuid4()), "name": label} | {name: getattr(config, name) for name in _SHARED}
    )


def agent_like(agent: CallableAgent, label: str, config: AgentNodeConfig) -> CallableAgent:
    """The same agent with the name and the settings of a node that was made from it."""
    settings = {name: getattr(config, name) for name in _SHARED}
    return agent.model_copy(update={"name": label, **settings})


def node_from(agent: CallableAgent) -> Node:
    """A node that does what the agent does; it is a copy, and changes of the agent leave it alone.

    Its id and place are for whoever puts it into a workflow to choose.
    """
    config = new_agent_config().model_copy(update={name: getattr(agent, name) for name in _SHARED})
    return Node(
        id="new", label=agent.name, kind=AGENT_KIND, position=Position(x=0, y=0), agent=config
    )


def new_agent(name: str) -> CallableAgent:
    """An agent that a person is about to fill in."""
    return agent_from(name, new_agent_config()).model_copy(
        update={"output_schema": DEFAULT_OUTPUT_SCHEMA}
    )

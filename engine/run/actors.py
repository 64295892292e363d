"""Who works in a run: its nodes, and the subagents that they call; each with what is fixed."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from engine.graph.agents import CallableAgent
from engine.graph.handoff import (
    DEFAULT_OUTPUT_SCHEMA,
    effective_output_schema,
    submission_schema,
)
from engine.graph.node_config import AgentNodeConfig, LegacyHandoff, NodeToolConfig
from engine.graph.workflow import Node, Position, Workflow
from engine.run.state import Delegation, NodeState, Subagent
from engine.run.subagent_tools import ad_hoc_prompt
from engine.vocabulary.tools import ApprovalMode, JsonObject, ToolConfig

_BY_STRICTNESS = (
    ApprovalMode.READ_ONLY,
    ApprovalMode.ALWAYS_ASK,
    ApprovalMode.WRITE,
    ApprovalMode.YOLO,
)


class NodeFacts(Struct, frozen=True, gc=False):
    """What the workflow says about a node, or a declaration about a subagent; it never changes.

    `caller_id` is the node of a subagent, `None` for a node; an empty model of a subagent means its
    caller's.
    """

    id: str
    label: str
    node: Node
    agent: AgentNodeConfig
    submission_schema: JsonObject
    tool_config: ToolConfig
    parents: tuple[str, ...]
    children: tuple[str, ...]
    caller_id: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """The ids that lead from the node to the actor."""
        if self.caller_id is None:
            return (self.id,)
        return self.caller_id, self.id.removeprefix(actor_id_of(self.caller_id, ""))


def facts_of(workflow: Workflow, parents: Mapping[str, tuple[str, ...]]) -> dict[str, NodeFacts]:
    """The agent nodes of a workflow in id order with their parents and children, both sorted."""
    children: dict[str, list[str]] = {node_id: [] for node_id in parents}
    for node_id in sorted(parents):
        for parent in parents[node_id]:
            children[parent].append(node_id)
    default_config = ToolConfig()
    facts: dict[str, NodeFacts] = {}
    for node in sorted(workflow.nodes, key=lambda node: node.id):
        agent = node.agent
        if agent is None:
            raise ValueError(f"node '{node.id}' has no agent and cannot run")
        config = agent.tools.effective()
        facts[node.id] = NodeFacts(
            node.id,
            node.label,
            node,
            agent,
            submission_schema(agent),
            default_config if config == default_config else config,
            parents[node.id],
            tuple(children[node.id]),
        )
    return facts


def actor_id_of(node_id: str, subagent_id: str) -> str:
    """How a subagent at work is called among the actors of a run."""
    return f"{node_id}/{subagent_id}"


def conversation_id_of(actor: NodeState) -> str:
    """The name of the transcript that the actor works on now."""
    delegation = actor.delegation
    return actor.id if delegation is None else f"{actor.id}#{delegation.serial}"


def subagent_facts(
    caller: NodeFacts,
    subagent: Subagent,
    saved: CallableAgent | None,
    delegation: Delegation,
) -> NodeFacts:
    """What a subagent works with: a saved agent's settings, or its caller's where it is ad hoc."""
    if saved is None:
        prompt, model = ad_hoc_prompt(subagent.name, subagent.purpose), ""
        # Its approval mode is its caller's, which may be patched: it has no limit of its own.
        schema, tools = DEFAULT_OUTPUT_SCHEMA, NodeToolConfig(approval_mode=ApprovalMode.YOLO)
    else:
        prompt, model = saved.system_prompt, saved.model.strip()
        schema, tools = effective_output_schema(saved.output_schema), saved.tools
    agent = AgentNodeConfig(
        system_prompt=prompt,
        task_prompt=delegation.task,
        model=model,
        output_schema=schema,
        handoff=LegacyHandoff(),
        tools=tools,
        provider_id=caller.agent.provider_id,
    )
    actor_id = actor_id_of(caller.id, subagent.id)
    return NodeFacts(
        actor_id,
        subagent.name,
        Node(
            id=actor_id,
            label=subagent.name,
            kind="agent",
            position=Position(x=0.0, y=0.0),
            agent=agent,
        ),
        agent,
        schema,
        agent.tools.effective(),
        (),
        (),
        caller.id,
    )


def stricter(one: ApprovalMode, other: ApprovalMode) -> ApprovalMode:
    """The mode of the two that lets less happen unasked."""
    return min(one, other, key=_BY_STRICTNESS.index)

"""Saved agents that nodes may call, and which of them a run takes with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.graph.document import document_of
from engine.graph.file_model import FileModel
from engine.graph.node_config import AgentNodeConfig, Flag, HandoffSpec, JsonHandoff, NodeToolConfig
from engine.graph.workflow import Workflow
from engine.vocabulary.tools import JsonObject

FALLBACK_PURPOSE = "Saved agent"


class CallableAgent(FileModel):
    """An agent that is saved apart from any workflow."""

    id: str
    name: str
    system_prompt: str = ""
    task_prompt: str = ""
    model: str = ""
    output_schema: Any
    handoff: HandoffSpec = JsonHandoff()
    auto_start: Flag = False
    tools: NodeToolConfig = NodeToolConfig()

    @property
    def purpose(self) -> str:
        """What it is for, in one line: the first line of its task prompt."""
        lines = self.task_prompt.strip().splitlines()
        return lines[0].strip() if lines else FALLBACK_PURPOSE

    def document(self) -> JsonObject:
        """The agent as a JSON object; see `engine.graph.document`."""
        return document_of(self)


def snapshot_agents(workflow: Workflow, saved: Iterable[CallableAgent]) -> dict[str, CallableAgent]:
    """The saved agents that a run of the workflow may call, by id.

    All of them if any node may call all, else those that a node names. Agents with a blank id
    and names of agents that are not there are left out.
    """
    configs = [node.agent for node in workflow.nodes if node.agent is not None]
    by_id = {agent.id: agent for agent in saved if agent.id.strip()}
    if any(config.allow_all_callable_agents for config in configs):
        return by_id
    named = {agent_id for config in configs for agent_id in config.callable_agents}
    return {agent_id: agent for agent_id, agent in by_id.items() if agent_id in named}


def callable_by(
    config: AgentNodeConfig, snapshot: Mapping[str, CallableAgent]
) -> tuple[CallableAgent, ...]:
    """The agents of the snapshot that one node may call: all, or those it names, in its order."""
    if config.allow_all_callable_agents:
        return tuple(snapshot.values())
    named = dict.fromkeys(config.callable_agents)
    return tuple(snapshot[agent_id] for agent_id in named if agent_id in snapshot)

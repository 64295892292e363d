"""The saved agents that a run takes with it: frozen when it begins, and checked before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from engine.graph.agents import CallableAgent, callable_by, snapshot_agents
from engine.graph.handoff import effective_output_schema
from engine.graph.problems import Problem
from engine.graph.schema_check import schema_error
from engine.graph.workflow import Workflow
from orchestration.runs.requests import RunOverrides


def frozen_agents(
    workflow: Workflow, saved: Iterable[CallableAgent], overrides: RunOverrides
) -> dict[str, CallableAgent]:
    """The agents that the run may call, by id; later changes of the saved ones do not reach it.

    An agent's own model was chosen for a provider; where the run has another one, or a model for
    every node, the agent has its caller's.
    """
    found = snapshot_agents(workflow, saved)
    if not (overrides.provider or overrides.base_url or overrides.model):
        return found
    return {
        agent_id: agent.model_copy(update={"model": ""}) if agent.model else agent
        for agent_id, agent in found.items()
    }


def agent_problems(workflow: Workflow, agents: Mapping[str, CallableAgent]) -> Iterator[Problem]:
    """What keeps agents from answering, each told once, at the first node that may call it."""
    told: set[str] = set()
    for node in workflow.nodes:
        for agent in callable_by(node.agent, agents) if node.agent is not None else ():
            if agent.id in told:
                continue
            told.add(agent.id)
            if detail := schema_error(effective_output_schema(agent.output_schema)):
                yield Problem(
                    "invalid_output_schema",
                    f"the output schema of the saved agent '{agent.id}', which node '{node.id}' "
                    f"may call, cannot be used: {detail}",
                    node.id,
                    field="callable_agents",
                )


def missing_agents(workflow: Workflow, agents: Mapping[str, CallableAgent]) -> Iterator[str]:
    """Sentences about agents that a node names and that are not saved here."""
    for node in workflow.nodes:
        named = node.agent.callable_agents if node.agent is not None else ()
        for agent_id in dict.fromkeys(named):
            if agent_id.strip() and agent_id not in agents:
                yield (
                    f"node '{node.id}' names the saved agent '{agent_id}', "
                    "which is not saved here; it runs without it"
                )

"""The skills that the prompts of a run call: looked up once, when it begins, and recorded in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.graph.agents import CallableAgent
from engine.graph.problems import Problem
from engine.graph.skills import Skill, called, with_skills
from engine.graph.workflow import Node, Workflow
from orchestration.library.skills import find_skills, skill_roots


def skills_at_hand(
    workflow: Workflow,
    agents: Mapping[str, CallableAgent],
    env: Mapping[str, str],
    data_dir: Path,
    cwd: Path | None,
) -> dict[str, Skill]:
    """Every skill by its id, or none where no prompt could call one; touches the disk."""
    prompts = [node.agent.task_prompt for node in workflow.nodes if node.agent is not None]
    prompts += [agent.task_prompt for agent in agents.values()]
    if not any("/" in prompt for prompt in prompts):
        return {}
    home = env.get("HOME") or env.get("USERPROFILE")
    return find_skills(skill_roots(Path(home) if home else data_dir, data_dir, cwd))


def skill_problems(
    workflow: Workflow, agents: Mapping[str, CallableAgent], skills: Mapping[str, Skill]
) -> Iterator[Problem]:
    """Name each skill that a prompt begins with and that there is not."""
    for node in workflow.nodes:
        if node.agent is not None:
            for missing in called(node.agent.task_prompt, skills).missing:
                yield Problem(
                    "skill_not_found",
                    f"the task of node '{node.id}' calls the skill '/{missing}', "
                    "which is not on this computer",
                    node.id,
                    field="task_prompt",
                )
    for agent in agents.values():
        for missing in called(agent.task_prompt, skills).missing:
            yield Problem(
                "skill_not_found",
                f"the task of the saved agent '{agent.id}' calls the skill '/{missing}', "
                "which is not on this computer",
            )


def workflow_with_skills(workflow: Workflow, skills: Mapping[str, Skill]) -> Workflow:
    """Add to each node's system prompt the skills that its task calls."""
    nodes = tuple(_node_with_skills(node, skills) for node in workflow.nodes)
    same = all(new is old for new, old in zip(nodes, workflow.nodes, strict=True))
    return workflow if same else workflow.model_copy(update={"nodes": nodes})


def agents_with_skills(
    agents: Mapping[str, CallableAgent], skills: Mapping[str, Skill]
) -> dict[str, CallableAgent]:
    """Add to each agent's system prompt the skills that its task calls."""
    return {
        agent_id: agent.model_copy(
            update={
                "system_prompt": with_skills(
                    agent.system_prompt, called(agent.task_prompt, skills).skills
                )
            }
        )
        for agent_id, agent in agents.items()
    }


def _node_with_skills(node: Node, skills: Mapping[str, Skill]) -> Node:
    agent = node.agent
    found = called(agent.task_prompt, skills).skills if agent is not None else ()
    if agent is None or not found:
        return node
    prompt = with_skills(agent.system_prompt, found)
    return node.model_copy(update={"agent": agent.model_copy(update={"system_prompt": prompt})})

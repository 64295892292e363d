from __future__ import annotations

import pytest

from engine.graph.agents import CallableAgent, callable_by, snapshot_agents
from engine.graph.node_config import AgentNodeConfig
from engine.graph.workflow import Workflow
from tests.support.graphs import agent_node, graph


def saved(agent_id: str, task_prompt: str = "") -> CallableAgent:
    return CallableAgent(
        id=agent_id, name=agent_id.upper(), task_prompt=task_prompt, output_schema={}
    )


SAVED = [saved("a"), saved("b"), saved(" "), saved("c")]


def config_of(workflow: Workflow) -> AgentNodeConfig:
    agent = workflow.nodes[0].agent
    assert agent is not None
    return agent


def test_only_agents_that_a_node_names_are_taken_along() -> None:
    workflow = graph(
        [
            agent_node("n", callable_agents=("b", "gone", "")),
            agent_node("m", callable_agents=("a", "b")),
        ]
    )
    snapshot = snapshot_agents(workflow, SAVED)
    assert sorted(snapshot) == ["a", "b"]
    assert snapshot["b"] is SAVED[1]
    assert [agent.id for agent in callable_by(config_of(workflow), snapshot)] == ["b"]


def test_all_agents_are_taken_along_if_one_node_may_call_all() -> None:
    workflow = graph([agent_node("n", allow_all_callable_agents=True), agent_node("m")])
    snapshot = snapshot_agents(workflow, SAVED)
    assert sorted(snapshot) == ["a", "b", "c"]
    assert len(callable_by(config_of(workflow), snapshot)) == 3


def test_a_node_that_names_nobody_calls_nobody() -> None:
    workflow = graph("n")
    assert snapshot_agents(workflow, SAVED) == {}
    assert callable_by(config_of(workflow), {"a": SAVED[0]}) == ()


@pytest.mark.parametrize(
    ("task_prompt", "purpose"),
    [
        ("Find bugs.\nThen stop.", "Find bugs."),
        ("\n   Find bugs.  \n", "Find bugs."),
        ("", "Saved agent"),
        (" \n ", "Saved agent"),
    ],
)
def test_the_purpose_is_the_first_line_of_the_task(task_prompt: str, purpose: str) -> None:
    assert saved("a", task_prompt).purpose == purpose


@pytest.mark.parametrize(
    ("camel", "snake", "value"),
    [
        ("systemPrompt", "system_prompt", "s"),
        ("taskPrompt", "task_prompt", "t"),
        ("outputSchema", "output_schema", {"type": "object"}),
        ("autoStart", "auto_start", True),
    ],
)
def test_both_spellings_of_a_saved_agent_are_read(camel: str, snake: str, value: object) -> None:
    base = {"id": "a", "name": "A", "outputSchema": None, "note": 1}
    base.pop(camel, None)
    read = [CallableAgent.from_document({**base, key: value}) for key in (camel, snake)]
    assert read[0] == read[1]
    assert getattr(read[0], snake) == value
    assert read[1].document() == {**base, snake: value}


def test_defaults_of_a_saved_agent() -> None:
    agent = CallableAgent.from_document({"id": "a", "name": "A", "output_schema": {}})
    assert (agent.system_prompt, agent.task_prompt, agent.model) == ("", "", "")
    assert agent.handoff.format == "json"
    assert agent.auto_start is False
    assert saved("a").document() == {
        "id": "a",
        "name": "A",
        "system_prompt": "",
        "task_prompt": "",
        "model": "",
        "output_schema": {},
        "handoff": {"format": "json"},
        "auto_start": False,
        "tools": {},
    }

"""Runs whose node `a` calls subagents, without an event loop."""

from __future__ import annotations

import json
from typing import Any

from engine.graph.agents import CallableAgent
from engine.graph.node_config import NodeToolConfig
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    ApprovalMode,
)
from tests.support.engine_driver import Reply, World, calls, done, workflow

READ = ("read", {"path": "x"})
WRITE = ("write", {"path": "x", "content": "1"})
HELPER = "a/a-subagent-1"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
COUNTER = CallableAgent(
    id="counter",
    name="Counter",
    system_prompt="You count.",
    task_prompt="Counts things.\nCarefully.",
    model="cheap",
    output_schema=SCHEMA,
)
CAREFUL = CallableAgent(
    id="careful",
    name="Careful",
    output_schema=SCHEMA,
    tools=NodeToolConfig(approval_mode=ApprovalMode.WRITE),
)


def declare(*names: str) -> tuple[str, dict[str, Any]]:
    return DECLARE_SUBAGENTS_TOOL, {
        "subagents": [{"name": name, "purpose": f"to be {name}"} for name in names]
    }


def ask(subagent_id: str, task: str = "Count.") -> tuple[str, dict[str, Any]]:
    return CALL_SUBAGENT_TOOL, {"subagent_id": subagent_id, "input": task}


def run(
    script: dict[str, list[Reply]] | None = None,
    *,
    mode: str = "yolo",
    agents: tuple[CallableAgent, ...] = (),
    nodes: dict[str, dict[str, Any]] | None = None,
    settings: dict[str, Any] | None = None,
    edges: tuple[tuple[str, str], ...] = (),
    **keys: Any,
) -> World:
    flow = workflow(
        edges,
        nodes=["a"],
        agents=nodes,
        settings=settings,
        defaults={"tools": {"approvalMode": mode}, "allowAllCallableAgents": bool(agents)},
    )
    return World(flow, script, agents={agent.id: agent for agent in agents}, **keys).start()


def with_helper(*replies: Reply, manual: bool = False, **keys: Any) -> World:
    """A run whose node has called one subagent of its own, which replies so."""
    script: dict[str, list[Reply]] = {
        "a": [calls(declare("Ann")), calls(ask("a-subagent-1")), done()],
        HELPER: list(replies),
    }
    world = run(script, manual=manual, **keys)
    if manual:
        world.reply("a", script["a"][0])
        world.reply("a", script["a"][1])
    return world


def answer(world: World) -> Any:
    """What the caller was told in the end, read as JSON."""
    return json.loads(world.results()[-1].content)


def answer_of(world: World, actor: str) -> str:
    return world.results(actor)[-1].content

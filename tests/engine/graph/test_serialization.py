from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from engine.graph.node_config import AgentNodeConfig, JsonHandoff, MarkdownHandoff
from engine.graph.serialization import dump_workflow, load_workflow, workflow_from_document
from engine.graph.workflow import Edge, Node, Position, Workflow, WorkflowSettings
from engine.vocabulary.errors import UnknownNode
from engine.vocabulary.tools import ApprovalMode
from tests.support.graphs import agent_node, diamond, graph

FILE = """\
{
  "id": "tea",
  "name": "Tea round",
  "vendor": { "rank": 1.50 },
  "nodes": [
    {
      "id": "ask",
      "label": "Ask",
      "kind": "Agent",
      "position": { "x": 80.0, "y": 120, "z": 7 },
      "agent": {
        "system_prompt": "You make tea.",
        "task_prompt": "Which tea?",
        "temperature": 0.20,
        "tools": { "approvalMode": "write", "maxCalls": 3 },
        "output_schema": { "type": "object", "properties": { "tea": { "type": "string" } } }
      }
    },
    {
      "id": "wait",
      "kind": "timer",
      "seconds": 180,
      "agent": "none"
    }
  ],
  "edges": [
    { "id": "e1", "from": "ask", "to": "wait", "colour": "green" }
  ],
  "settings": { "maxConcurrentAiCalls": 4, "retry_policy": { "max_attempts": 0, "jitter": true } }
}
"""


def with_node(workflow: Workflow, node: Node) -> Workflow:
    nodes = tuple(node if old.id == node.id else old for old in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def with_agent(workflow: Workflow, node_id: str, **changes: Any) -> Workflow:
    node = workflow.node(node_id)
    assert node.agent is not None
    agent = node.agent.model_copy(update=changes)
    return with_node(workflow, node.model_copy(update={"agent": agent}))


def agent_of(workflow: Workflow, node_id: str) -> AgentNodeConfig:
    agent = workflow.node(node_id).agent
    assert agent is not None
    return agent


def test_what_a_file_says_is_in_the_model() -> None:
    workflow = load_workflow(FILE)
    assert (workflow.id, workflow.name) == ("tea", "Tea round")
    assert workflow.node("ask").kind == "agent"
    assert workflow.node("ask").position == load_workflow(FILE).nodes[0].position
    assert (workflow.node("ask").position.x, workflow.node("ask").position.y) == (80.0, 120.0)
    assert (workflow.edges[0].source, workflow.edges[0].target) == ("ask", "wait")
    assert workflow.settings.retry_policy.max_attempts == 0
    assert workflow.settings.retry_policy.backoff_ms == 1000
    with pytest.raises(UnknownNode, match="gone"):
        workflow.node("gone")


def test_missing_keys_have_their_defaults() -> None:
    workflow = load_workflow(FILE)
    agent = agent_of(workflow, "ask")
    assert agent.model_dump(exclude={"system_prompt", "task_prompt", "output_schema", "tools"}) == {
        "model": "",
        "handoff": {"format": "json"},
        "auto_start": True,
        "callable_agents": (),
        "allow_all_callable_agents": False,
        "reasoning_effort": None,
        "reasoning_budget_tokens": None,
        "provider_id": None,
        "request_user_input": False,
        "conversation_mode": False,
        "mcp_resources": (),
        "mcp_prompts": (),
        "mcp_context_snapshots": (),
    }
    assert agent.tools.approval_mode is ApprovalMode.WRITE
    assert agent.tools.allow_structured_user_input
    assert agent.tools.allow_free_text_user_input
    assert workflow.settings.forward_upstream_reads
    assert not workflow.settings.fast_mode
    document = json.loads(FILE)
    del document["settings"]
    assert workflow_from_document(document).settings == WorkflowSettings()


def test_an_open_approval_mode_counts_as_write() -> None:
    tools = agent_node("a").agent.tools  # type: ignore[union-attr]
    assert tools.approval_mode is None
    assert tools.effective().approval_mode is ApprovalMode.WRITE


def test_a_node_of_an_unknown_kind_is_kept() -> None:
    node = load_workflow(FILE).node("wait")
    assert (node.kind, node.agent, node.label) == ("timer", None, "")
    assert node.unknown_keys == {"seconds": 180}


def test_an_unedited_file_is_written_as_it_was() -> None:
    assert dump_workflow(load_workflow(FILE)) == FILE
    assert dump_workflow(load_workflow(FILE.encode())) == FILE
    windows = FILE.replace("\n", "\r\n")
    assert dump_workflow(load_workflow(windows)) == windows
    assert dump_workflow(load_workflow("\ufeff" + FILE)) == FILE
    assert dump_workflow(load_workflow(FILE.rstrip())) == FILE


def test_a_file_on_one_line_is_laid_out_with_two_blanks() -> None:
    document = json.loads(FILE)
    dumped = dump_workflow(load_workflow(json.dumps(document)))
    assert dumped == json.dumps(document, indent=2) + "\n"


def test_editing_a_field_changes_its_line_only() -> None:
    workflow = load_workflow(FILE)
    edited = with_agent(workflow, "ask", task_prompt="Which cake?")
    assert dump_workflow(edited) == FILE.replace("Which tea?", "Which cake?")
    renamed = with_node(workflow, workflow.node("wait").model_copy(update={"id": "wait"}))
    assert dump_workflow(renamed) == FILE


def test_a_part_that_was_made_anew_keeps_what_is_unknown_of_the_old_one() -> None:
    workflow = load_workflow(FILE)
    node = workflow.node("ask")
    moved = with_node(workflow, node.model_copy(update={"position": Position(x=80.0, y=1.5)}))
    assert dump_workflow(moved) == FILE.replace('"y": 120,', '"y": 1.5,')
    agent = AgentNodeConfig(
        system_prompt="You make tea.",
        task_prompt="Which tea?",
        output_schema=agent_of(workflow, "ask").output_schema,
        tools=agent_of(workflow, "ask").tools,
        model="m",
    )
    replaced = with_node(workflow, node.model_copy(update={"agent": agent}))
    model_line = '        "task_prompt": "Which tea?",\n        "model": "m",\n'
    assert dump_workflow(replaced) == FILE.replace(
        '        "task_prompt": "Which tea?",\n', model_line
    )


def test_a_new_key_adds_lines_and_changes_none() -> None:
    workflow = load_workflow(FILE)
    edited = with_agent(
        workflow, "ask", reasoning_effort="high", handoff=MarkdownHandoff(template="# T")
    )
    lines = dump_workflow(edited).splitlines()
    assert [line for line in lines if line in FILE.splitlines()] == FILE.splitlines()
    agent = json.loads(dump_workflow(edited))["nodes"][0]["agent"]
    assert agent["reasoningEffort"] == "high"
    assert agent["handoff"] == {"format": "markdown", "template": "# T"}


def test_settings_that_were_absent_are_added_with_what_was_changed() -> None:
    document = json.loads(FILE)
    del document["settings"]
    workflow = workflow_from_document(document)
    changed = workflow.settings.model_copy(update={"shared_context": "Be brief."})
    dumped = json.loads(dump_workflow(workflow.model_copy(update={"settings": changed})))
    assert dumped["settings"] == {"shared_context": "Be brief."}


def test_a_change_that_is_taken_back_leaves_no_trace() -> None:
    workflow = load_workflow(FILE)
    there = with_agent(
        workflow,
        "ask",
        reasoning_effort="high",
        task_prompt="x",
        handoff=MarkdownHandoff(template="#x"),
    )
    back = with_agent(
        there, "ask", reasoning_effort=None, task_prompt="Which tea?", handoff=JsonHandoff()
    )
    assert dump_workflow(back) == FILE
    assert back == workflow
    assert there != workflow


def test_true_and_one_are_different_values_of_a_schema() -> None:
    document = json.loads(FILE)
    document["nodes"][0]["agent"]["output_schema"] = {"type": "object", "const": 1}
    workflow = workflow_from_document(document)
    for const in (True, 1.0):
        edited = with_agent(workflow, "ask", output_schema={"type": "object", "const": const})
        written = json.loads(dump_workflow(edited))["nodes"][0]["agent"]["output_schema"]["const"]
        assert type(written) is type(const)


def test_a_renamed_kind_agent_stays_as_it_was_written() -> None:
    workflow = load_workflow(FILE)
    edited = with_node(workflow, workflow.node("ask").model_copy(update={"label": "Question"}))
    assert dump_workflow(edited) == FILE.replace('"label": "Ask"', '"label": "Question"')


def test_removing_and_adding_nodes_and_edges() -> None:
    workflow = load_workflow(FILE)
    without = workflow.model_copy(update={"nodes": workflow.nodes[:1], "edges": ()})
    document = json.loads(FILE)
    del document["nodes"][1]
    document["edges"] = []
    assert json.loads(dump_workflow(without)) == document
    grown = workflow.model_copy(
        update={
            "nodes": (*workflow.nodes, agent_node("new")),
            "edges": (*workflow.edges, Edge(id="e2", source="ask", target="new")),
        }
    )
    dumped = json.loads(dump_workflow(grown))
    assert dumped["nodes"][:2] == json.loads(FILE)["nodes"]
    assert dumped["nodes"][2]["id"] == "new"
    assert dumped["edges"][1] == {"id": "e2", "from": "ask", "to": "new"}
    assert load_workflow(dump_workflow(grown)) == grown


def test_a_new_workflow_is_written_with_all_its_keys() -> None:
    document = json.loads(dump_workflow(graph(["a"])))
    assert list(document) == ["id", "name", "nodes", "edges", "settings"]
    assert document["settings"] == {
        "shared_context": "",
        "schedule": None,
        "retry_policy": {"max_attempts": 3, "backoff_ms": 1000},
        "provider_id": None,
        "reasoningEffort": None,
        "reasoningBudgetTokens": None,
        "fastMode": False,
        "forwardUpstreamReads": True,
        "planMode": None,
        "outputRepairModel": None,
    }
    (node,) = document["nodes"]
    assert list(node) == ["id", "label", "kind", "position", "agent"]
    assert node["agent"]["tools"] == {}
    assert list(node["agent"]) == [
        "system_prompt",
        "task_prompt",
        "model",
        "output_schema",
        "handoff",
        "auto_start",
        "tools",
        "callableAgents",
        "allowAllCallableAgents",
        "reasoningEffort",
        "reasoningBudgetTokens",
        "providerId",
        "requestUserInput",
        "conversationMode",
        "mcpResources",
        "mcpPrompts",
    ]


def test_opt_outs_are_written_only_where_they_differ() -> None:
    tools = agent_node("a", tools={"allow_free_text_user_input": False})
    document = json.loads(dump_workflow(graph([tools])))
    assert document["nodes"][0]["agent"]["tools"] == {"allowFreeTextUserInput": False}
    again = load_workflow(json.dumps(document))
    assert not agent_of(again, "a").tools.allow_free_text_user_input
    assert agent_of(again, "a").tools.allow_structured_user_input


def test_an_output_schema_is_kept_to_the_letter() -> None:
    schema = {"type": "object", "x-order": [1, 1.0, True, None], "properties": {"b": {}, "a": {}}}
    workflow = load_workflow(dump_workflow(graph([agent_node("a", output_schema=schema)])))
    assert json.dumps(agent_of(workflow, "a").output_schema) == json.dumps(schema)


def test_models_refuse_changes_and_copies_are_checked() -> None:
    workflow = diamond()
    with pytest.raises(ValueError, match="frozen"):
        workflow.name = "other"
    with pytest.raises(ValueError, match="valid string"):
        workflow.model_copy(update={"name": 3})
    with pytest.raises(ValueError, match="Extra inputs"):
        workflow.model_copy(update={"title": "other"})


def test_a_copy_finds_its_own_nodes() -> None:
    workflow = diamond()
    assert workflow.node("s").label == "S"
    renamed = with_node(workflow, workflow.node("s").model_copy(update={"label": "Start"}))
    assert renamed.node("s").label == "Start"
    assert workflow.node("s").label == "S"


def test_a_deep_copy_is_written_alike() -> None:
    workflow = load_workflow(FILE)
    edited = with_agent(workflow, "ask", model="m")
    for original in (workflow, edited):
        for copied in (copy.deepcopy(original), original.model_copy(deep=True)):
            assert copied == original
            assert dump_workflow(copied) == dump_workflow(original)


def test_a_schema_that_no_file_can_hold_is_not_written() -> None:
    schema: dict[str, Any] = {}
    for _ in range(130):
        schema = {"not": schema}
    with pytest.raises(ValueError, match="more than 128 deep"):
        dump_workflow(with_agent(load_workflow(FILE), "ask", output_schema=schema))


def test_one_edit_of_a_large_file_changes_its_line_only() -> None:
    nodes = [agent_node(f"n{i}") for i in range(300)]
    text = dump_workflow(graph(nodes, [(f"n{i}", f"n{i + 1}") for i in range(299)]))
    edited = with_agent(load_workflow(text), "n100", task_prompt="Something else.")
    assert dump_workflow(edited) == text.replace("Do the part of n100.", "Something else.")

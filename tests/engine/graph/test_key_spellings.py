from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from engine.graph.serialization import dump_workflow, load_workflow, workflow_from_document

# Every key that has two spellings: where it stands, the spellings, two values.
SETTINGS = ("settings",)
AGENT = ("nodes", 0, "agent")
TOOLS = (*AGENT, "tools")
RESOURCE = (*AGENT, "mcpResources", 0)
PROMPT = (*AGENT, "mcpPrompts", 0)
SNAPSHOT = (*AGENT, "mcpContextSnapshots", 0)
CASES: list[tuple[tuple[str | int, ...], str, str, Any, Any]] = [
    (SETTINGS, "sharedContext", "shared_context", "a", "b"),
    (SETTINGS, "retryPolicy", "retry_policy", {"max_attempts": 1}, {"max_attempts": 2}),
    ((*SETTINGS, "retry_policy"), "maxAttempts", "max_attempts", 1, 2),
    ((*SETTINGS, "retry_policy"), "backoffMs", "backoff_ms", 1, 2),
    (SETTINGS, "providerId", "provider_id", "a", "b"),
    (SETTINGS, "reasoningEffort", "reasoning_effort", "low", "high"),
    (SETTINGS, "reasoningBudgetTokens", "reasoning_budget_tokens", 1, 2),
    (SETTINGS, "fastMode", "fast_mode", True, False),
    (SETTINGS, "forwardUpstreamReads", "forward_upstream_reads", False, True),
    (
        SETTINGS,
        "planMode",
        "plan_mode",
        {"evidenceSourceNodeId": "a"},
        {"evidenceSourceNodeId": "b"},
    ),
    ((*SETTINGS, "planMode"), "evidenceSourceNodeId", "evidence_source_node_id", "a", "b"),
    (SETTINGS, "outputRepairModel", "output_repair_model", "a", "b"),
    (AGENT, "systemPrompt", "system_prompt", "a", "b"),
    (AGENT, "taskPrompt", "task_prompt", "a", "b"),
    (AGENT, "outputSchema", "output_schema", {"type": "object"}, None),
    (AGENT, "autoStart", "auto_start", False, True),
    (AGENT, "callableAgents", "callable_agents", ["a"], ["b", "c"]),
    (AGENT, "allowAllCallableAgents", "allow_all_callable_agents", True, False),
    (AGENT, "reasoningEffort", "reasoning_effort", "low", "high"),
    (AGENT, "reasoningBudgetTokens", "reasoning_budget_tokens", 1, 2),
    (AGENT, "providerId", "provider_id", "a", "b"),
    (AGENT, "requestUserInput", "request_user_input", True, False),
    (AGENT, "conversationMode", "conversation_mode", True, False),
    (AGENT, "mcpResources", "mcp_resources", [{"serverId": "s", "uri": "u"}], []),
    (AGENT, "mcpPrompts", "mcp_prompts", [{"serverId": "s", "name": "n"}], []),
    (AGENT, "mcpContextSnapshots", "mcp_context_snapshots", [], None),
    (TOOLS, "approvalMode", "approval_mode", "yolo", "read_only"),
    (TOOLS, "allowStructuredUserInput", "allow_structured_user_input", False, True),
    (TOOLS, "allowFreeTextUserInput", "allow_free_text_user_input", False, True),
    (RESOURCE, "serverId", "server_id", "a", "b"),
    (RESOURCE, "maxBytes", "max_bytes", 1, 2),
    (PROMPT, "serverId", "server_id", "a", "b"),
    (PROMPT, "maxBytes", "max_bytes", 1, 2),
    (SNAPSHOT, "serverId", "server_id", "a", "b"),
    (SNAPSHOT, "mimeType", "mime_type", "a", "b"),
    (SNAPSHOT, "originalSizeBytes", "original_size_bytes", 1, 2),
    (SNAPSHOT, "includedSizeBytes", "included_size_bytes", 1, 2),
]


def complete_document() -> dict[str, Any]:
    """A workflow in which every key stands, each in the spelling in which it is written."""
    return {
        "id": "all",
        "name": "All keys",
        "nodes": [
            {
                "id": "a",
                "label": "A",
                "kind": "agent",
                "position": {"x": 1.5, "y": -2.0},
                "agent": {
                    "system_prompt": "s",
                    "task_prompt": "t",
                    "model": "m",
                    "output_schema": {"type": "object"},
                    "handoff": {"format": "markdown", "template": "# H"},
                    "auto_start": True,
                    "tools": {
                        "approvalMode": "always_ask",
                        "allowStructuredUserInput": False,
                        "allowFreeTextUserInput": False,
                    },
                    "callableAgents": ["x"],
                    "allowAllCallableAgents": False,
                    "reasoningEffort": "medium",
                    "reasoningBudgetTokens": 100,
                    "providerId": "p",
                    "requestUserInput": True,
                    "conversationMode": False,
                    "mcpResources": [{"serverId": "s", "uri": "u", "maxBytes": 9}],
                    "mcpPrompts": [
                        {"serverId": "s", "name": "n", "arguments": {"a": "b"}, "maxBytes": 9}
                    ],
                    "mcpContextSnapshots": [
                        {
                            "kind": "prompt",
                            "serverId": "s",
                            "source": "n",
                            "title": "T",
                            "description": "D",
                            "mimeType": "text/plain",
                            "content": "c",
                            "originalSizeBytes": 1,
                            "includedSizeBytes": 1,
                            "truncated": False,
                            "error": "e",
                        }
                    ],
                },
            }
        ],
        "edges": [{"id": "e", "from": "a", "to": "a"}],
        "settings": {
            "shared_context": "c",
            "schedule": {"cron": "0 9 * * 1", "enabled": False, "timezone": "Europe/Berlin"},
            "retry_policy": {"max_attempts": 5, "backoff_ms": 250},
            "provider_id": "p",
            "reasoningEffort": "low",
            "reasoningBudgetTokens": 7,
            "fastMode": True,
            "forwardUpstreamReads": False,
            "planMode": {"evidenceSourceNodeId": "a"},
            "outputRepairModel": "r",
        },
    }


def changed(path: tuple[str | int, ...], remove: tuple[str, ...], add: dict[str, Any]) -> Any:
    document = copy.deepcopy(complete_document())
    part: Any = document
    for step in path:
        part = part[step]
    for key in remove:
        part.pop(key, None)
    part.update(add)
    return document


def test_every_key_survives_as_it_stands() -> None:
    text = json.dumps(complete_document(), indent=2) + "\n"
    workflow = load_workflow(text)
    assert dump_workflow(workflow) == text
    anew = type(workflow).model_validate(workflow.model_dump(), by_name=True)
    assert json.loads(dump_workflow(anew)) == complete_document()


@pytest.mark.parametrize(("path", "camel", "snake", "value", "other"), CASES)
def test_both_spellings_are_read_and_written_back(
    path: tuple[str | int, ...], camel: str, snake: str, value: Any, other: Any
) -> None:
    read = [
        load_workflow(json.dumps(changed(path, (camel, snake), add)))
        for add in ({camel: value}, {snake: value}, {snake: other, camel: value})
    ]
    assert read[0].model_dump() == read[1].model_dump() == read[2].model_dump()
    assert read[0] == read[1] == read[2]
    for workflow, names in zip(read, [{camel}, {snake}, {camel, snake}], strict=True):
        part: Any = json.loads(dump_workflow(workflow))
        for step in path:
            part = part[step]
        assert {camel, snake} & set(part) == names


@pytest.mark.parametrize("name", ["reasoningEffort", "reasoning_effort"])
def test_an_edit_keeps_the_spelling(name: str) -> None:
    document = changed(AGENT, ("reasoningEffort",), {name: "low"})
    assert edited_effort(document) == {name: "high"}


def test_an_edit_changes_both_spellings_where_both_stand() -> None:
    document = changed(AGENT, (), {"reasoning_effort": "stale"})
    assert edited_effort(document) == {"reasoningEffort": "high", "reasoning_effort": "high"}


def edited_effort(document: dict[str, Any]) -> dict[str, str]:
    workflow = workflow_from_document(document)
    (node,) = workflow.nodes
    assert node.agent is not None
    agent = node.agent.model_copy(update={"reasoning_effort": "high"})
    edited = workflow.model_copy(update={"nodes": (node.model_copy(update={"agent": agent}),)})
    written = json.loads(dump_workflow(edited))["nodes"][0]["agent"]
    return {key: written[key] for key in ("reasoningEffort", "reasoning_effort") if key in written}

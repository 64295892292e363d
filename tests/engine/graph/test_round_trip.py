from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.node_config import (
    AgentNodeConfig,
    JsonHandoff,
    LegacyHandoff,
    MarkdownHandoff,
    McpContextSnapshot,
    McpPromptSelection,
    McpResourceSelection,
    NodeToolConfig,
)
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.workflow import (
    Edge,
    Node,
    PlanMode,
    Position,
    RetryPolicy,
    Workflow,
    WorkflowSchedule,
    WorkflowSettings,
)
from engine.vocabulary.tools import ApprovalMode

_TEXT = st.text(max_size=6)
_NAME = st.none() | _TEXT
_SIZE = st.integers(0, 2**40)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


def _tuples(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


_TOOLS = st.builds(
    NodeToolConfig,
    approval_mode=st.none() | st.sampled_from(ApprovalMode),
    allow_structured_user_input=st.booleans(),
    allow_free_text_user_input=st.booleans(),
)
_AGENT = st.builds(
    AgentNodeConfig,
    system_prompt=_TEXT,
    task_prompt=_TEXT,
    model=_TEXT,
    output_schema=_JSON,
    handoff=st.builds(LegacyHandoff)
    | st.builds(JsonHandoff)
    | st.builds(MarkdownHandoff, template=_TEXT),
    auto_start=st.booleans(),
    tools=_TOOLS,
    callable_agents=_tuples(_TEXT),
    allow_all_callable_agents=st.booleans(),
    reasoning_effort=_NAME,
    reasoning_budget_tokens=st.none() | st.integers(0, 2**32 - 1),
    provider_id=_NAME,
    request_user_input=st.booleans(),
    conversation_mode=st.booleans(),
    mcp_resources=_tuples(
        st.builds(McpResourceSelection, server_id=_TEXT, uri=_TEXT, max_bytes=_SIZE)
    ),
    mcp_prompts=_tuples(
        st.builds(
            McpPromptSelection,
            server_id=_TEXT,
            name=_TEXT,
            arguments=st.dictionaries(_TEXT, _TEXT, max_size=2),
            max_bytes=_SIZE,
        )
    ),
    mcp_context_snapshots=_tuples(
        st.builds(
            McpContextSnapshot,
            kind=st.sampled_from(["resource", "prompt"]),
            server_id=_TEXT,
            source=_TEXT,
            title=_NAME,
            description=_NAME,
            mime_type=_NAME,
            content=_TEXT,
            original_size_bytes=_SIZE,
            included_size_bytes=_SIZE,
            truncated=st.booleans(),
            error=_NAME,
        )
    ),
)
_COORDINATE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000)
_POSITION = st.builds(Position, x=_COORDINATE, y=_COORDINATE)
_IDS = st.sampled_from("abc")
_AGENT_NODE = st.builds(
    Node,
    id=_IDS,
    label=_TEXT,
    kind=st.sampled_from(["agent", "Agent"]),
    position=_POSITION,
    agent=_AGENT,
)
_OTHER_NODE = st.builds(
    Node, id=_IDS, label=_TEXT, kind=st.just("timer"), position=_POSITION, agent=st.none()
)
_SETTINGS = st.builds(
    WorkflowSettings,
    shared_context=_TEXT,
    schedule=st.none()
    | st.builds(WorkflowSchedule, cron=_TEXT, enabled=st.booleans(), timezone=_TEXT),
    retry_policy=st.builds(RetryPolicy, max_attempts=st.integers(0, 255), backoff_ms=_SIZE),
    provider_id=_NAME,
    reasoning_effort=_NAME,
    reasoning_budget_tokens=st.none() | st.integers(0, 9),
    fast_mode=st.booleans(),
    forward_upstream_reads=st.booleans(),
    plan_mode=st.none() | st.builds(PlanMode, evidence_source_node_id=_TEXT),
    output_repair_model=_NAME,
)
_EDGES = st.tuples(_IDS, _IDS, _IDS).map(lambda ids: Edge(id=ids[0], source=ids[1], target=ids[2]))
_WORKFLOWS = st.builds(
    Workflow,
    id=_TEXT,
    name=_TEXT,
    nodes=_tuples(_AGENT_NODE | _OTHER_NODE),
    edges=_tuples(_EDGES),
    settings=_SETTINGS,
)


@settings(max_examples=30)
@given(_WORKFLOWS)
def test_what_was_written_is_read_again(workflow: Workflow) -> None:
    text = dump_workflow(workflow)
    again = load_workflow(text)
    assert again == workflow
    assert dump_workflow(again) == text


@settings(max_examples=25)
@given(_WORKFLOWS, _WORKFLOWS)
def test_a_loaded_workflow_turned_into_another_is_read_as_that(
    before: Workflow, after: Workflow
) -> None:
    loaded = load_workflow(dump_workflow(before))
    edited = loaded.model_copy(
        update={name: getattr(after, name) for name in ("id", "name", "nodes", "edges", "settings")}
    )
    assert load_workflow(dump_workflow(edited)) == after


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    """Workflow documents with keys left out, unknown keys put in, and any order of keys."""
    workflow = draw(_WORKFLOWS.filter(lambda workflow: bool(workflow.nodes)))
    document = json.loads(dump_workflow(workflow))
    kept = {"id", "name", "nodes", "edges", "label", "kind", "position", "agent", "x", "y", "from"}
    kept |= {"to", "system_prompt", "task_prompt", "output_schema", "format", "template", "cron"}
    kept |= {"serverId", "uri", "source", "originalSizeBytes", "includedSizeBytes", "truncated"}
    kept |= {"evidenceSourceNodeId", "settings"}

    def disturbed(value: Any) -> Any:
        if isinstance(value, list):
            return [disturbed(item) for item in value]
        if not isinstance(value, dict):
            return value
        members = [
            (key, item if key in ("output_schema", "arguments") else disturbed(item))
            for key, item in value.items()
            if key in kept or draw(st.booleans())
        ]
        if draw(st.booleans()):
            members.append(("unknown", draw(_JSON)))
        return dict(draw(st.permutations(members)))

    result = disturbed(document)
    assert isinstance(result, dict)
    return result


@settings(max_examples=20)
@given(_documents())
def test_a_file_that_is_only_opened_stays_as_it_is(document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=2) + "\n"
    assert dump_workflow(load_workflow(text)) == text


@settings(max_examples=20)
@given(_documents(), st.data())
def test_an_edit_changes_its_field_and_nothing_else(
    document: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(document, indent=2) + "\n"
    workflow = load_workflow(text)
    expected = copy.deepcopy(document)
    index = data.draw(st.integers(0, len(workflow.nodes) - 1))
    node, written = workflow.nodes[index], expected["nodes"][index]
    match data.draw(st.sampled_from(["label", "x", "task_prompt"])):
        case "x":
            position = node.position.model_copy(update={"x": 12.25})
            node = node.model_copy(update={"position": position})
            written["position"]["x"] = 12.25
        case "task_prompt" if node.agent is not None:
            agent = node.agent.model_copy(update={"task_prompt": "Another\ntask"})
            node = node.model_copy(update={"agent": agent})
            written["agent"]["task_prompt"] = "Another\ntask"
        case _:
            node = node.model_copy(update={"label": "Another label"})
            written["label"] = "Another label"
    nodes = (*workflow.nodes[:index], node, *workflow.nodes[index + 1 :])
    edited = workflow.model_copy(update={"nodes": nodes})
    assert dump_workflow(edited) == json.dumps(expected, indent=2) + "\n"

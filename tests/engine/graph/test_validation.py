from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.node_config import (
    MAX_MCP_BYTES,
    LegacyHandoff,
    MarkdownHandoff,
    McpContextSnapshot,
    McpPromptSelection,
    McpResourceSelection,
)
from engine.graph.validation import Problem, validate
from engine.graph.workflow import Edge, Node, PlanMode, Position, Workflow, WorkflowSettings
from tests.support.graphs import agent_node, diamond, graph


def codes(workflow: Workflow) -> list[str]:
    return [problem.code for problem in validate(workflow)]


def only_problem(workflow: Workflow) -> Problem:
    (problem,) = validate(workflow)
    return problem


def with_edges(workflow: Workflow, *edges: tuple[str, str, str]) -> Workflow:
    return workflow.model_copy(
        update={"edges": tuple(Edge(id=i, source=a, target=b) for i, a, b in edges)}
    )


def test_a_diamond_is_valid() -> None:
    assert validate(diamond()) == ()


def test_no_nodes() -> None:
    assert only_problem(graph([])).code == "empty_workflow"


def test_an_edge_to_a_node_that_is_not_there() -> None:
    problem = only_problem(with_edges(graph("a"), ("e", "a", "gone")))
    assert (problem.code, problem.node_id, problem.edge_id, problem.field) == (
        "missing_endpoint",
        "gone",
        "e",
        "target",
    )


def test_an_edge_without_any_node_is_told_for_both_ends() -> None:
    problems = validate(with_edges(graph("a"), ("e", "x", "y")))
    assert [(problem.field, problem.node_id) for problem in problems] == [
        ("source", "x"),
        ("target", "y"),
    ]


def test_a_cycle_names_its_nodes_and_one_of_its_edges() -> None:
    problem = only_problem(graph("xabc", [("x", "a"), ("a", "b"), ("b", "c"), ("c", "a")]))
    assert (problem.code, problem.node_id, problem.edge_id) == ("cycle", "a", "c-a")
    assert "a → b → c → a" in problem.message


def test_duplicate_ids_and_self_edges_are_different_problems() -> None:
    doubled = graph("aab")
    edges = [("e", "a", "b"), ("e", "a", "b"), ("s", "b", "b")]
    problems = validate(with_edges(doubled, *edges))
    assert [(problem.code, problem.node_id, problem.edge_id) for problem in problems] == [
        ("duplicate_node_id", "a", None),
        ("duplicate_edge_id", None, "e"),
        ("self_edge", "b", "s"),
    ]


def test_parallel_edges_with_ids_of_their_own_are_allowed() -> None:
    assert validate(with_edges(graph("ab"), ("e", "a", "b"), ("f", "a", "b"))) == ()


def plan_mode(source: str) -> WorkflowSettings:
    return WorkflowSettings(plan_mode=PlanMode(evidence_source_node_id=source))


def test_plan_mode_needs_a_source_that_asks() -> None:
    nodes = [agent_node("a", request_user_input=True), agent_node("b")]
    assert validate(graph(nodes, settings=plan_mode("a"))) == ()
    missing = only_problem(graph(nodes, settings=plan_mode("gone")))
    assert (missing.code, missing.node_id) == ("plan_mode_source_missing", "gone")
    silent = only_problem(graph(nodes, settings=plan_mode("b")))
    assert (silent.code, silent.node_id) == ("plan_mode_source_not_interactive", "b")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt", "properties": {}},
        {"type": "object", "required": "a"},
        {"type": "object", "properties": {"a": {"pattern": "["}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/a.json"}}},
        {"type": "object", "properties": {"a": {"minLength": -1}}},
        {"type": "object", "default": float("nan")},
    ],
)
def test_a_schema_that_does_not_compile(schema: dict[str, Any]) -> None:
    problem = only_problem(graph([agent_node("a", output_schema=schema)]))
    assert (problem.code, problem.node_id, problem.field) == (
        "invalid_output_schema",
        "a",
        "output_schema",
    )
    assert problem.message.startswith("the output schema of node 'a' cannot be used: ")


def test_a_schema_is_told_where_it_is_wrong() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "objekt"}}}
    problem = only_problem(graph([agent_node("a", output_schema=schema)]))
    assert "'objekt'" in problem.message
    assert "properties.a.type" in problem.message


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "strink"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}},
        {"type": "object", "properties": {"a": {"pattern": r"^\p{L}+$"}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"items": [{}]}},
        },
    ],
)
def test_schemas_that_are_fine_or_give_way_to_the_default(schema: Any) -> None:
    assert validate(graph([agent_node("a", output_schema=schema)])) == ()


def test_the_schema_of_a_markdown_node_does_not_count() -> None:
    bad = {"type": "object", "required": 1}
    markdown = agent_node("a", output_schema=bad, handoff=MarkdownHandoff(template="# H"))
    legacy = agent_node("b", output_schema=bad, handoff=LegacyHandoff())
    assert [problem.node_id for problem in validate(graph([markdown, legacy]))] == ["b"]


def test_a_template_without_headings() -> None:
    node = agent_node("a", handoff=MarkdownHandoff(template="```\n# no\n```"))
    problem = only_problem(graph([node]))
    assert (problem.code, problem.node_id) == ("invalid_handoff_template", "a")


def test_a_blank_task_prompt_is_a_problem_and_a_blank_system_prompt_is_none() -> None:
    problem = only_problem(graph([agent_node("a", system_prompt="", task_prompt=" \n")]))
    assert (problem.code, problem.node_id, problem.field) == ("blank_prompt", "a", "task_prompt")


def test_an_unknown_kind_is_a_problem() -> None:
    node = Node(id="n", label="Timer", kind="timer", position=Position(x=0, y=0))
    problem = only_problem(graph([node]))
    assert (problem.code, problem.node_id, problem.field) == ("unknown_node_kind", "n", "kind")
    assert "'timer'" in problem.message


def resource(**changes: Any) -> McpResourceSelection:
    return McpResourceSelection(**{"server_id": "s", "uri": "u", "max_bytes": 10, **changes})


def prompt(**changes: Any) -> McpPromptSelection:
    return McpPromptSelection(**{"server_id": "s", "name": "p", "max_bytes": 10, **changes})


def snapshot(content: str) -> McpContextSnapshot:
    size = len(content)
    return McpContextSnapshot(
        kind="resource",
        server_id="s",
        source="u",
        content=content,
        original_size_bytes=size,
        included_size_bytes=size,
        truncated=False,
    )


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"mcp_resources": (resource(),) * 40, "mcp_prompts": (prompt(),) * 25}, "65 resources"),
        ({"mcp_resources": (resource(server_id=" "),)}, "is blank"),
        ({"mcp_resources": (resource(server_id="é" * 65),)}, "longer than 128 bytes"),
        ({"mcp_prompts": (prompt(server_id="a/b"),)}, "contains '/'"),
        ({"mcp_resources": (resource(uri=""),)}, "is blank"),
        ({"mcp_prompts": (prompt(name="p" * 4097),)}, "longer than 4096 bytes"),
        ({"mcp_resources": (resource(uri="a\x7fb"),)}, "control character"),
        ({"mcp_resources": (resource(max_bytes=0),)}, "0 bytes"),
        ({"mcp_resources": (resource(max_bytes=MAX_MCP_BYTES), resource())}, "together"),
        ({"mcp_prompts": (prompt(arguments={str(i): "" for i in range(65)}),)}, "65 arguments"),
        ({"mcp_prompts": (prompt(arguments={" ": ""}),)}, "is blank"),
        ({"mcp_prompts": (prompt(arguments={"a" * 257: ""}),)}, "longer than 256 bytes"),
        ({"mcp_prompts": (prompt(arguments={"a\nb": ""}),)}, "control character"),
        ({"mcp_prompts": (prompt(arguments={"a": "v" * 16_385}),)}, "16385 bytes"),
        ({"mcp_context_snapshots": (snapshot("x" * MAX_MCP_BYTES), snapshot("y"))}, "snapshots"),
    ],
)
def test_mcp_context_beyond_a_limit(config: dict[str, Any], words: str) -> None:
    problem = only_problem(graph([agent_node("a", **config)]))
    assert (problem.code, problem.node_id) == ("invalid_mcp_context_selection", "a")
    assert problem.field in config
    assert words in problem.message


def test_mcp_context_at_its_limits() -> None:
    node = agent_node(
        "a",
        mcp_resources=(resource(max_bytes=1, server_id="s" * 128, uri="u" * 4096),) * 63,
        mcp_prompts=(
            prompt(
                max_bytes=MAX_MCP_BYTES - 63,
                arguments={f"{i:0256}": "v" * 16_384 for i in range(64)},
            ),
        ),
        mcp_context_snapshots=(snapshot("x" * MAX_MCP_BYTES),),
    )
    assert validate(graph([node])) == ()


def test_all_problems_come_at_once() -> None:
    nodes = [
        agent_node("a", task_prompt="", output_schema={"type": "object", "required": 1}),
        agent_node("b", handoff=MarkdownHandoff(template="")),
    ]
    workflow = graph(nodes, [("a", "b"), ("b", "a"), ("a", "gone")], plan_mode("b"))
    assert codes(workflow) == [
        "blank_prompt",
        "invalid_output_schema",
        "invalid_handoff_template",
        "missing_endpoint",
        "plan_mode_source_not_interactive",
        "cycle",
    ]


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from("abcd"), max_size=5),
    st.lists(st.tuples(st.sampled_from("ef"), st.sampled_from("abcdx"), st.sampled_from("abcdx"))),
)
def test_every_problem_has_a_node_or_an_edge(
    ids: list[str], edges: list[tuple[str, str, str]]
) -> None:
    for problem in validate(with_edges(graph(ids), *edges)):
        assert problem.message
        assert problem.code == "empty_workflow" or problem.node_id or problem.edge_id

"""Whether a workflow can run, as far as its own content tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from engine.graph.handoff import effective_output_schema, headings
from engine.graph.layers import cycle_text, find_cycles
from engine.graph.mcp_limits import mcp_problems
from engine.graph.node_config import AgentNodeConfig, MarkdownHandoff
from engine.graph.problems import Problem
from engine.graph.schema_check import schema_error
from engine.graph.workflow import Node, Workflow

__all__ = ["Problem", "validate"]


def validate(workflow: Workflow) -> tuple[Problem, ...]:
    """List everything that is wrong, in the order of the file; takes linear time.

    Models, providers and tools are not looked at: which of them there are depends on where the
    workflow runs.
    """
    return (
        *_size_problems(workflow),
        *_node_problems(workflow.nodes),
        *_edge_problems(workflow),
        *_plan_mode_problems(workflow),
        *_cycle_problems(workflow),
    )


def _size_problems(workflow: Workflow) -> Iterator[Problem]:
    if not workflow.nodes:
        message = "the workflow has no nodes: add at least one"
        yield Problem("empty_workflow", message, field="nodes")


def _node_problems(nodes: tuple[Node, ...]) -> Iterator[Problem]:
    for node_id in _repeated(node.id for node in nodes):
        message = f"several nodes have the id '{node_id}': give each its own"
        yield Problem("duplicate_node_id", message, node_id, field="id")
    for node in nodes:
        if node.agent is None:
            message = (
                f"node '{node.id}' is of the kind '{node.kind}', which this version cannot run: "
                "remove it or make it an agent"
            )
            yield Problem("unknown_node_kind", message, node.id, field="kind")
        else:
            yield from _agent_problems(node.id, node.agent)


def _agent_problems(node_id: str, agent: AgentNodeConfig) -> Iterator[Problem]:
    if not agent.task_prompt.strip():
        message = f"node '{node_id}' has a blank task prompt: say what it shall do"
        yield Problem("blank_prompt", message, node_id, field="task_prompt")
    if isinstance(agent.handoff, MarkdownHandoff):
        if not headings(agent.handoff.template):
            message = (
                f"the handoff template of node '{node_id}' has no heading: "
                "add at least one, such as '# Handoff'"
            )
            yield Problem("invalid_handoff_template", message, node_id, field="handoff")
    elif detail := schema_error(effective_output_schema(agent.output_schema)):
        message = f"the output schema of node '{node_id}' cannot be used: {detail}"
        yield Problem("invalid_output_schema", message, node_id, field="output_schema")
    if agent.mcp_resources or agent.mcp_prompts or agent.mcp_context_snapshots:
        for field, detail in mcp_problems(agent):
            message = f"the MCP context of node '{node_id}' is not allowed: {detail}"
            yield Problem("invalid_mcp_context_selection", message, node_id, field=field)


def _edge_problems(workflow: Workflow) -> Iterator[Problem]:
    for edge_id in _repeated(edge.id for edge in workflow.edges):
        message = f"several edges have the id '{edge_id}': give each its own"
        yield Problem("duplicate_edge_id", message, edge_id=edge_id, field="id")
    node_ids = {node.id for node in workflow.nodes}
    for edge in workflow.edges:
        if edge.source == edge.target:
            message = f"edge '{edge.id}' leads from node '{edge.source}' to itself: remove it"
            yield Problem("self_edge", message, edge.source, edge.id)
        for field, node_id in (("source", edge.source), ("target", edge.target)):
            if node_id not in node_ids:
                side = "starts at" if field == "source" else "leads to"
                message = (
                    f"edge '{edge.id}' {side} node '{node_id}', which is not there: "
                    "remove the edge or connect it anew"
                )
                yield Problem("missing_endpoint", message, node_id, edge.id, field)


def _plan_mode_problems(workflow: Workflow) -> Iterator[Problem]:
    plan_mode = workflow.settings.plan_mode
    if plan_mode is None:
        return
    source_id = plan_mode.evidence_source_node_id
    source = next((node for node in workflow.nodes if node.id == source_id), None)
    if source is None:
        message = f"plan mode names node '{source_id}', which is not there: choose another"
        yield Problem("plan_mode_source_missing", message, source_id, field="plan_mode")
    elif source.agent is None or not source.agent.request_user_input:
        message = (
            f"plan mode names node '{source_id}', which asks nobody anything: "
            "let it ask questions, or choose another"
        )
        yield Problem("plan_mode_source_not_interactive", message, source_id, field="plan_mode")


def _cycle_problems(workflow: Workflow) -> Iterator[Problem]:
    cycles = [cycle for cycle in find_cycles(workflow) if len(cycle) > 1]
    closing = {(cycle[-1], cycle[0]) for cycle in cycles}
    edge_ids = {
        (edge.source, edge.target): edge.id
        for edge in reversed(workflow.edges)
        if cycles and (edge.source, edge.target) in closing
    }
    for cycle in cycles:
        message = f"the edges run in a circle: {cycle_text(cycle)}; remove one of them"
        yield Problem("cycle", message, cycle[0], edge_ids[cycle[-1], cycle[0]])


def _repeated(ids: Iterable[str]) -> list[str]:
    return [item_id for item_id, count in Counter(ids).items() if count > 1]

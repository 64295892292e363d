"""What a node that only reads, or a run that plans, must not do: the runner refuses it as well."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from engine.run.approval_policy import call_digest
from engine.run.plan_mode import denial
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolDefinition,
    ToolResult,
    ToolTier,
)
from orchestration.tools.tool import Tool
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, made_tool, say

ANYTHING: JsonObject = {"type": "object"}
TIERS = {
    "read": ToolTier.READ,
    "write": ToolTier.WRITE,
    "edit": ToolTier.WRITE,
    "bash": ToolTier.WRITE,
    SEAL_PLAN_TOOL: ToolTier.WRITE,
    "apply_patch": ToolTier.WRITE,
}
ARGUMENTS: list[JsonObject] = [
    {},
    {"path": "run://PLAN.md"},
    {"path": "docs/a.md"},
    {"path": "src/a.py"},
    {"input": "¶run://PLAN.md#ABCD\ndelete 1"},
    {"command": "ls"},
]


def bench_in(root: Path) -> ToolBench:
    tools = [
        Tool(definition=ToolDefinition(name, name, ANYTHING, tier), run=say)
        for name, tier in TIERS.items()
    ]
    return ToolBench(root, *tools, plan_source="planner")


def batch(
    node: str, name: str, arguments: JsonObject, mode: ApprovalMode, policy: ToolAccessPolicy
) -> RunTools:
    call = AdmittedCall(ToolCall("c1", name, arguments), call_digest((node,), name, arguments))
    return RunTools(node, node, f"{node}#1", (call,), policy, (node,), mode=mode)


@pytest.mark.parametrize("policy", ToolAccessPolicy)
@pytest.mark.parametrize("node", ["planner", "other"])
def test_the_runner_agrees_with_the_engine_on_what_plan_mode_denies(
    tmp_path: Path, node: str, policy: ToolAccessPolicy
) -> None:
    bench = bench_in(tmp_path)

    async def run(given: RunTools) -> ToolResult:
        return (await bench.runner.execute_batch(given))[0][0]

    for name, arguments, mode in itertools.product(TIERS, ARGUMENTS, ApprovalMode):
        is_planning = policy is ToolAccessPolicy.PLANNING
        refusal = denial(
            ToolCall("c1", name, arguments),
            tier=TIERS[name],
            policy=policy,
            is_source=is_planning and node == "planner",
            mode=mode,
        )
        reads_only = mode is ApprovalMode.READ_ONLY and TIERS[name] is ToolTier.WRITE
        result = asyncio.run(run(batch(node, name, arguments, mode, policy)))
        is_refused = refusal is not None or (reads_only and not is_planning)
        assert result.is_error == is_refused, (name, arguments, mode)
        assert not result.drifted
        if is_refused:
            assert result.content.startswith("[permission_denied]")


def test_a_node_that_only_reads_runs_no_command_whatever_it_says(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    call = batch("n", "bash", {"command": "ls"}, ApprovalMode.READ_ONLY, ToolAccessPolicy.EXECUTION)
    (result,) = asyncio.run(bench.runner.execute_batch(call))[0]
    assert result.content == "[permission_denied] bash was denied: this node may only read"
    assert bench.kinds() == ["ToolCompleted", "PhaseTimed"]
    assert bench.journal.tool_facts == []


def test_a_writing_tool_is_refused_while_planning(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("w", say, tier=ToolTier.WRITE))
    planning = batch_of([admitted_call("w")], policy=ToolAccessPolicy.PLANNING)
    (result,) = asyncio.run(bench.runner.execute_batch(planning))[0]
    assert result.content.startswith("[permission_denied]")

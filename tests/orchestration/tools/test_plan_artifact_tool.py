"""Sealing the plan: what a model is told, and that the engine takes it for a seal."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from pathlib import Path

import pytest

from engine.run.plan_mode import is_seal_result
from engine.vocabulary.tools import SEAL_PLAN_TOOL, ToolResult, ToolTier
from orchestration.tools.builtin.plan_artifact import (
    DEFINITION,
    WRITE_PLAN_ARTIFACT,
    write_plan_artifact,
)
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.plan_draft import MAX_PLAN_BYTES
from tests.support.tool_bench import context_in


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    (tmp_path / "project").mkdir()
    return context_in(tmp_path / "project")


def seal(context: ToolContext) -> ToolOutput:
    return asyncio.run(write_plan_artifact({}, context))


def test_a_sealed_plan_has_an_id_a_hash_and_a_size(context: ToolContext) -> None:
    context.services.plan.write("# Plan ✔\n")
    output = seal(context)
    (identity,) = output.artifact_ids
    data = "# Plan ✔\n".encode()
    assert output.content.splitlines() == [
        f"artifact:{identity}",
        f"sha256:{sha256(data).hexdigest()}",
        f"bytes:{len(data)}",
    ]
    assert context.services.artifacts.read(identity) == "# Plan ✔\n"
    assert not list(context.workspace.root.iterdir())


def test_sealing_again_gives_the_same_artifact(context: ToolContext) -> None:
    context.services.plan.write("the plan")
    assert seal(context) == seal(context)


def test_the_engine_knows_a_seal_by_its_result(context: ToolContext) -> None:
    context.services.plan.write("the plan")
    output = seal(context)
    result = ToolResult("c1", SEAL_PLAN_TOOL, output.content, output.is_error, output.artifact_ids)
    assert is_seal_result(result)
    assert WRITE_PLAN_ARTIFACT.definition is DEFINITION
    assert (DEFINITION.name, DEFINITION.tier) == (SEAL_PLAN_TOOL, ToolTier.WRITE)


@pytest.mark.parametrize("draft", [None, "", " \n"])
def test_without_a_plan_there_is_nothing_to_seal(context: ToolContext, draft: str | None) -> None:
    if draft is not None:
        context.services.plan.write(draft)
    with pytest.raises(ToolFailure, match=r"was not sealed: .*draft") as caught:
        seal(context)
    assert caught.value.kind is FailureKind.FAILED
    assert "run://PLAN.md" in caught.value.hint


def test_a_plan_over_the_limit_is_not_sealed(context: ToolContext) -> None:
    context.services.plan.write("x")
    draft = context.services.edits.parent / "artifacts" / "PLAN.md"
    draft.write_bytes(b"x" * (MAX_PLAN_BYTES + 1))
    with pytest.raises(ToolFailure, match=str(MAX_PLAN_BYTES)):
        seal(context)

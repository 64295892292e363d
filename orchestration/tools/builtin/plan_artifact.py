"""The `openflow_write_plan_artifact` tool: seal the draft of the plan."""

from __future__ import annotations

import asyncio

from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.plan_draft import PlanRefused

DEFINITION = ToolDefinition(
    name=SEAL_PLAN_TOOL,
    description=(
        "Seal the draft at run://PLAN.md as the plan of this run. Write the draft in full first: "
        "once it is sealed, it cannot be changed."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {"_i": INTENT},
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.EXCLUSIVE,
)


async def write_plan_artifact(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call; a plan that is sealed already is given again."""
    try:
        sealed = await asyncio.to_thread(context.services.plan.seal)
    except PlanRefused as refusal:
        raise ToolFailure(
            FailureKind.FAILED,
            f"the plan was not sealed: {refusal}",
            "write run://PLAN.md, then seal it",
        ) from None
    lines = (f"artifact:{sealed.id}", f"sha256:{sealed.sha256}", f"bytes:{sealed.bytes}")
    return ToolOutput("\n".join(lines), artifact_ids=(sealed.id,))


WRITE_PLAN_ARTIFACT = Tool(definition=DEFINITION, run=write_plan_artifact)

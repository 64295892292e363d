"""Let an editing tool change the draft of the plan, which is no file of the execution folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from engine.vocabulary.tools import (
    CallPreview,
    FileChangeOp,
    FilePreview,
    JsonObject,
    ToolAccessPolicy,
)
from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.numbered_diff import numbered_diff
from orchestration.tools.file_edits.reading import encoded
from orchestration.tools.text_view import tag
from orchestration.tools.tool import (
    FailureKind,
    Inspected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from orchestration.workspace.plan_draft import PlanRefused

PLAN_ADDRESS = "run://PLAN.md"

Change = Callable[[JsonObject, str | None], str]
"""Makes the new text of the draft of a call's arguments and the old one, `None` without one."""


def for_the_draft_too(tool: Tool, change: Change) -> Tool:
    """The tool, which also takes `run://PLAN.md` as its path while a run is planning.

    Such a call changes no file, so it leaves no records and cannot be reverted.
    """
    run, inspect = tool.run, tool.inspect
    assert inspect is not None, "editing tools can be inspected"

    async def run_or_draft(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        if not _is_draft(arguments):
            return await run(arguments, context)
        return await asyncio.to_thread(_write, arguments, context, change)

    async def inspect_or_draft(arguments: JsonObject, context: ToolContext) -> Inspected:
        if not _is_draft(arguments):
            return await inspect(arguments, context)
        return await asyncio.to_thread(_inspect, arguments, context, change)

    return replace(tool, run=run_or_draft, inspect=inspect_or_draft)


def _is_draft(arguments: JsonObject) -> bool:
    return arguments.get("path") == PLAN_ADDRESS and arguments.get("input") is None


def _changed(
    arguments: JsonObject, context: ToolContext, change: Change
) -> tuple[str | None, str, str]:
    """The draft before and after the call, and the difference."""
    if context.policy is not ToolAccessPolicy.PLANNING:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, f"'{PLAN_ADDRESS}' is written while planning only"
        )
    try:
        before = context.services.plan.read()
    except PlanRefused as refusal:
        raise ToolFailure(FailureKind.FAILED, str(refusal)) from None
    after = change(arguments, before)
    encoded(FileText.new(after), PLAN_ADDRESS)
    return before, after, numbered_diff(before or "", after)


def _write(arguments: JsonObject, context: ToolContext, change: Change) -> ToolOutput:
    before, after, diff = _changed(arguments, context, change)
    try:
        context.services.plan.write(after)
    except PlanRefused as refusal:
        raise ToolFailure(FailureKind.FAILED, str(refusal)) from None
    heading = f"{'Created' if before is None else 'Updated'} {PLAN_ADDRESS}"
    return ToolOutput("\n".join(filter(None, (heading, f"¶{PLAN_ADDRESS}#{tag(after)}", diff))))


def _inspect(arguments: JsonObject, context: ToolContext, change: Change) -> Inspected:
    before, _, diff = _changed(arguments, context, change)
    version = "absent" if before is None else digest_of(before.encode("utf-8", "surrogatepass"))
    op = FileChangeOp.CREATE if before is None else FileChangeOp.UPDATE
    preview = CallPreview((FilePreview(PLAN_ADDRESS, op, diff),))
    return Inspected((f"{PLAN_ADDRESS}@{version}",), preview)

"""The `apply_patch` tool: add, change, move and delete several files with one text."""

from __future__ import annotations

from engine.vocabulary.tools import ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.patch_plan import patch_paths, plan_patch

DEFINITION = ToolDefinition(
    name="apply_patch",
    description=(
        "Change several files with one patch. It starts with `*** Begin Patch` and ends with "
        "`*** End Patch`; between them stand entries: `*** Add File: PATH` with `+` before each "
        "line, `*** Delete File: PATH`, or `*** Update File: PATH`, optionally with "
        "`*** Move to: PATH` in the next line, and then hunks. A hunk is a line `@@`, or `@@ ` and "
        "a line of the file that comes before it, followed by lines with ` ` (stays), `-` (goes) "
        "or `+` (comes) before them. Give about three unchanged lines around each change, so that "
        "the place is the only one; `*** End of File` after a hunk ties it to the end. Entries are "
        "done in order, and those before one that fails stay done."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "input": {
                "type": "string",
                "description": "The patch, from `*** Begin Patch` to `*** End Patch`.",
            },
            "_i": INTENT,
        },
        "required": ["input"],
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.EXCLUSIVE,
)

APPLY_PATCH = editing_tool(DEFINITION, plan_patch, patch_paths)

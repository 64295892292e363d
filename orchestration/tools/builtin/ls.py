"""The `ls` tool: what `read` does, under the name that models know for folders."""

from __future__ import annotations

from engine.vocabulary.tools import ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.builtin.read import INTENT, is_local, read
from orchestration.tools.tool import Tool

DEFINITION = ToolDefinition(
    name="ls",
    description=(
        "List a folder to a depth of two, sorted, folders with a final `/`; hidden entries and "
        "those that `.gitignore` names are left out. Of a file it gives what `read` gives."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {
                "type": "string",
                "description": "A folder, relative to the execution folder; `.` is that itself.",
            },
            "_i": INTENT,
        },
        "required": ["path"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)

LS = Tool(definition=DEFINITION, run=read, is_cacheable=is_local)

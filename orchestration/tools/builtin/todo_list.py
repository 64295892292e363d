"""The `openflow_update_todo_list` tool: a node's plan for its work, kept by the call itself."""

from __future__ import annotations

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput

MAX_TODOS = 12
MAX_CONTENT = 160

DEFINITION = ToolDefinition(
    name="openflow_update_todo_list",
    description=(
        "Show the user your plan for work of several steps. Each call replaces the whole list: "
        "send every step, the finished ones too, with at most one in progress."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "todos": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_TODOS,
                "description": "The steps, in the order in which they are to be done.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "content": {
                            "type": "string",
                            "description": f"The step in 1 to {MAX_CONTENT} characters.",
                        },
                        "status": {
                            "type": "string",
                            "enum": ["pending", "in_progress", "completed"],
                            "description": "How far it is.",
                        },
                    },
                    "required": ["content", "status"],
                },
            },
            "_i": INTENT,
        },
        "required": ["todos"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


async def update_todo_list(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call; the list is what the latest good call has in its arguments."""
    steps = [(str(todo["content"]).strip(), todo["status"]) for todo in arguments["todos"]]
    for number, (content, _) in enumerate(steps, 1):
        if not 1 <= len(content) <= MAX_CONTENT:
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"step {number} has {len(content)} characters, not 1 to {MAX_CONTENT}",
                "say in a few words what is to be done",
            )
    current = [content for content, status in steps if status == "in_progress"]
    if len(current) > 1:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"{len(current)} steps are in progress",
            "mark the one that you work at now, and the others as pending",
        )
    done = sum(status == "completed" for _, status in steps)
    summary = f"{done} of {len(steps)} steps are completed."
    return ToolOutput(f"{summary} In progress: {current[0]}" if current else summary)


TODO_LIST = Tool(definition=DEFINITION, run=update_todo_list)

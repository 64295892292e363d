"""The `write` tool: make a file, or give it another text."""

from __future__ import annotations

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.draft_edits import for_the_draft_too
from orchestration.tools.file_edits.file_text import FileText, Splice, normalise
from orchestration.tools.file_edits.reading import decoded, encoded, read_target
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure

DEFINITION = ToolDefinition(
    name="write",
    description=(
        "Write a whole file: a new one, whose folders are made, or in the place of what a file "
        "holds. An existing file keeps its encoding, its line ends and whether it ends with a "
        "newline. To change parts of a file use edit. In planning, `run://PLAN.md` is the draft "
        "of the plan."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {
                "type": "string",
                "description": "The file, relative to the execution folder.",
            },
            "content": {"type": "string", "description": "Everything that is to be in the file."},
            "_i": {
                "type": ["string", "null"],
                "description": "What this call is for, in a few words; shown to the user.",
            },
        },
        "required": ["path", "content"],
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.EXCLUSIVE,
)


def plan_write(arguments: JsonObject, context: ToolContext) -> ChangePlan:
    """Work out what a call writes.

    Raises:
        ToolFailure: the file may not be written, or already is what would be written.
    """
    target = read_target(str(arguments["path"]), context)
    content = str(arguments["content"])
    text = new_text(content) if target.data is None else _over(decoded(target), content)
    after = encoded(text, target.label)
    if after == target.data:
        raise unchanged(target.label)
    return ChangePlan(
        (FileChange(path=target.path, label=target.label, before=target.data, after=after),)
    )


def new_text(content: str) -> FileText:
    """A new file's text: it ends with a newline, written as the other line ends are."""
    text = FileText.new(content)
    if not text.text or text.has_final_newline:
        return text
    end = len(text.text)
    return text.spliced([Splice(end, end, "\n")])


def _over(file: FileText, content: str) -> FileText:
    """The file with another text; whether it ends with a newline stays as it was."""
    new = normalise(content).removeprefix("\ufeff")
    if file.text and not file.has_final_newline:
        new = new.rstrip("\n")
    elif new and not new.endswith("\n"):
        new += "\n"
    return file.rewritten(new)


def unchanged(label: str) -> ToolFailure:
    """The refusal of a call that would change nothing."""
    return ToolFailure(
        FailureKind.FAILED,
        f"'{label}' already is what it would become, so nothing was written",
        "there is nothing to do",
    )


def _draft(arguments: JsonObject, draft: str | None) -> str:
    return new_text(normalise(str(arguments["content"]))).text


WRITE = for_the_draft_too(
    editing_tool(DEFINITION, plan_write, lambda arguments: [str(arguments.get("path", ""))]),
    _draft,
)

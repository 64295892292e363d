"""The `edit` tool: replace parts of a file, by their text or by the numbers of their lines."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.draft_edits import PLAN_ADDRESS, for_the_draft_too
from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.hashline_plan import hashline_paths, plan_hashline
from orchestration.tools.file_edits.reading import decoded, encoded, read_target
from orchestration.tools.file_edits.replace_edits import NoPlace, Replaced, Replacement, replaced
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure

DEFINITION = ToolDefinition(
    name="edit",
    description=(
        "Change parts of a file. Either give `path` and `edits`: each `old_text` must stand in "
        "the file once, word for word, unless `all` is set; they are made in order, all or none. "
        "Or give `input`, which names lines by their numbers: a header `¶PATH#TAG` as read shows "
        "it, then operations: `replace 3..5:`, `insert before 7:`, `insert after 7:`, `insert "
        "head:`, `insert tail:`, each followed by lines that begin with `+`, or `delete 3..5`. "
        "A file that changed since you read it is not changed: read it again. In planning, "
        "`run://PLAN.md` is the draft of the plan."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {
                "type": "string",
                "description": "The file that `edits` are for, relative to the execution folder.",
            },
            "edits": {
                "type": "array",
                "description": "The replacements, in order.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "old_text": {
                            "type": "string",
                            "description": "What is there now, with enough of it to be unique.",
                        },
                        "new_text": {
                            "type": "string",
                            "description": "What is to be there; empty takes it away.",
                        },
                        "all": {
                            "type": "boolean",
                            "description": "Replace it everywhere in the file.",
                        },
                    },
                    "required": ["old_text", "new_text"],
                },
            },
            "input": {
                "type": "string",
                "description": "An edit by line numbers, in place of `path` and `edits`.",
            },
            "_i": {
                "type": ["string", "null"],
                "description": "What this call is for, in a few words; shown to the user.",
            },
        },
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.EXCLUSIVE,
)


def plan_edit(arguments: JsonObject, context: ToolContext) -> ChangePlan:
    """Work out what a call changes.

    Raises:
        ToolFailure: an edit has no place of its own, or nothing would change.
    """
    if _is_by_lines(arguments):
        return plan_hashline(arguments, context)
    edits = _replacements(arguments)
    target = read_target(str(arguments["path"]), context)
    file = decoded(target)
    done = _made(file, edits, target.label)
    after = encoded(done.text, target.label)
    if after == target.data:
        raise _without_effect(target.label)
    heading = ""
    if any(edit.every for edit in edits):
        times = "1 occurrence" if done.count == 1 else f"{done.count} occurrences"
        heading = f"Successfully replaced {times} in {target.label}"
    change = FileChange(
        path=target.path, label=target.label, before=target.data, after=after, heading=heading
    )
    return ChangePlan((change,), (done.note,) if done.note else ())


def edit_paths(arguments: JsonObject) -> tuple[str, ...]:
    """The paths that a call is going to change, as the model wrote them."""
    if _is_by_lines(arguments):
        return hashline_paths(arguments)
    return (str(arguments.get("path", "")),)


def _is_by_lines(arguments: JsonObject) -> bool:
    return arguments.get("input") is not None


def _replacements(arguments: JsonObject) -> list[Replacement]:
    items: list[Any] = arguments.get("edits") or []
    if "path" not in arguments or not items:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            "edit needs a path and at least one edit",
            "give path and edits with old_text and new_text, or input with lines by number",
        )
    edits = [
        Replacement(str(item["old_text"]), str(item["new_text"]), bool(item.get("all")))
        for item in items
    ]
    for number, edit in enumerate(edits, 1):
        if not edit.old:
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"the old_text of edit {number} is empty",
                "name the text to replace; a new file is made with write",
            )
    return edits


def _made(file: FileText, edits: list[Replacement], label: str) -> Replaced:
    """All edits made one after the other, with the places of all of them counted."""
    count = 0
    notes: list[str] = []
    for number, edit in enumerate(edits, 1):
        try:
            done = replaced(file, edit)
        except NoPlace as problem:
            which = f"edit {number} of {len(edits)} in '{label}'"
            rest = "; none of the edits was made" if len(edits) > 1 else ""
            raise ToolFailure(
                FailureKind.FAILED, f"{which}: {problem}{rest}", problem.hint
            ) from None
        file, count = done.text, count + done.count
        notes += [done.note] if done.note else []
    return Replaced(file, count, "\n".join(notes))


def _without_effect(label: str) -> ToolFailure:
    return ToolFailure(
        FailureKind.FAILED,
        f"the edits of '{label}' change nothing, so nothing was written",
        "make old_text and new_text differ",
    )


def _draft(arguments: JsonObject, draft: str | None) -> str:
    edits = _replacements(arguments)
    if draft is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND, f"there is no draft at '{PLAN_ADDRESS}' yet", "write it first"
        )
    done = _made(FileText.new(draft), edits, PLAN_ADDRESS).text
    if done.text == draft:
        raise _without_effect(PLAN_ADDRESS)
    return done.text


EDIT = for_the_draft_too(editing_tool(DEFINITION, plan_edit, edit_paths), _draft)

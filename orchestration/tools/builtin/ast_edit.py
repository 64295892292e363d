"""The `ast_edit` tool: rewrite all code of a certain shape."""

from __future__ import annotations

from collections.abc import Sequence

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.ast_grep_process import Query, checked_query
from orchestration.tools.builtin.ast_grep import LANG_SCHEMA
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.file_edits.ast_edit_plan import plan_ast_edit
from orchestration.tools.file_edits.change_plan import ChangePlan
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.ripgrep import find_files, ignore_options
from orchestration.tools.search_targets import (
    PATHS_SCHEMA,
    SearchTargets,
    printed_name,
    search_targets,
)
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.tool import (
    FailureKind,
    Inspected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)

MAX_OPS = 50

DEFINITION = ToolDefinition(
    name="ast_edit",
    description=(
        "Rewrite code by its shape in all files that the paths mean. Each op has a pattern as "
        "ast_grep takes it, and what to put in the place of its matches, in which the pattern's "
        "`$NAME` and `$$$NAME` stand for what they matched; an empty one deletes them. Ops apply "
        "in order, each to what those before it leave, and nothing is written unless all of them "
        "can be done. Gives the diffs, and how much each op replaced."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "ops": {
                "type": "array",
                "description": "The rewrites, in order.",
                "minItems": 1,
                "maxItems": MAX_OPS,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "pat": {
                            "type": "string",
                            "description": "The code to find, with `$NAME` for parts.",
                        },
                        "out": {
                            "type": "string",
                            "description": "What to put in its place; empty to delete it.",
                        },
                    },
                    "required": ["pat", "out"],
                },
            },
            "paths": PATHS_SCHEMA,
            "lang": LANG_SCHEMA,
            "_i": INTENT,
        },
        "required": ["ops", "paths"],
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.EXCLUSIVE,
)


async def _run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    return await _planned(await _plan(arguments, context)).run(arguments, context)


async def _inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
    tool = _planned(await _plan(arguments, context))
    assert tool.inspect is not None
    return await tool.inspect(arguments, context)


def _planned(plan: ChangePlan | ToolFailure) -> Tool:
    """The tool of a plan that is already made: unlike others, this one has to be stoppable."""

    def planner(arguments: JsonObject, context: ToolContext) -> ChangePlan:
        if isinstance(plan, ToolFailure):
            raise plan
        return plan

    return editing_tool(DEFINITION, planner, _lock_paths)


async def _plan(arguments: JsonObject, context: ToolContext) -> ChangePlan | ToolFailure:
    try:
        queries = _queries(arguments)
        return await stoppable(lambda stop: _plan_with(queries, arguments, context, stop))
    except ToolFailure as failure:
        return failure


def _plan_with(
    queries: Sequence[Query], arguments: JsonObject, context: ToolContext, stop: Stop
) -> ChangePlan:
    targets = search_targets(arguments["paths"], context.workspace)
    _refuse_empty(targets, stop)
    return plan_ast_edit(queries, targets, context, stop)


def _queries(arguments: JsonObject) -> list[Query]:
    ops = arguments.get("ops") or ()
    if not ops:
        raise ToolFailure(FailureKind.INVALID_ARGS, "ast_edit: there are no ops")
    if not arguments.get("paths"):
        raise ToolFailure(FailureKind.INVALID_ARGS, "ast_edit: there are no paths")
    lang = arguments.get("lang")
    return [checked_query("ast_edit", str(op["pat"]), lang, str(op["out"])) for op in ops]


def _refuse_empty(targets: SearchTargets, stop: Stop) -> None:
    """Refuse patterns that no file matches: they are more likely wrong than meant so."""
    if not targets.targets:
        raise _no_files()
    if any(target.glob is None for target in targets.targets):
        return
    found: list[bytes] = []

    def take(path: bytes) -> bool:
        if targets.covers(printed_name(path), hidden=False):
            found.append(path)
        return not found

    hidden = any(target.glob and target.glob.names_hidden for target in targets.targets)
    options = ignore_options(targets.folder, hidden=hidden, gitignore=True)
    find_files(targets.folder, options, targets.roots(), take, stop)
    if not (found or stop.is_set):
        raise _no_files()


def _no_files() -> ToolFailure:
    return ToolFailure(
        FailureKind.NOT_FOUND,
        "ast_edit: no file matches the paths",
        "find what there is first",
    )


def _lock_paths(arguments: JsonObject) -> Sequence[str]:
    paths = arguments.get("paths") or ()
    return (paths,) if isinstance(paths, str) else tuple(map(str, paths))


AST_EDIT = Tool(
    definition=DEFINITION, run=_run, lock_paths=_lock_paths, inspect=_inspect, writes=True
)

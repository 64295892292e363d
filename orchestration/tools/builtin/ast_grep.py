"""The `ast_grep` tool: code of a certain shape, whatever its layout."""

from __future__ import annotations

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.ast_grep_process import (
    TIME_LIMIT_S,
    Match,
    Query,
    checked_query,
    find_code,
)
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.search_ends import remarks_on_end
from orchestration.tools.search_targets import PATHS_SCHEMA, search_targets
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.text_view import ELLIPSIS
from orchestration.tools.tool import Tool, ToolContext, ToolOutput
from orchestration.workspace.paths import Workspace

MAX_MATCHES = 500
MAX_LINE_LENGTH = 500
NO_MATCHES = "[no matches]"

LANG_SCHEMA: JsonObject = {
    "type": ["string", "null"],
    "description": (
        "The language of the pattern, such as `python` or `ts`; only its files are looked at. By "
        "default the pattern is read in the language of each file."
    ),
}

DEFINITION = ToolDefinition(
    name="ast_grep",
    description=(
        "Find code by its shape: a piece of code in which `$NAME` stands for any one part and "
        "`$$$NAME` for any number of them, such as `print($$$ARGS)` or `if $A: return $B`. Gives "
        "`path:line:text` with the first line of each match. Hidden files and those that "
        f"`.gitignore` names are left out. At most {MAX_MATCHES} matches."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "pat": {"type": "string", "description": "The code to find, with `$NAME` for parts."},
            "paths": PATHS_SCHEMA,
            "lang": LANG_SCHEMA,
            "_i": INTENT,
        },
        "required": ["pat", "paths"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


async def ast_grep(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    query = checked_query("ast_grep", str(arguments["pat"]), arguments.get("lang"))
    return await stoppable(lambda stop: _find(query, arguments, context.workspace, stop))


def _find(query: Query, arguments: JsonObject, workspace: Workspace, stop: Stop) -> ToolOutput:
    targets = search_targets(arguments["paths"], workspace)
    if not targets.targets:
        return ToolOutput(NO_MATCHES)
    matches = _Matches(workspace)
    found = find_code("ast_grep", query, targets, matches.take, stop)
    targets.refuse_links()
    lines = matches.lines()
    remarks = remarks_on_end(
        "the search",
        is_complete=found.is_complete,
        timed_out=found.timed_out,
        time_limit_s=TIME_LIMIT_S,
        stopped_at=f"{MAX_MATCHES} matches; make the pattern or the paths",
        has_found=bool(lines),
    )
    if found.remark:
        remarks.append(f"[{found.remark}]")
    return ToolOutput("\n".join([*(lines or [NO_MATCHES]), *remarks]))


class _Matches:
    """Collects the lines at which matches begin, up to the limit."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._labels: dict[str, str] = {}
        self._found: dict[tuple[str, int], str] = {}

    def take(self, match: Match) -> bool:
        """Keep a match; whether more are wanted."""
        if match.file not in self._labels:
            path = self._workspace.root / match.file
            self._labels[match.file] = self._workspace.label(path)
        key = (self._labels[match.file], match.range.start.line + 1)
        if key not in self._found and len(self._found) == MAX_MATCHES:
            return False
        self._found[key] = match.lines.partition("\n")[0]
        return True

    def lines(self) -> list[str]:
        """What was found, by path and line."""
        return [
            f"{label}:{line}:{_clipped(self._found[label, line])}"
            for label, line in sorted(self._found)
        ]


def _clipped(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= MAX_LINE_LENGTH else text[:MAX_LINE_LENGTH] + ELLIPSIS


def is_cacheable(arguments: JsonObject) -> bool:
    """A search has the same result until a file changes."""
    return True


AST_GREP = Tool(definition=DEFINITION, run=ast_grep, is_cacheable=is_cacheable)

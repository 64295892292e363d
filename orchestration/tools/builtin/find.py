"""The `find` tool: which files and folders there are."""

from __future__ import annotations

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.builtin.search import is_cacheable
from orchestration.tools.ripgrep import TIME_LIMIT_S, RipgrepError, find_files, ignore_options
from orchestration.tools.search_ends import remarks_on_end
from orchestration.tools.search_targets import (
    PATHS_SCHEMA,
    SearchTargets,
    printed_name,
    search_targets,
    shown_name,
)
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.paths import Workspace

MAX_PATHS = 200
NOTHING = "[nothing found]"

DEFINITION = ToolDefinition(
    name="find",
    description=(
        "Find files and folders by path; gives their paths, sorted, folders with a final `/`. "
        "What `.gitignore` names is left out, and so are hidden names unless the pattern has "
        f"one, and folders without files. At most {MAX_PATHS} paths."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {"paths": PATHS_SCHEMA, "_i": INTENT},
        "required": ["paths"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


async def find(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    return await stoppable(lambda stop: _find(arguments, context.workspace, stop))


def _find(arguments: JsonObject, workspace: Workspace, stop: Stop) -> ToolOutput:
    targets = search_targets(arguments["paths"], workspace)
    if not targets.targets:
        return ToolOutput(NOTHING)
    hidden = any(t.glob is not None and t.glob.names_hidden for t in targets.targets)
    options = ignore_options(targets.folder, hidden=hidden, gitignore=True)
    paths = _Paths(targets, workspace)
    try:
        ended = find_files(targets.folder, options, targets.roots(), paths.take, stop)
    except RipgrepError as error:
        raise ToolFailure(FailureKind.FAILED, f"find: {str(error).strip()}") from None
    targets.refuse_links()
    lines = paths.lines()
    lines += remarks_on_end(
        "find",
        is_complete=ended.is_complete,
        timed_out=ended.timed_out,
        time_limit_s=TIME_LIMIT_S,
        stopped_at=f"{MAX_PATHS} paths; make the paths",
        has_found=bool(lines),
    )
    if ended.had_errors:
        lines.append("[some folders could not be read]")
    return ToolOutput("\n".join(lines) or NOTHING)


class _Paths:
    """Collects paths, and the folders on the way to them, up to the limit."""

    def __init__(self, targets: SearchTargets, workspace: Workspace) -> None:
        self._targets = targets
        self._workspace = workspace
        self._folders: set[str] = set()
        self._found: set[str] = set()

    def take(self, path: bytes) -> bool:
        """Keep a path if it is meant; whether more are wanted."""
        name = printed_name(path)
        return self._take_folders(name) and self._keep(name, "")

    def lines(self) -> list[str]:
        """What was found, sorted."""
        return sorted(self._found)

    def _take_folders(self, name: str) -> bool:
        new: list[str] = []
        folder = name.rpartition("/")[0]
        while folder and folder not in self._folders:
            self._folders.add(folder)
            new.append(folder)
            folder = folder.rpartition("/")[0]
        return all(self._keep(folder, "/") for folder in reversed(new))

    def _keep(self, name: str, ending: str) -> bool:
        if not self._targets.covers(name, hidden=False):
            return True
        label = shown_name(name, self._workspace) + ending
        if label not in self._found and len(self._found) == MAX_PATHS:
            return False
        self._found.add(label)
        return True


FIND = Tool(definition=DEFINITION, run=find, is_cacheable=is_cacheable)

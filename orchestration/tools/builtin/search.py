"""The `search` tool: lines of files that match a regular expression."""

from __future__ import annotations

import os

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.ripgrep import (
    TIME_LIMIT_S,
    Match,
    RipgrepError,
    find_matches,
    ignore_options,
)
from orchestration.tools.search_ends import remarks_on_end
from orchestration.tools.search_targets import (
    PATHS_SCHEMA,
    SearchTargets,
    printed_name,
    search_targets,
    shown_name,
)
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.text_view import ELLIPSIS
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.paths import Workspace

MAX_MATCHES = 500
MAX_LINE_LENGTH = 500
MAX_PATTERN_LENGTH = 10_000
NO_MATCHES = "[no matches]"

DEFINITION = ToolDefinition(
    name="search",
    description=(
        "Search files for a regular expression, line by line; gives `path:line:text`. Look-around "
        "and back-references are not known. Hidden files are searched, files that `.gitignore` "
        f"names are not, and binary files are left out. At most {MAX_MATCHES} matches."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression."},
            "paths": PATHS_SCHEMA,
            "i": {
                "type": ["boolean", "null"],
                "description": "Whether capital and small letters are alike; false by default.",
            },
            "gitignore": {
                "type": ["boolean", "null"],
                "description": "Whether to leave out what `.gitignore` names; true by default.",
            },
            "_i": INTENT,
        },
        "required": ["pattern", "paths"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)

# Beyond this many bytes a line is cut by `rg` itself; whatever is left is cut by characters.
_COLUMNS = ("--max-columns=2000", "--max-columns-preview")


async def search(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    pattern = _checked(arguments["pattern"])
    return await stoppable(lambda stop: _search(pattern, arguments, context.workspace, stop))


def _search(pattern: str, arguments: JsonObject, workspace: Workspace, stop: Stop) -> ToolOutput:
    targets = search_targets(arguments["paths"], workspace)
    if not targets.targets:
        return ToolOutput(NO_MATCHES)
    gitignore = arguments.get("gitignore") is not False
    options = [*_COLUMNS, *targets.name_options()]
    options += ignore_options(targets.folder, hidden=True, gitignore=gitignore)
    if arguments.get("i"):
        options.append("--ignore-case")
    matches = _Matches(targets, workspace)
    roots = targets.roots()
    try:
        ended = find_matches(targets.folder, options, pattern, roots, matches.take, stop)
    except RipgrepError as error:
        raise _refusal(str(error)) from None
    targets.refuse_links()
    lines = matches.lines()
    lines += remarks_on_end(
        "the search",
        is_complete=ended.is_complete,
        timed_out=ended.timed_out,
        time_limit_s=TIME_LIMIT_S,
        stopped_at=f"{MAX_MATCHES} matches; make the pattern or the paths",
        has_found=bool(lines),
    )
    if ended.had_errors:
        lines.append("[some files could not be read]")
    return ToolOutput("\n".join(lines) or NO_MATCHES)


class _Matches:
    """Collects matches up to the limit."""

    def __init__(self, targets: SearchTargets, workspace: Workspace) -> None:
        self._targets = targets
        self._workspace = workspace
        self._found: dict[tuple[str, int], bytes] = {}
        self._path = b""
        self._label: str | None = None

    def take(self, match: Match) -> bool:
        """Keep a match; whether more are wanted."""
        if match.path != self._path:
            self._path, self._label = match.path, self._label_of(match.path)
        if self._label is None:
            return True
        key = (self._label, match.line)
        if key not in self._found and len(self._found) == MAX_MATCHES:
            return False
        self._found[key] = match.text
        return True

    def lines(self) -> list[str]:
        """What was found, by path and line."""
        return [
            f"{label}:{line}:{_clipped(self._found[label, line])}"
            for label, line in sorted(self._found)
        ]

    def _label_of(self, path: bytes) -> str | None:
        name = printed_name(path)
        if not self._targets.covers(name, hidden=True):
            return None
        return shown_name(name, self._workspace)


def _clipped(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return (text[:MAX_LINE_LENGTH] + ELLIPSIS) if len(text) > MAX_LINE_LENGTH else text.rstrip()


def _checked(pattern: str) -> str:
    if not pattern.strip():
        raise ToolFailure(FailureKind.INVALID_ARGS, "search: the pattern is blank")
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"search: the pattern is longer than {MAX_PATTERN_LENGTH} characters",
        )
    if "\0" in pattern:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, "search: the pattern has a NUL in it", "write it as \\x00"
        )
    try:
        os.fsencode(pattern)
    except UnicodeEncodeError:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, "search: the pattern has half of a character in it"
        ) from None
    return pattern


def _refusal(complaint: str) -> ToolFailure:
    """What `rg` says of a pattern, without advice about options that nobody can give here."""
    first = complaint.removeprefix("rg: ").strip().split("\n\n")[0]
    reason = first.rpartition("error: ")[2] if "error: " in first else first
    hint = "escape what is meant literally"
    if "look-around" in reason or "backreferences" in reason:
        hint = "write it without"
    if "literal" in reason and "\\n" in reason:
        hint = "a match lies within one line"
    return ToolFailure(FailureKind.INVALID_ARGS, f"search: {reason.strip()}", hint)


def is_cacheable(arguments: JsonObject) -> bool:
    """A search has the same result until a file changes."""
    return True


SEARCH = Tool(definition=DEFINITION, run=search, is_cacheable=is_cacheable)

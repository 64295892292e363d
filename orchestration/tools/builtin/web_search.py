"""The `web_search` tool: what the `search` program finds with the user's own keys."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from engine.vocabulary.tools import JsonObject, ToolConcurrency, ToolDefinition, ToolTier
from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.shell_environment import inherited_environment
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace.process import (
    Command,
    CommandNotStarted,
    Ending,
    Finished,
    run_command,
)

TIMEOUT_S = 60.0
HIDDEN = "[key]"

_PLACES = ("~/.cargo/bin", "/opt/homebrew/bin", "/usr/local/bin")
_REASON_CHARACTERS = 400

DEFINITION = ToolDefinition(
    name="web_search",
    description="Search the web. Gives the results as JSON; read the pages that matter with read.",
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "query": {"type": "string", "description": "What to search for."},
            "mode": {
                "type": ["string", "null"],
                "pattern": "^[a-z][a-z_-]*$",
                "description": "A kind of search, such as `news` or `academic`.",
            },
            "count": {
                "type": ["integer", "null"],
                "minimum": 1,
                "maximum": 100,
                "description": "How many results to give.",
            },
            "_i": INTENT,
        },
        "required": ["query"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


def web_search_tool(settings: ToolSettings, keys: Mapping[str, str]) -> Tool | None:
    """The tool for these keys, `None` where there is none to search with.

    Args:
        settings: they may name the program.
        keys: providers and their secret keys; blank ones do not count.
    """
    usable = {provider: key.strip() for provider, key in keys.items() if key.strip()}
    if not usable:
        return None
    return Tool(definition=DEFINITION, run=partial(_search, settings.search_program, usable))


async def _search(
    configured: str | None, keys: dict[str, str], arguments: JsonObject, context: ToolContext
) -> ToolOutput:
    query = str(arguments["query"]).strip()
    if not query or "\0" in query:
        raise ToolFailure(FailureKind.INVALID_ARGS, "web_search: the query is blank or no text")
    options = ["-q", query, "--json"]
    if (mode := arguments.get("mode")) is not None:
        options += ["-m", str(mode)]
    if (count := arguments.get("count")) is not None:
        options += ["-c", str(count)]
    program = await asyncio.to_thread(_program, configured)
    command = Command(
        argv=(program, *options),
        cwd=context.workspace.root,
        env={**inherited_environment(), **{_variable(name): key for name, key in keys.items()}},
        timeout_s=TIMEOUT_S,
        keeps_errors=False,
    )
    try:
        finished = await run_command(command)
    except CommandNotStarted as reason:
        raise ToolFailure(
            FailureKind.FAILED, f"the search program was not started: {reason}"
        ) from None
    return ToolOutput(_answer(finished, keys))


def _answer(finished: Finished, keys: dict[str, str]) -> str:
    text = finished.text
    for key in keys.values():
        text = text.replace(key, HIDDEN)
    if finished.end.ending is Ending.TIMED_OUT:
        raise ToolFailure(FailureKind.TIMEOUT, f"the search took more than {TIMEOUT_S:g} s")
    match finished.end.exit_code:
        case 0:
            return text.strip() or "[no results]"
        case 2:
            raise ToolFailure(
                FailureKind.PERMISSION_DENIED,
                "the search service refused the key",
                "the user has to check the search keys in the settings",
            )
        case 3:
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"the search program does not take these arguments{_reason(text)}",
                "try without mode and count",
            )
        case 4:
            raise ToolFailure(
                FailureKind.FAILED, "the search service takes no more searches now (429)"
            )
        case code:
            how = "was killed" if code is None else f"ended with code {code}"
            raise ToolFailure(FailureKind.FAILED, f"the search program {how}{_reason(text)}")


def _reason(text: str) -> str:
    words = " ".join(text.split())
    return f": {words[:_REASON_CHARACTERS]}" if words else ""


def _variable(provider: str) -> str:
    return "SEARCH_KEYS_" + re.sub(r"\W", "_", provider, flags=re.ASCII).upper()


def _program(configured: str | None) -> str:
    """Where the search program is."""
    if configured:
        path = Path(configured).expanduser()
        if path.is_file():
            return str(path.absolute())
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"the search program '{configured}' does not exist",
            "the user has to name another one in the settings",
        )
    found = shutil.which("search")
    for place in _PLACES:
        found = found or shutil.which("search", path=str(Path(place).expanduser()))
    if found is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            "the program 'search' is not installed",
            "the user has to install it or name it in the settings; go on without searching",
        )
    return found

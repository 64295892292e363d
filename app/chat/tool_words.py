"""Tool calls in words: a verb for the name, a target for the arguments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.chat.rows import ToolLine
from app.kit.formats import duration_text, plural
from app.kit.visible import visible, visible_name

_NAMES = {
    "read": "Read File",
    "write": "Write File",
    "edit": "Edit File",
    "apply_patch": "Apply Patch",
    "bash": "Run Command",
    "search": "Search Files",
    "find": "Search Folders",
    "ls": "List Folder",
    "ast_grep": "AST Search",
    "ast_edit": "AST Edit",
    "web_search": "Search the Web",
    "openflow_update_todo_list": "Update Progress",
    "openflow_call_subagent": "Call Subagent",
    "openflow_declare_subagents": "Declare Subagents",
    "openflow_submit_node_output": "Submit Output",
    "openflow_request_user_input": "Request Input",
    "openflow_ask_user_question": "Ask Question",
    "openflow_write_plan_artifact": "Seal Plan",
}
_TARGET_KEYS = ("intent", "_i", "path", "file_path", "command", "query", "url", "subagent_id")
_TARGET_LENGTH = 80


def tool_name(name: str) -> str:
    """What a person calls the tool; an unknown one keeps its own name."""
    return _NAMES.get(name) or visible_name(name)


def tool_target(arguments: Mapping[str, Any]) -> str:
    """What the call is about, in at most one short line."""
    pattern = arguments.get("pattern")
    if isinstance(pattern, str) and pattern:
        place = arguments.get("path") or arguments.get("paths") or ""
        where = f" in {place}" if isinstance(place, str) and place else ""
        return _one_line(f"{pattern}{where}")
    for key in _TARGET_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return _one_line(value)
    return ""


def pretty(value: Any) -> str:
    """A JSON value, indented, for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def call_text(arguments: Mapping[str, Any]) -> str:
    """All arguments of a call, one below the other, texts of several lines as they are."""
    parts: list[str] = []
    for name, value in arguments.items():
        key = visible_name(name)
        if isinstance(value, str) and "\n" in value:
            lines = value.removesuffix("\n").split("\n")
            parts.append(f"{key}:\n" + "\n".join(f"  {line}" for line in lines))
        elif isinstance(value, str):
            parts.append(f"{key}: {value}")
        else:
            parts.append(f"{key}: {pretty(value)}")
    return "\n".join(parts) or "(no arguments)"


def _one_line(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _TARGET_LENGTH else line[: _TARGET_LENGTH - 1] + "…"


def stack_words(calls: Sequence[ToolLine]) -> tuple[str, str, str]:
    """A run of calls in short: how many of what, what stands out, and the status to show."""
    counts = Counter(call.name for call in calls)
    parts = [_count_words(name, count) for name, count in counts.items()]
    words = ", ".join(parts)
    words = words[:1].upper() + words[1:]
    statuses = Counter(call.status for call in calls)
    live = next((each for each in reversed(calls) if each.status in ("running", "proposed")), None)
    if statuses["awaiting_approval"]:
        return words, "waits for your approval", "awaiting_approval"
    if live is not None:
        return words, f"now {live.verb} {live.target}".rstrip(), "running"
    told = [
        f"{statuses[status]} {name}"
        for status, name in (("failed", "failed"), ("blocked", "denied"), ("aborted", "stopped"))
        if statuses[status]
    ]
    seconds = sum(call.seconds or 0.0 for call in calls)
    told.append(duration_text(seconds))
    worst = next((each for each in ("failed", "blocked", "aborted") if statuses[each]), "completed")
    return words, " · ".join(told), worst


_COUNTED = {
    "read": ("read", "file"),
    "bash": ("ran", "command"),
    "search": ("searched", "time"),
    "find": ("looked for files", "time"),
    "ls": ("listed", "folder"),
    "ast_grep": ("searched code", "time"),
    "web_search": ("searched the web", "time"),
    "web_fetch": ("read", "page"),
}


def _count_words(name: str, count: int) -> str:
    known = _COUNTED.get(name)
    if known is None:
        return f"{tool_name(name)} ({count})" if count > 1 else tool_name(name)
    return f"{known[0]} {plural(count, known[1])}"

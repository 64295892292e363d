"""Tool calls in words: a verb for the name, a target for the arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
    return _NAMES.get(name, name)


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
    for key, value in arguments.items():
        if isinstance(value, str) and "\n" in value:
            lines = value.removesuffix("\n").split("\n")
            parts.append(f"{key}:\n" + "\n".join(f"  {line}" for line in lines))
        elif isinstance(value, str):
            parts.append(f"{key}: {value}")
        else:
            parts.append(f"{key}: {pretty(value)}")
    return "\n".join(parts) or "(no arguments)"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TARGET_LENGTH else line[: _TARGET_LENGTH - 1] + "…"

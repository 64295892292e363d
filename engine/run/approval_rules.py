"""'Allow for this run': the rules that one allowed call makes, and the calls that they admit.

A rule names a tool and an exact target. A call is admitted if there is a rule for each of its
targets; a call whose targets are not certain makes no rule and is admitted by none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from engine.run.shell_classifier import segments
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalRule,
    JsonObject,
    RuleProposal,
    ToolCall,
)

_PATH_TOOLS = frozenset({"read", "ls", "write", "edit"})
_PATCH_FRAME = ("*** Begin Patch", "*** End Patch", "*** End of File")
_PATCH_FILES = ("*** Add File: ", "*** Update File: ")
_SECTION = "¶"
_SECTION_HEADER = re.compile(r"¶([^#¶]+)#[0-9A-Fa-f]{4}[ \t]*")
# What a call is for, and how long it may take, is not what it does.
_NO_MATTER = frozenset({"_i", "timeout"})
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def proposal(call: ToolCall) -> RuleProposal | None:
    """What 'allow for this run' would allow; `None` where there is no such choice."""
    targets = _targets(call)
    if targets is None:
        return None
    rules = tuple(ApprovalRule(call.name, target) for target in targets)
    if call.name == "bash":
        like, near = _commands(call.arguments)
    elif call.name in _PATH_TOOLS or call.name == "apply_patch":
        like, near = targets[0], _sibling(targets)
    else:
        like, near = targets[0], "with any other arguments"
    return RuleProposal(rules, f"{call.name} {like}", f"{call.name} {near}")


def allows(rules: Collection[ApprovalRule], call: ToolCall) -> bool:
    """Whether the rules admit the call, each of its targets included."""
    if not rules:
        return False
    targets = _targets(call)
    return targets is not None and all(
        ApprovalRule(call.name, target) in rules for target in targets
    )


def _targets(call: ToolCall) -> tuple[str, ...] | None:
    """At least one target, each once, or `None`."""
    if call.arguments_error is not None or call.name == SEAL_PLAN_TOOL:
        return None
    if call.name == "bash":
        return _command_targets(call.arguments)
    if call.name == "apply_patch":
        paths = _patched(call.arguments.get("input"))
    elif call.name in _PATH_TOOLS:
        paths = _named(call)
    else:
        return (_exactly(call.arguments),)
    targets = [_path(path) for path in paths or ()]
    sure = tuple(dict.fromkeys(target for target in targets if target is not None))
    return sure if sure and None not in targets else None


def _command_targets(arguments: JsonObject) -> tuple[str, ...] | None:
    """Each segment where the command is sure to consist of them, else the command as it stands.

    A plain segment never begins with a brace, so it is told from the JSON of the other targets.
    """
    command, around = arguments.get("command"), _around(arguments)
    if not isinstance(command, str) or not _is_visible(command):
        return None
    parts = _parts(command, around)
    if parts is None or around:
        parts = tuple(_exactly({"command": part} | around) for part in parts or (command,))
    return tuple(dict.fromkeys(parts))


def _around(arguments: JsonObject) -> JsonObject:
    """The folder and the variables of a command, where they are not those of the run."""
    found = {key: arguments[key] for key in ("cwd", "env") if arguments.get(key)}
    return {key: value for key, value in found.items() if value not in (".", "./")}


def _parts(command: str, around: JsonObject) -> tuple[str, ...] | None:
    return None if "env" in around else segments(command)


def _commands(arguments: JsonObject) -> tuple[str, str]:
    command, around = str(arguments["command"]), _around(arguments)
    parts = _parts(command, around) or (command,)
    near = f"{parts[-1]} --more"
    while near in parts:
        near += " --more"
    where = f" (in {around['cwd']})" if "cwd" in around else ""
    return parts[-1] + where, near + where


def _named(call: ToolCall) -> list[str] | None:
    """The paths of a call that names one in `path`, or several in the sections of an edit."""
    paths: list[str] = []
    path, sections = call.arguments.get("path"), call.arguments.get("input")
    if path is not None:
        if not isinstance(path, str):
            return None
        paths.append(path)
    if call.name == "edit" and sections is not None:
        lines = _lines(sections)
        if lines is None:
            return None
        for line in lines:
            if _SECTION in line:
                header = _SECTION_HEADER.fullmatch(line)
                if header is None:
                    return None
                paths.append(header[1].strip())
    return paths


def _patched(patch: object) -> list[str] | None:
    """The files that a patch adds or updates; `None` for one that also does something else."""
    paths = []
    for line in _lines(patch) or ():
        if line.strip() in _PATCH_FRAME:
            continue
        prefix = next((prefix for prefix in _PATCH_FILES if line.startswith(prefix)), None)
        if prefix is not None:
            paths.append(line.removeprefix(prefix).strip())
        elif line.lstrip().startswith("***"):
            return None
    return paths


def _lines(text: object) -> list[str] | None:
    """The lines of a text about whose line ends nobody can be in doubt."""
    if not isinstance(text, str):
        return None
    lines = text.splitlines()
    return lines if len(lines) == len(text.removesuffix("\n").split("\n")) else None


def _path(text: str) -> str | None:
    path = text
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    if not path.strip() or not path.isprintable() or ".." in path.replace("\\", "/").split("/"):
        return None
    return path


def _sibling(targets: tuple[str, ...]) -> str:
    folder, slash, name = targets[0].rpartition("/")
    dot = name.find(".", 1)
    end = dot if dot > 0 else len(name)
    number = 2
    while (near := f"{folder}{slash}{name[:end]}{number}{name[end:]}") in targets:
        number += 1
    return near


def _exactly(arguments: JsonObject) -> str:
    return _encode({key: value for key, value in arguments.items() if key not in _NO_MATTER})


def _is_visible(command: str) -> bool:
    return bool(command.strip()) and command.replace("\n", "").replace("\t", "").isprintable()

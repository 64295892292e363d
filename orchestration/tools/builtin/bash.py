"""The `bash` tool: a shell command in the execution folder, gone with all it started at the end."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from pathlib import Path
from typing import NamedTuple

from engine.vocabulary.tools import (
    CallPreview,
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.tools.builtin.read import INTENT
from orchestration.tools.shell_environment import shell_argv, shell_environment
from orchestration.tools.tool import (
    FailureKind,
    Inspected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from orchestration.workspace.command import CommandEnd
from orchestration.workspace.paths import PathRefused
from orchestration.workspace.process import (
    Command,
    CommandNotStarted,
    Ending,
    Finished,
    run_command,
)
from orchestration.workspace.sandbox import SandboxUnavailable, sandbox_program, sandboxed

DEFAULT_TIMEOUT_S, SHORTEST_S, LONGEST_S = 300, 1, 3600
MAX_COMMAND_BYTES = 100_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

DEFINITION = ToolDefinition(
    name="bash",
    description=(
        "Run a shell command and get what it prints, errors included, and its exit code. Nobody "
        "can answer it: standard input is closed, pagers and prompts are off. Everything that it "
        "started ends with the call, background processes too, so a server has to be started, "
        "used and ended in one command. To read, search and edit files, use the tools for that."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "command": {"type": "string", "description": "What bash is to run."},
            "timeout": {
                "type": ["number", "null"],
                "description": (
                    f"Seconds until it is ended, {SHORTEST_S} to {LONGEST_S}; "
                    f"{DEFAULT_TIMEOUT_S} without a value."
                ),
            },
            "env": {
                "type": ["object", "null"],
                "additionalProperties": {"type": "string"},
                "description": "Variables to set for the command, over all others.",
            },
            "cwd": {
                "type": ["string", "null"],
                "description": "The folder to run it in; the execution folder without a value.",
            },
            "_i": INTENT,
        },
        "required": ["command"],
    },
    tier=ToolTier.WRITE,
    concurrency=ToolConcurrency.NODE_EXCLUSIVE,
)


class _Request(NamedTuple):
    """A call's arguments, checked."""

    command: str
    cwd: Path
    env: dict[str, str]
    timeout_s: float
    notices: tuple[str, ...]


async def bash(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    request = await asyncio.to_thread(_checked, arguments, context)
    env, folders = shell_environment(request.env), context.workspace.folders
    sandbox = None
    try:
        if context.services.settings.shell_sandbox:
            sandbox = await sandbox_program(request.cwd, env, folders)
        command = Command(
            argv=await shell_argv(request.command, request.env, request.cwd),
            cwd=request.cwd,
            env=env,
            timeout_s=request.timeout_s,
        )
        if sandbox is not None:
            command = sandboxed(sandbox, command, folders)
        finished = await run_command(command, context.update)
    except SandboxUnavailable as reason:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED,
            f"commands may only run in a sandbox, and there is none: {reason}",
            "nothing ran; the user can install bubblewrap or switch the sandbox off in the "
            "settings of tools",
        ) from None
    except CommandNotStarted as reason:
        raise ToolFailure(FailureKind.FAILED, f"the command was not started: {reason}") from None
    return _output(request, finished, is_sandboxed=sandbox is not None)


async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
    """Find out where the command would run."""
    request = await asyncio.to_thread(_checked, arguments, context)
    label = context.workspace.label(request.cwd)
    return Inspected((f"cwd:{request.cwd}",), CallPreview(cwd=label))


def _checked(arguments: JsonObject, context: ToolContext) -> _Request:
    command = str(arguments["command"])
    if not command.strip():
        raise ToolFailure(FailureKind.INVALID_ARGS, "bash: the command is blank")
    size = len(_passable("the command", command))
    if size > MAX_COMMAND_BYTES:
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"bash: the command has {size} bytes, and at most {MAX_COMMAND_BYTES} are taken",
            "write it to a file and run that",
        )
    env = {str(name): str(value) for name, value in (arguments.get("env") or {}).items()}
    for name, value in env.items():
        if not _NAME.fullmatch(name):
            raise ToolFailure(
                FailureKind.INVALID_ARGS,
                f"bash: env: '{name}' is no name of a variable",
                "a name has letters, digits and underscores and does not begin with a digit",
            )
        _passable(f"the value of {name}", value)
    asked = arguments.get("timeout")
    wanted = DEFAULT_TIMEOUT_S if asked is None else asked
    timeout_s = float(min(LONGEST_S, max(SHORTEST_S, wanted)))
    notices: tuple[str, ...] = ()
    if timeout_s != wanted:
        notices = (
            f"[the timeout was set to {timeout_s:g} s: "
            f"what was asked for is not between {SHORTEST_S} and {LONGEST_S}]",
        )
    return _Request(command, _folder(arguments.get("cwd"), context), env, timeout_s, notices)


def _folder(cwd: str | None, context: ToolContext) -> Path:
    workspace = context.workspace
    try:
        folder = workspace.root if cwd is None else workspace.resolve(cwd)
    except PathRefused as refusal:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED,
            f"bash: cwd: {refusal}",
            "name a folder in the execution folder",
        ) from None
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise ToolFailure(FailureKind.NOT_FOUND, f"bash: cwd: '{workspace.label(folder)}' {what}")
    return folder


def _passable(what: str, text: str) -> bytes:
    """The bytes of a text that can be handed to a program."""
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"bash: {what} is not text") from None
    if b"\0" in data:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"bash: {what} has a NUL character in it")
    return data


def _output(request: _Request, finished: Finished, *, is_sandboxed: bool) -> ToolOutput:
    end = finished.end
    is_good = end.ending is Ending.EXITED and end.exit_code == 0
    notices = [*request.notices, f"[wall time {end.wall_s:.2f} s]"]
    if finished.dropped_bytes:
        notices.append(f"[{finished.dropped_bytes} bytes of the output's middle were not kept]")
    if not is_good:
        notices.append(_how_it_ended(end, request.timeout_s))
        if is_sandboxed:
            notices.append("[in a sandbox: no network, and only the execution folder is writable]")
    if end.survivors:
        notices.append(f"[{end.survivors} processes of another user could not be ended]")
    body = finished.text.rstrip("\n") or "[no output]"
    return ToolOutput("\n".join((body, "", *notices)), is_error=not is_good)


def _how_it_ended(end: CommandEnd, timeout_s: float) -> str:
    if end.ending is Ending.TIMED_OUT:
        return f"[timed out after {timeout_s:g} s; everything that it had started was ended]"
    if end.exit_code is None:
        return "[it killed the process that watches over it, so everything was ended]"
    if end.exit_code < 0:
        return f"[ended by {_signal_name(-end.exit_code)}]"
    return f"[exit code {end.exit_code}]"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


BASH = Tool(definition=DEFINITION, run=bash, inspect=inspect, writes=True)

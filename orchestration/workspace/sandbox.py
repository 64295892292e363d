"""Run commands with bubblewrap: no network, and only the folders of the run can be written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from orchestration.workspace.process import Command, CommandNotStarted, Ending, run_command

_PROBE_S = 20.0
_PRIVATE = ("/tmp", "/var/tmp", "/run")
"""Empty in the sandbox. Sockets of services lie there, which no closed network would cut off."""
_KEPT = ("/run/current-system", "/run/wrappers")
"""Where some systems keep their programs, below a folder that is private."""

_proven: set[str] = set()


class SandboxUnavailable(Exception):
    """There is no sandbox here; the message says why."""


async def sandbox_program(cwd: Path, env: dict[str, str], folders: Iterable[Path]) -> str:
    """Find bubblewrap and see that the system lets it make such a sandbox; give its path.

    Args:
        cwd: a folder in one of `folders`.
        env: an environment.
        folders: existing folders by their real paths.

    Raises:
        SandboxUnavailable: it is not installed, or it does not work here.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxUnavailable("bubblewrap (the program 'bwrap') is not installed")
    if program not in _proven:
        nothing = Command(argv=("/bin/sh", "-c", ":"), cwd=cwd, env=env, timeout_s=_PROBE_S)
        await _prove(sandboxed(program, nothing, folders))
        _proven.add(program)
    return program


def sandboxed(program: str, command: Command, folders: Iterable[Path]) -> Command:
    """The command shut in by bubblewrap: `folders` can be written, the rest only be read.

    Nothing in there has a network, sees other processes, or lives on when the call ends.
    """
    # Later options go over earlier ones.
    options = ["--die-with-parent", "--unshare-net", "--unshare-pid", "--unshare-ipc"]
    options += ["--cap-drop", "ALL"]  # root could mount everything anew otherwise
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for place in _PRIVATE:
        if os.path.isdir(place) and not os.path.islink(place):
            options += ["--tmpfs", place]
    for place in _KEPT:
        options += ["--ro-bind-try", place, place]
    for folder in folders:
        options += ["--bind", str(folder), str(folder)]
    options += ["--chdir", str(command.cwd)]
    return Command(
        argv=(program, *options, "--", *command.argv),
        cwd=Path("/"),
        env={**command.env, "TMPDIR": "/tmp"},
        timeout_s=command.timeout_s,
        keeps_errors=command.keeps_errors,
    )


async def _prove(nothing: Command) -> None:
    try:
        finished = await run_command(nothing)
    except CommandNotStarted as error:
        raise SandboxUnavailable(f"bubblewrap cannot be started: {error}") from error
    if finished.end.ending is not Ending.EXITED or finished.end.exit_code != 0:
        words = " ".join(finished.text.split()) or "it gave no reason"
        raise SandboxUnavailable(f"bubblewrap does not work on this system: {words}")

"""Commands for the tests of processes, and a look at which processes are there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from pathlib import Path

import pytest

from orchestration.workspace import supervised_process
from orchestration.workspace.command import Command
from orchestration.workspace.supervised_process import marked_processes

PATIENCE_S = 60.0
BASH = shutil.which("bash") or "/bin/bash"
TEST_MARK = "COMMAND_OF_TEST"


def shell(script: str, cwd: Path, timeout_s: float = PATIENCE_S, **env: str) -> Command:
    """What runs a script, with nothing read before it; its processes carry the folder's name."""
    return Command(
        argv=(BASH, "-c", script),
        cwd=cwd,
        env={"PATH": os.environ["PATH"], TEST_MARK: str(cwd), **env},
        timeout_s=timeout_s,
    )


def alive(cwd: Path) -> set[int]:
    """The processes of commands in this folder that run."""
    return marked_processes(f"{TEST_MARK}={cwd}".encode())


def named(word: str) -> set[int]:
    """The processes with this word among their arguments, whatever their environment."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


async def until_there(path: Path) -> str:
    """Wait for a file with a whole line in it; give what it says."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(FileNotFoundError):
                text = path.read_text()  # noqa: ASYNC240 - a few bytes, in a test
                if text.endswith("\n"):
                    return text
            await asyncio.sleep(0.01)


def leap_when_there(path: Path, patch: pytest.MonkeyPatch) -> None:
    """Let an hour go by for those who follow commands as soon as the file is there."""
    real = time.monotonic
    patch.setattr(
        supervised_process, "monotonic", lambda: real() + (3600.0 if path.exists() else 0.0)
    )


def wait_until_gone(cwd: Path, word: str = "") -> None:
    """Fail if processes of commands in this folder, or with this word, go on running."""
    until = time.monotonic() + PATIENCE_S
    while left := alive(cwd) | (named(word) if word else set()):
        assert time.monotonic() < until, f"still alive: {left}"
        time.sleep(0.01)

"""The parts of the supervisor that can be looked at by themselves."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from orchestration.workspace import process_supervisor
from orchestration.workspace.process_supervisor import descendants, encode_spec, parse_ps
from tests.support.command_rig import PATIENCE_S, alive, shell, until_there

SUPERVISOR = process_supervisor.__file__


def test_descendants_are_found_at_any_depth_each_after_its_parent() -> None:
    script = "sh -c 'echo $$; cat; :' ; :"
    with subprocess.Popen(
        ["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        found = descendants(os.getpid())
        assert found.index(process.pid) < found.index(grandchild)
        assert process.pid not in descendants(process.pid)
        process.communicate()
    assert not {process.pid, grandchild} & set(descendants(os.getpid()))


def test_the_listing_of_other_systems_is_read() -> None:
    listing = "    1     0 Ss\n  501     1 S+\n  777   501 Z\n  778   501 R<\n"
    assert parse_ps(listing) == {1: 0, 501: 1, 778: 501}


def test_nothing_runs_if_the_caller_is_gone_before_the_command_was_named(tmp_path: Path) -> None:
    spec = encode_spec(
        {
            "argv": ["/bin/sh", "-c", "echo > ran"],
            "cwd": str(tmp_path),
            "env": {},
            "keeps_errors": True,
        }
    )
    for told in (b"", spec[:5], spec[:-1]):
        told_nothing = subprocess.run(
            [sys.executable, "-I", "-S", SUPERVISOR], input=told, capture_output=True, check=True
        )
        assert (told_nothing.stdout, told_nothing.stderr) == (b"", b"")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("how", ["closed", "reset"])
def test_everything_ends_when_the_caller_is_gone(tmp_path: Path, how: str) -> None:
    ours, theirs = socket.socketpair()
    command = shell("setsid sleep 300 & sleep 300 & echo begun > begun; wait", tmp_path)
    with theirs:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", SUPERVISOR], stdin=theirs.fileno()
        )
    with supervisor, ours:
        ours.sendall(
            encode_spec(
                {
                    "argv": list(command.argv),
                    "cwd": str(tmp_path),
                    "env": command.env,
                    "keeps_errors": True,
                }
            )
        )
        asyncio.run(until_there(tmp_path / "begun"))
        if how == "closed":  # otherwise what it told is never read, which resets the connection
            assert ours.recv(1) == b"s"
            while b"\n" not in ours.recv(100):
                pass
        ours.close()
        assert supervisor.wait(PATIENCE_S) == 0
    assert not alive(tmp_path)

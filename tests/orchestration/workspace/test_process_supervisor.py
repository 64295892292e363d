"""The parts of the supervisor that can be looked at by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from orchestration.workspace import process_supervisor
from orchestration.workspace.process_supervisor import descendants, encode_spec, parse_ps

SUPERVISOR = process_supervisor.__file__


def test_descendants_are_found_at_any_depth() -> None:
    script = "sh -c 'echo $$; cat; :' ; :"
    with subprocess.Popen(
        ["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        assert {process.pid, grandchild} <= descendants(os.getpid())
        assert process.pid not in descendants(process.pid)
        process.communicate()
    assert not {process.pid, grandchild} & descendants(os.getpid())


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

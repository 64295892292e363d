"""A run whose program is killed at any moment goes on: nothing is done twice, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import CallStatus
from orchestration.backend import Backend
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus
from tests.support.durable_run import CALLS, TURNS, say
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import ScriptedModel
from tests.support.source_tree import CHECKOUT

KILLS = 100
AT_ONCE = 4
MOST_STEPS = 200
"""Before a kill, at most; a run that is left alone has some 500."""
KILLED = -9
READING = {"read"}
BY_THE_ENGINE = {"openflow_declare_subagents", "openflow_call_subagent"}
WRITING = sum(
    name not in READING | BY_THE_ENGINE
    for turns in TURNS.values()
    for turn in turns
    for name, _ in turn
)


class Program:
    """The program that is killed; it serves one order after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def carry_on(self, folder: Path, last_step: int) -> int:
        """Let it carry the run on until this step; gives how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder} {last_step}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[list[Program]]:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)}
    with ExitStack() as stack:
        yield [
            Program(
                stack.enter_context(
                    subprocess.Popen(
                        [sys.executable, "-m", "tests.support.durable_run"],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        text=True,
                        env=environment,
                        cwd=CHECKOUT,
                    )
                )
            )
            for _ in range(AT_ONCE)
        ]


def kill_and_carry_on(program: Program, folder: Path, seed: int, kills: int) -> list[Path]:
    """Kill the program so many times, each in a step drawn by lot; gives the runs' folders."""
    chance = random.Random(seed)
    folders: list[Path] = []
    while kills > 0:
        run = folder / f"{seed}-{len(folders)}"
        folders.append(run)
        status = KILLED
        while status == KILLED:
            status = program.carry_on(run, chance.randint(1, MOST_STEPS) if kills > 0 else 0)
            kills -= status == KILLED
        assert status == 0, f"the program failed in {run}"
    return folders


def files(folder: Path) -> dict[str, bytes]:
    """What the run wrote; a kill may leave a hidden file that nobody reads."""
    found = sorted((folder / "project").iterdir())
    return {path.name: path.read_bytes() for path in found if not path.name.startswith(".")}


async def look_at(folder: Path) -> RunView:
    """The one stored run of a folder."""
    backend: Backend = scripted_backend(ScriptedModel(say), folder / "data")
    try:
        (stored,) = await backend.runs()
        assert stored.status is RunStatus.COMPLETED
        assert not stored.driven_by
        return await backend.replay(stored.run_id)
    finally:
        await backend.aclose()


def settled(folder: Path) -> dict[str, list[str]]:
    """What became of the calls of unknown end, by call id."""
    found: dict[str, list[str]] = {}
    path = folder / "uncertain"
    for line in path.read_text().splitlines() if path.exists() else ():
        call_id, choice = line.split()
        found.setdefault(call_id, []).append(choice)
    return found


def check(folder: Path, outputs: dict[str, Any], written: dict[str, bytes]) -> Counter[str]:
    """See that the run is as if nobody had killed it; gives what was uncertain."""
    view = asyncio.run(look_at(folder))
    assert view.outputs == outputs
    assert files(folder) == written
    calls = {
        call.call_id: call for of_node in view.tool_calls.values() for call in of_node.values()
    }
    assert len(calls) == CALLS
    assert {call.status for call in calls.values()} <= {CallStatus.COMPLETED, CallStatus.FAILED}
    assert not view.uncertain_calls
    begun = Counter((folder / "begun").read_text().split())
    uncertain = settled(folder)
    may_write = {
        call_id for call_id, call in calls.items() if call.tool_name not in READING | BY_THE_ENGINE
    }
    assert set(begun) == may_write
    assert len(may_write) == WRITING
    for call_id, times in begun.items():
        redone = uncertain.get(call_id, []).count("redo")
        assert times <= 1 + redone, f"{call_id} ran {times} times"
        if call_id not in uncertain:
            assert calls[call_id].status is CallStatus.COMPLETED, calls[call_id]
    return Counter(choice for choices in uncertain.values() for choice in choices)


@pytest.mark.timeout(1200)
def test_100_kills_leave_runs_that_end_as_if_there_had_been_none(
    programs: list[Program], tmp_path: Path
) -> None:
    undisturbed = tmp_path / "undisturbed"
    assert programs[0].carry_on(undisturbed, 0) == 0
    view = asyncio.run(look_at(undisturbed))
    assert check(undisturbed, view.outputs, files(undisturbed)) == {}

    with ThreadPoolExecutor(AT_ONCE) as threads:
        jobs = [
            threads.submit(kill_and_carry_on, program, tmp_path, seed, KILLS // AT_ONCE)
            for seed, program in enumerate(programs)
        ]
        folders = [folder for job in jobs for folder in job.result()]

    uncertain: Counter[str] = Counter()
    for folder in folders:
        assert json.loads((folder / "end.json").read_text())["status"] == "completed"
        uncertain += check(folder, view.outputs, files(undisturbed))
    assert uncertain["redo"] > 0, "no kill hit a call"

"""The program is killed in the middle of its calls: no process lives on, no file is half a file."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_rig import PATIENCE_S, wait_until_gone
from tests.support.kill_target import FILES, is_whole
from tests.support.source_tree import CHECKOUT

KILLS = 200
AT_ONCE = 4
MOST_STEPS = 60
"""Calls that have begun or ended before a kill, at most; there are some hundreds a second."""
NAMES = {f"{number}.txt" for number in range(FILES)}
LONG = f"300.{os.getpid()}"
LEFTOVER = re.compile(r"\.openflow-[0-9a-f]{16}\.tmp")
"""What a kill between naming a new version and putting it in place leaves: hidden, never read."""


class Targets:
    """The program that is killed, over and over."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def begin(self, number: int) -> tuple[int, Path]:
        """Start one that makes calls; give its id and its folder."""
        folder = self._folder / str(number)
        (folder / "project").mkdir(parents=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{folder} {number} {LONG}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline()), folder


def wait_for_steps(folder: Path, steps: int) -> None:
    """Wait until so many calls have begun or ended."""
    progress = folder / "progress"
    until = time.monotonic() + PATIENCE_S
    while not progress.exists() or progress.stat().st_size < steps:
        assert time.monotonic() < until, f"there are no {steps} steps"
        time.sleep(0.002)


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[Targets]:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "tests.support.kill_target"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=CHECKOUT,
    ) as process:
        yield Targets(process, tmp_path / "runs")


@pytest.mark.timeout(1200)
def test_200_kills_leave_no_process_and_no_half_of_a_file(targets: Targets) -> None:
    chance = random.Random(9)
    living: deque[tuple[int, Path]] = deque()
    killed: list[Path] = []
    for number in range(KILLS):
        living.append(targets.begin(number))
        if len(living) == AT_ONCE or number >= KILLS - AT_ONCE:
            pid, folder = living.popleft()
            wait_for_steps(folder, chance.randint(1, MOST_STEPS))
            time.sleep(chance.random() / 200)  # to be somewhere within a call; nothing waits for it
            os.kill(pid, signal.SIGKILL)
            killed.append(folder)
    for pid, folder in living:
        wait_for_steps(folder, 1)
        os.kill(pid, signal.SIGKILL)
        killed.append(folder)

    assert len(killed) == KILLS
    for folder in killed:
        wait_until_gone(folder, LONG)
        for path in (folder / "project" / "deep").glob("*"):
            if not LEFTOVER.fullmatch(path.name):
                assert path.name in NAMES, path
                assert is_whole(path.read_bytes()), f"half of a file: {path}"
    told = "".join((folder / "progress").read_text() for folder in killed)
    assert "!" not in told, "a write failed"
    assert told.count("W") > KILLS, "most were killed before they had written anything"
    assert told.count("b") - told.count("B") > KILLS / 2, "too few commands were under way"
    assert told.count("w") - told.count("W") > KILLS / 2, "too few writes were under way"

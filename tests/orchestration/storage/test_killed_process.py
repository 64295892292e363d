"""What a process was promised is there after it was killed, wherever it was."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.vocabulary.inputs import TimerFired
from orchestration.storage.errors import RunIsDriven
from orchestration.storage.facts import RecordedRun
from tests.support.source_tree import CHECKOUT
from tests.support.storage_rig import stored_runs
from tests.support.storage_victim import RUN

COMMAND = (sys.executable, "-m", "tests.support.storage_victim")


def victim(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, str(folder)], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    )


def said_until_killed(folder: Path, after: int) -> list[str]:
    """Let it say so many lines, kill it, and give all that it said."""
    with victim(folder) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(after)]
        process.kill()
        said += [line.strip() for line in process.stdout]
    return said


def stored(folder: Path) -> RecordedRun:
    async def load() -> RecordedRun:
        async with stored_runs(folder) as store:
            return await store.load(RUN)

    return asyncio.run(load())


def test_nothing_that_was_waited_for_is_lost(tmp_path: Path) -> None:
    chance = random.Random(7)
    began: set[str] = set()
    ended: set[str] = set()
    for _ in range(6):
        for line in said_until_killed(tmp_path, chance.randint(1, 60)):
            word, _, number = line.partition(" ")
            if word == "began":
                began.add(number)
            elif word == "ended":
                ended.add(number)

        run = stored(tmp_path)
        effects = (tmp_path / "effects").read_text().split()
        open_calls = {call.call.call.id for call in run.open_calls}
        with closing(sqlite3.connect(tmp_path / "openflow.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        known = set(run.ends) | open_calls
        assert ended <= set(run.ends)
        assert began <= known
        # No call had its effect without its intent, and none twice.
        assert set(effects) <= known
        assert len(effects) == len(set(effects))
        # What ended had its effect, and of each life at most the last call is in doubt.
        assert set(run.ends) <= set(effects)
        # What was written before an intent is there with it, in order.
        times = [given.at for given in run.inputs if isinstance(given, TimerFired)]
        assert times == sorted(set(times))
        assert {str(int(at)) for at in times} >= known
    assert len(ended) > 20


def test_a_run_that_is_driven_is_refused_until_its_process_is_gone(tmp_path: Path) -> None:
    async def resume() -> RecordedRun:
        async with stored_runs(tmp_path) as store:
            return (await store.resume_run(RUN, is_reading=lambda call: False)).recorded

    async def status() -> tuple[str, bool, bool]:
        async with stored_runs(tmp_path) as store:
            (run,) = await store.list_runs()
            return run.driven_by, run.was_cut_off, run.can_resume

    with victim(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(RunIsDriven, match=f"process {process.pid} on this computer"):
            asyncio.run(resume())
        assert asyncio.run(status()) == (f"process {process.pid}", False, False)
        process.kill()
        process.stdout.read()
    assert asyncio.run(status()) == ("", True, True)
    assert asyncio.run(resume()).opening.run_id == RUN

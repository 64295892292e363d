"""What looking back costs in the window: its list of 10,000 runs, opening a run of 5,000 events.

Run as `python -m benchmarks.history_window`, offscreen; `benchmarks.history` does it too. The
window is a real one over a real database. Wall is the time from the press until it is shown and
painted; CPU is that of the whole program, which other programs on the machine hardly change. A
block is how long the window's thread did not come round at once, in its own CPU time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")

import qasync
from PySide6.QtWidgets import QApplication

from app.first_window import window_with
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from app.program import Program
from benchmarks.checks import Check, verdict
from benchmarks.history import LIST_MS, OPEN_MS, store_events, store_runs, workflow
from benchmarks.stored_runs import Kept
from engine.graph.serialization import dump_workflow
from orchestration.composition import open_backend
from orchestration.storage.rebuilding import recorded_workflow

BLOCK_MS = 100.0
REPEATS = 5


class Shown:
    """How long it took until something was shown, in milliseconds."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.block: list[float] = []

    async def add(self, press: Callable[[], object], is_shown: Callable[[], object]) -> None:
        """Press, and wait until it is shown."""
        wall, cpu, last = time.perf_counter(), time.process_time(), time.thread_time()
        press()
        longest, last = time.thread_time() - last, time.thread_time()
        while not is_shown():
            await asyncio.sleep(0)
            longest, last = max(longest, time.thread_time() - last), time.thread_time()
        for _ in range(3):  # what is painted comes with the turns of the loop
            await asyncio.sleep(0)
        self.block.append(max(longest, time.thread_time() - last) * 1e3)
        self.wall.append((time.perf_counter() - wall) * 1e3)
        self.cpu.append((time.process_time() - cpu) * 1e3)

    def checks(self, name: str, limit: float) -> list[Check]:
        """Whether it is quick enough; the first time warms up."""
        wall, cpu, block = (
            statistics.median(each[1:]) for each in (self.wall, self.cpu, self.block)
        )
        said = f"{cpu:.0f} ms of CPU, {wall:.0f} ms wall"
        return [
            Check(f"window: {name}", said, f"<= {limit:.0f} ms", cpu <= limit),
            Check(
                f"window: blocked by {name}",
                f"{block:.0f} ms",
                f"<= {BLOCK_MS:.0f} ms",
                block <= BLOCK_MS,
            ),
        ]


async def stored(folder: Path, runs: int, events: int) -> Path:
    """Fill the data folder; gives the file of the workflow."""
    kept = await Kept(folder).open(workflow=recorded_workflow(workflow()))
    await store_runs(kept, runs - 1)
    await store_events(kept, events)
    await kept.database.run(
        lambda c: c.exec_driver_sql("UPDATE runs SET updated = 1e9 WHERE id = 'run'")
    )
    await kept.store.release(kept.number)
    await kept.database.aclose()
    path = folder / "flow.json"
    path.write_text(dump_workflow(workflow()))
    return path


async def measure(window: MainWindow, program: Program, events: int) -> list[Check]:
    """List and open, several times."""
    dock, tasks = window.dock, program.workbenches[0].tasks
    history = dock.history.runs

    async def settled() -> None:
        while tasks.count:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)

    async def away() -> None:
        dock.show_tab(0)
        history.model.show_runs((), has_more=False)
        await settled()

    program.begin()
    await settled()
    history.show_all()
    listed, opened = Shown(), Shown()
    for _ in range(REPEATS + 1):
        await away()
        await listed.add(window.actions_["history"].trigger, history.model.rowCount)
        await settled()
    for _ in range(REPEATS + 1):
        await away()
        window.actions_["history"].trigger()
        await settled()
        history.choose(["run"])
        await opened.add(lambda: history.asked.emit("replay"), dock.replay_bar.isVisible)
        await settled()
        dock.replay_bar.left.emit()
        await settled()
    return [
        *listed.checks("list of all runs", LIST_MS),
        *opened.checks(f"run of {events} events", OPEN_MS),
    ]


def in_the_window(runs: int, events: int) -> list[Check]:
    """Fill a data folder and measure over it."""
    application = QApplication([])
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        path = asyncio.run(stored(data, runs, events))
        window = window_with(path, WindowState(None))
        window.resize(1440, 900)
        window.show()
        window.furnish()

        async def scenario() -> list[Check]:
            program = Program(window, open_backend(data))
            try:
                return await measure(window, program, events)
            finally:
                await program.close()

        loop = qasync.QEventLoop(application)
        asyncio.set_event_loop(loop)
        with loop:
            found: list[Check] = loop.run_until_complete(scenario())
            return found


def main() -> int:
    """Measure, print, and say whether every target is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=5_000)
    options = parser.parse_args()
    return verdict(in_the_window(options.runs, options.events))


if __name__ == "__main__":
    sys.exit(main())

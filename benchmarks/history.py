"""What looking back costs: listing 10,000 stored runs, opening a run of 5,000 events.

    python -m benchmarks.history [--runs 10000] [--events 5000]

The calls that the window and the command line make, in one process, the median of several; then
the window itself, in a process of its own. CPU time counts, of all threads, which other programs on
the machine hardly change; on a quiet machine wall time is the same. A run is opened when its
projection stands: every event read, decoded and folded in. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.checks import Check, verdict
from benchmarks.stored_runs import Kept, opening_of, prose
from engine.graph.workflow import Workflow
from engine.vocabulary.events import (
    ChatMessage,
    NodeCompleted,
    NodeQueued,
    NodeStarted,
    PhaseTimed,
    RunEvent,
    ToolCallProposed,
    ToolCompleted,
    ToolStarted,
    UsageReported,
)
from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import ToolCall
from orchestration.runs.event_hub import EventHub
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import RunQuery
from orchestration.storage.event_log import EventLog
from orchestration.storage.rebuilding import recorded_workflow, view_of, workflow_of
from orchestration.storage.run_rows import insert_run

LIST_MS = 100.0
OPEN_MS = 300.0
REPEATS = 7
NODES = ("research", "draft", "review", "edit")


def workflow() -> Workflow:
    """Four agents without anything special."""
    agent = {"system_prompt": prose(2000, 1), "task_prompt": prose(2000, 2), "model": "m"}
    agent["output_schema"] = {"type": "object"}  # type: ignore[assignment]
    return Workflow.model_validate(
        {
            "id": "w",
            "name": "Workflow",
            "nodes": [
                {
                    "id": name,
                    "label": name.title(),
                    "kind": "agent",
                    "position": {"x": 0.0, "y": 0.0},
                    "agent": agent,
                }
                for name in NODES
            ],
            "edges": [],
        }
    )


def told(count: int) -> Iterator[RunEvent]:
    """So many events as long runs tell them: some seven to a tool turn."""
    number = 0
    for name in NODES:
        yield NodeQueued(name, name)
        yield NodeStarted(name, name)
    for at in range(count - 3 * len(NODES)):
        name = NODES[at // 7 % len(NODES)]
        call = ToolCall(f"call-{number}", "read", {"path": f"src/{number}.py"})
        match at % 7:
            case 0:
                number += 1
                yield ChatMessage(name, "assistant", prose(300, number))
            case 1:
                yield UsageReported(name, Usage(1000 + number, 100, 1100), "m", 200_000)
            case 2:
                yield ToolCallProposed(name, name, call)
            case 3:
                yield ToolStarted(name, call.id, call.name, call.arguments)
            case 4:
                yield ToolCompleted(name, call.id, call.name, prose(900, number))
            case 5:
                yield PhaseTimed("tool", "read", 12, name)
            case _:
                yield PhaseTimed("ai_invoke", name, 1200, name)
    for name in NODES:
        yield NodeCompleted(name, name, {"summary": prose(200, 3)})


async def medians_ms(action: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """The median CPU and wall time of an action, after one to warm up."""
    cpu, wall = [], []
    for _ in range(REPEATS + 1):
        began, used = time.perf_counter(), time.process_time()
        await action()
        cpu.append((time.process_time() - used) * 1e3)
        wall.append((time.perf_counter() - began) * 1e3)
    return statistics.median(cpu[1:]), statistics.median(wall[1:])


async def store_runs(kept: Kept, count: int) -> None:
    """Store so many runs that have ended, in one go."""
    chance = random.Random(1)
    body = recorded_workflow(workflow())

    def insert(connection: Any) -> None:
        for number in range(count):
            insert_run(connection, opening_of(f"run-{number}", prose(50, number), body))

    await kept.database.run(insert)

    def shuffle(connection: Any) -> None:
        statement = "UPDATE runs SET status = 'completed', updated = ? WHERE number = ?"
        rows = [(chance.random() * 1e6, number) for number in range(1, count + 2)]
        connection.exec_driver_sql(statement, rows)

    await kept.database.run(shuffle)


async def store_events(kept: Kept, count: int) -> None:
    """Tell so many events in the run that is on."""
    view = RunView("run", "w", {name: name.title() for name in NODES})
    hub = EventHub(view.project)
    hub.listen(EventLog(kept.database, kept.number, view, kept.journal).take)
    for at, event in enumerate(told(count)):
        hub.emit(event)
        if at % 100 == 0:
            await kept.database.barrier()
    await kept.database.barrier()


async def measure(folder: Path, runs: int, events: int) -> list[Check]:
    """List, search, open and look back."""
    kept = await Kept(folder).open(workflow=recorded_workflow(workflow()))
    store = kept.store
    await store_runs(kept, runs - 1)
    await store_events(kept, events)

    async def open_run() -> RunView:
        run = await store.load("run")
        return view_of(run, workflow_of(run), await store.events("run"))

    async def look_back() -> RunView:
        run = await store.load("run")
        return view_of(run, workflow_of(run), await store.events("run", until=events // 2))

    if len(await store.list_runs()) != runs:
        raise AssertionError("some runs are missing")
    if len((await open_run()).trace) < events / 2:
        raise AssertionError("some events are missing")
    actions: tuple[tuple[str, Callable[[], Awaitable[Any]], float], ...] = (
        (f"list {runs} runs", store.list_runs, LIST_MS),
        ("the first 100", lambda: store.list_runs(RunQuery(limit=100)), LIST_MS),
        ("search them", lambda: store.list_runs(RunQuery("waits")), LIST_MS),
        (f"open a run of {events} events", open_run, OPEN_MS),
        (f"as it was after {events // 2}", look_back, OPEN_MS),
    )
    found = []
    for name, action, limit in actions:
        cpu, wall = await medians_ms(action)
        said = f"{cpu:.0f} ms of CPU, {wall:.0f} ms wall"
        found.append(Check(name, said, f"<= {limit:.0f} ms", cpu <= limit))
    await kept.database.aclose()
    return found


def main() -> int:
    """Measure, print, and say whether every target is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(measure(Path(name), options.runs, options.events))
    missed = verdict(found)
    sizes = ["--runs", str(options.runs), "--events", str(options.events)]
    window = [sys.executable, "-m", "benchmarks.history_window", *sizes]
    return missed or subprocess.run(window, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

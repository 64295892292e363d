"""What keeping a run costs beside a bare insert and LangGraph's SQLite checkpointer.

    python -m benchmarks.checkpoint [--rounds 3] [--quick]

A checkpoint is what one message adds: a model's reply of about 1 KB. In each fresh process the
contenders take turns, one checkpoint each, and the ratio of their medians is that process's result;
the table shows the median over the processes. `in groups` is the cost of each of 300 checkpoints
that come at once, until all are written, as the median of several such groups. The bare insert
puts the finished JSON into a table of its own, with the same key, write-ahead log and settings.
LangGraph is left out where it is not installed (`pip install langgraph-checkpoint-sqlite`). Exits
with 1 if a target is missed.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from benchmarks.checks import Check, measure_in_children
from benchmarks.stored_runs import Kept, bare_inserts, langgraph_saver, prose, reply
from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.events import ToolCallProposed, ToolCompleted, ToolStarted
from engine.vocabulary.inputs import ToolsFinished
from engine.vocabulary.tools import ToolCall, ToolResult
from orchestration.runs.event_hub import EventHub
from orchestration.runs.run_view import RunView
from orchestration.storage.event_log import EventLog

LENGTHS = (10, 100, 1000, 3000)
CHECKPOINTS = 300
GROUPS = 9
FULL_COPIES = 20
RESUMED = 1000
STALL_TICKS = 200


CALLER = 1.0
END_TO_END = 4.0
GROWTH = 1.5
BYTES = 1.5
STALL_MS = 1.0
RESUME = 2.0


def child_costs(length: int, folder: Path) -> dict[str, float]:
    """Microseconds of one checkpoint after so many messages, contenders in turns."""

    async def measure() -> dict[str, float]:
        kept = await Kept(folder).open(length)
        journal, database = kept.journal, kept.database
        insert = bare_inserts(folder / "bare.db")
        taken: dict[str, list[float]] = {"bare": [], "caller": [], "end to end": []}
        clock = time.perf_counter
        for number in range(length, length + CHECKPOINTS + 50):
            new = reply(number)
            body = msgspec.json.encode(new)
            began = clock()
            journal.turn(new)
            called = clock()
            await database.barrier()
            ended = clock()
            insert(number, body)
            inserted = clock()
            if number >= length + 50:
                taken["caller"].append(called - began)
                taken["end to end"].append(ended - began)
                taken["bare"].append(inserted - ended)
        in_groups = []
        for at in range(GROUPS):
            many = [reply(at * CHECKPOINTS + number) for number in range(CHECKPOINTS)]
            began = clock()
            for new in many:
                journal.turn(new)
            await database.barrier()
            in_groups.append((clock() - began) / CHECKPOINTS)
        taken["in groups"] = in_groups
        if find_spec("langgraph") and find_spec("langgraph.checkpoint.sqlite"):
            put = langgraph_saver(folder / "langgraph.db", length)
            taken["langgraph"] = []
            for number in range(length, length + FULL_COPIES):
                began = clock()
                put(number)
                taken["langgraph"].append(clock() - began)
        await database.aclose()
        return {name: statistics.median(times) * 1e6 for name, times in taken.items()}

    return asyncio.run(measure())


def child_bytes(folder: Path) -> dict[str, float]:
    """Bytes of the file for each byte of JSON that is new, for several sizes of messages."""

    async def measure() -> dict[str, float]:
        found = {}
        for size in (100, 300, 900, 1500, 1950, 3000, 6000, 20_000):
            place = folder / str(size)
            place.mkdir()
            kept = await Kept(place).open(20)
            before, new = kept.size(), 0
            for number in range(max(200, 600_000 // size)):
                given = reply(number, size)
                new += len(msgspec.json.encode(given))
                kept.journal.turn(given)
                if number % 10 == 0:
                    await kept.database.barrier()
            await kept.database.barrier()
            found[f"message of {size}"] = (kept.size() - before) / new
            await kept.database.aclose()
        (folder / "turns").mkdir()
        found["whole tool turn"] = await whole_turns(folder / "turns")
        return found

    return asyncio.run(measure())


async def whole_turns(folder: Path) -> float:
    """The same for everything that a tool turn leaves: inputs, facts of the call, events."""
    kept = await Kept(folder).open(20)
    view = RunView("run", "w", {"a": "A"})
    hub = EventHub(view.project)
    hub.listen(EventLog(kept.database, kept.number, view, kept.journal).take)
    before, new = kept.size(), 0
    for number in range(300):
        content = prose(3000, number)
        call = ToolCall(f"c{number}", "edit", {"path": "x", "new": prose(400, number)})
        result = ToolResult(call.id, call.name, content)
        events = (
            ToolCallProposed("a", "A", call),
            ToolStarted("a", call.id, call.name, call.arguments),
            ToolCompleted("a", call.id, call.name, content),
        )
        replied = reply(number)
        admitted = AdmittedCall(call, "d" * 64)
        finished = ToolsFinished("a", f"a#{number}", (result,), 1.0)
        kept.journal.turn(replied)
        await kept.journal.intent("a", admitted)
        await kept.journal.result("a", result)
        kept.journal.input(finished)
        for event in events:
            hub.emit(event)
        facts = (replied, admitted, result, *events)
        new += sum(len(msgspec.json.encode(fact)) for fact in facts)
    await kept.database.barrier()
    ratio = (kept.size() - before) / new
    await kept.database.aclose()
    return ratio


def child_stalls(folder: Path) -> dict[str, float]:
    """How late the event loop is, in milliseconds at the 99th percentile, with and without."""
    replies = [reply(number) for number in range(STALL_TICKS)]

    async def lateness(late: list[float], called: list[float], kept: Kept | None) -> None:
        clock = time.perf_counter
        for number, new in enumerate(replies):
            began = clock()
            await asyncio.sleep(0.001)
            ended = clock()
            late.append(ended - began - 0.001)
            if kept is not None:
                kept.journal.turn(new)
                called.append(clock() - ended)
                if number % 10 == 0:
                    await kept.database.barrier()

    def high(values: list[float]) -> float:
        return sorted(values)[int(len(values) * 0.99)] * 1e3

    async def measure() -> dict[str, float]:
        kept = await Kept(folder).open(1000)
        without: list[float] = []
        with_it: list[float] = []
        called: list[float] = []
        for _ in range(10):
            await lateness(without, [], None)
            await lateness(with_it, called, kept)
        await kept.database.aclose()
        return {"without": high(without), "with": high(with_it), "call": high(called)}

    return asyncio.run(measure())


def child_resume(folder: Path) -> dict[str, float]:
    """CPU milliseconds to load a run of 1,000 messages, and to parse their JSON once."""

    async def measure() -> dict[str, float]:
        kept = await Kept(folder).open(RESUMED)
        joined = json.dumps([msgspec.to_builtins(reply(number)) for number in range(RESUMED)])
        found: dict[str, list[float]] = {"parse": [], "load": []}
        clock = time.process_time
        for _ in range(12):
            began = clock()
            json.loads(joined)
            parsed = clock()
            run = await kept.store.load("run")
            found["load"].append(clock() - parsed)
            found["parse"].append(parsed - began)
            if len(run.inputs) != RESUMED:
                raise AssertionError(f"{len(run.inputs)} inputs")
        await kept.database.aclose()
        return {name: statistics.median(times[2:]) * 1e3 for name, times in found.items()}

    return asyncio.run(measure())


def in_fresh_processes(rounds: int, *arguments: str) -> list[dict[str, float]]:
    """The results of a child that is started anew for each round."""
    command = [sys.executable, "-m", "benchmarks.checkpoint", "--child", *arguments]
    results = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return results


def ratio_of(results: Sequence[dict[str, float]], one: str, other: str) -> float:
    """The median over the rounds of the ratio of two figures of the same process."""
    return statistics.median(result[one] / result[other] for result in results)


def measure_costs(rounds: int) -> list[Check]:
    """Time of one checkpoint against a bare insert and LangGraph, and how it grows."""
    columns = ("bare", "caller", "end to end", "in groups", "langgraph")
    print("\nmicroseconds of a checkpoint" + "".join(f"{name:>12}" for name in columns))
    checks, costs = [], []
    for length in LENGTHS:
        results = in_fresh_processes(rounds, "costs", str(length))
        medians = {
            name: statistics.median(result[name] for result in results) for name in results[0]
        }
        costs.append(medians["end to end"] / medians["bare"])
        row = "".join(f"{medians[name]:>12.1f}" for name in columns if name in medians)
        print(f"after {length:>5} messages        {row}", flush=True)
        for name, limit in (("caller", CALLER), ("end to end", END_TO_END), ("in groups", CALLER)):
            ratio = ratio_of(results, name, "bare")
            checks.append(
                Check(f"{length}: {name}", f"{ratio:.2f}", f"<= {limit} bare", ratio <= limit)
            )
    grown = costs[-1] / costs[0]
    checks.append(Check("3000 to 10", f"{grown:.2f}", f"<= {GROWTH}", grown <= GROWTH))
    return checks


def measure_bytes() -> list[Check]:
    """Bytes against the JSON of what is new."""
    checks = []
    for name, ratio in in_fresh_processes(1, "bytes")[0].items():
        checks.append(Check(f"bytes, {name}", f"{ratio:.2f}", f"<= {BYTES}", ratio <= BYTES))
    return checks


def measure_stalls(rounds: int) -> list[Check]:
    """What the event loop notices of it."""
    results = in_fresh_processes(rounds, "stalls")
    added = statistics.median(result["with"] - result["without"] for result in results)
    called = statistics.median(result["call"] for result in results)
    for result in results:
        print(
            f"p99: a call {result['call']:.3f} ms; event loop late by {result['without']:.2f} ms "
            f"without, {result['with']:.2f} ms with checkpoints"
        )
    return [
        Check("p99 of a call", f"{called:.3f} ms", f"<= {STALL_MS} ms", called <= STALL_MS),
        Check("p99 of stalls added", f"{added:.2f} ms", f"<= {STALL_MS} ms", added <= STALL_MS),
    ]


def measure_resume(rounds: int) -> list[Check]:
    """Loading a run against parsing its messages."""
    results = in_fresh_processes(rounds, "resume")
    ratio = ratio_of(results, "load", "parse")
    for result in results:
        print(f"1,000 messages: parse {result['parse']:.2f} ms, load {result['load']:.2f} ms")
    return [Check("resume", f"{ratio:.2f}", f"<= {RESUME} parses", ratio <= RESUME)]


def child(arguments: Sequence[str]) -> dict[str, float]:
    """One measurement in this process."""
    kind, *rest = arguments
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "costs":
            return child_costs(int(rest[0]), folder)
        if kind == "bytes":
            return child_bytes(folder)
        if kind == "stalls":
            return child_stalls(folder)
        return child_resume(folder)


def measure_all(rounds: int) -> list[Check]:
    """Every target, with so many processes for each figure."""
    return [
        *measure_costs(rounds),
        *measure_bytes(),
        *measure_stalls(rounds),
        *measure_resume(rounds),
    ]


def main() -> int:
    """Measure, print, and say whether every target is met."""
    return measure_in_children(__doc__, child, measure_all, rounds=3)


if __name__ == "__main__":
    sys.exit(main())

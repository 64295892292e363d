"""What OpenFlow's engine costs beside a hand-written loop and LangGraph.

    python -m benchmarks.engine [--rounds 5] [--quick]

CPU time of whole runs with no-op bodies. In each fresh process the contenders alternate, and the
ratio of their medians is that process's result; the table shows the median over the processes.
LangGraph is left out where it is not installed (`pip install langgraph`). Exits with 1 if a
target is missed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.checks import Check, measure_in_children
from benchmarks.graphs import SHAPES

GRAPHS = (("chain", 1000), ("fan", 1000), ("layered", 1000), ("dag", 2000))
SIZES = (250, 500, 1000, 2000, 4000)
TURNS = (10, 100, 1000)
REPEATS = 5

TO_GATHER = {"chain": 4.0, "fan": 6.0, "layered": 6.0, "dag": 6.0}
US_A_TURN = 150.0
BELOW_LANGGRAPH_A_TURN = 15.0
GROWTH_OF_A_TURN = 1.25
EXPONENT = 1.05
BYTES_A_NODE = 8 * 1024


def cpu_us(run: Any, times: int = 1) -> float:
    """CPU time of one run in microseconds, taken over `times` of them in a row."""
    gc.collect()

    async def timed() -> float:
        began = time.process_time()
        for _ in range(times):
            await run()
        return (time.process_time() - began) * 1e6 / times

    return asyncio.run(timed())


def alternate(
    runs: dict[str, Any], repeats: int, times: dict[str, int] | None = None
) -> dict[str, float]:
    """The median CPU time of each contender, all taken in turns after one warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for at in range(repeats + 1):
        if at == 1:
            # What was imported is put out of the collector's way, as the program does when it has
            # started; otherwise every contender pays for what the others have loaded.
            gc.collect()
            gc.freeze()
        for name, run in runs.items():
            spent = cpu_us(run, (times or {}).get(name, 1))
            if at:
                taken[name].append(spent)
    return {name: statistics.median(spent) for name, spent in taken.items()}


def child_graph(shape: str, count: int, folder: Path) -> dict[str, float]:
    """All contenders on one graph."""
    from benchmarks import contenders

    graph = SHAPES[shape](count)
    runs = {
        "gather": contenders.gather_loop(graph),
        "openflow": contenders.openflow(graph, folder),
        "documents": contenders.openflow(graph, folder, documents=True),
    }
    if find_spec("langgraph"):
        runs["langgraph"] = contenders.langgraph(graph)
    return {name: spent / count for name, spent in alternate(runs, REPEATS).items()}


def child_growth(shape: str, folder: Path) -> dict[str, float]:
    """CPU a node at several sizes of one shape."""
    from benchmarks import contenders

    runs = {str(count): contenders.openflow(SHAPES[shape](count), folder) for count in SIZES}
    return {name: spent / int(name) for name, spent in alternate(runs, 3).items()}


def child_turns(folder: Path) -> dict[str, float]:
    """CPU a tool turn at several lengths of one agent's work."""
    from benchmarks import contenders

    one = SHAPES["chain"](1)
    runs: dict[str, Any] = {}
    for turns in TURNS:
        runs[f"openflow {turns}"] = contenders.openflow(one, folder, turns=turns)
        if find_spec("langgraph"):
            runs[f"langgraph {turns}"] = contenders.langgraph_agent(turns)
    # Short runs are taken several in a row, so that each figure comes from as many turns.
    times = {name: max(TURNS) // int(name.split()[1]) for name in runs}
    medians = alternate(runs, 3, times)
    return {name: spent / int(name.split()[1]) for name, spent in medians.items()}


def child_memory(shape: str, count: int, folder: Path) -> dict[str, float]:
    """Bytes a node that a finished run of this shape holds on to, as `tracemalloc` counts them."""
    import tracemalloc

    from benchmarks import contenders

    workflow = contenders.workflow_of(SHAPES[shape](count))
    asyncio.run(contenders.run_whole(workflow, contenders.NoOpModel(), folder))
    gc.collect()
    tracemalloc.start()
    kept = asyncio.run(contenders.run_and_keep(workflow, contenders.NoOpModel(), folder))
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return {"held": held / count, "peak": peak / count}


def in_fresh_processes(rounds: int, *arguments: str) -> list[dict[str, float]]:
    """The results of a child that is started anew for each round."""
    command = [sys.executable, "-m", "benchmarks.engine", "--child", *arguments]
    results = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)} failed:\n{done.stderr}")
        results.append(json.loads(done.stdout.splitlines()[-1]))
    return results


def median_of(results: Sequence[dict[str, float]], name: str) -> float:
    """The median of one figure over the rounds."""
    return statistics.median(result[name] for result in results)


def ratio_of(results: Sequence[dict[str, float]], one: str, other: str) -> float:
    """The median over the rounds of the ratio of two figures of the same process."""
    return statistics.median(result[one] / result[other] for result in results)


def exponent(per_item: dict[str, float]) -> float:
    """The slope of total cost over size in a double logarithmic plot."""
    points = [(math.log(int(n)), math.log(cost * int(n))) for n, cost in per_item.items()]
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def measure_graphs(rounds: int) -> list[Check]:
    """CPU a node against the loop and LangGraph; for information, with a document a node too."""
    print(
        f"\n{'graph':<14}{'gather':>10}{'openflow':>10}{'x gather':>10}{'documents':>11}"
        f"{'x gather':>10}{'langgraph':>11}{'x us':>8}"
    )
    checks = []
    for shape, count in GRAPHS:
        results = in_fresh_processes(rounds, "graph", shape, str(count))
        ratio, limit = ratio_of(results, "openflow", "gather"), TO_GATHER[shape]
        row = f"{shape + '-' + str(count):<14}{median_of(results, 'gather'):>9.1f}u"
        row += f"{median_of(results, 'openflow'):>9.1f}u{ratio:>10.2f}"
        row += f"{median_of(results, 'documents'):>10.1f}u"
        row += f"{ratio_of(results, 'documents', 'gather'):>10.2f}"
        if "langgraph" in results[0]:
            row += f"{median_of(results, 'langgraph'):>10.0f}u"
            row += f"{ratio_of(results, 'langgraph', 'openflow'):>8.1f}"
        print(row, flush=True)
        checks.append(
            Check(f"{shape}: to gather", f"{ratio:.2f}", f"<= {limit:.0f}", ratio <= limit)
        )
    return checks


def measure_growth(rounds: int) -> list[Check]:
    """How the cost grows with the number of nodes."""
    checks = []
    for shape in SHAPES:
        results = in_fresh_processes(rounds, "growth", shape)
        medians = {str(n): median_of(results, str(n)) for n in SIZES}
        grown = exponent(medians)
        shown = "  ".join(f"{n}: {cost:.1f}u" for n, cost in medians.items())
        print(f"growth {shape:<9} {shown}  exponent {grown:.3f}", flush=True)
        checks.append(
            Check(f"{shape}: exponent", f"{grown:.3f}", f"<= {EXPONENT}", grown <= EXPONENT)
        )
    return checks


def measure_memory() -> list[Check]:
    """What a run holds on to for each node."""
    checks = []
    for shape in SHAPES:
        result = in_fresh_processes(1, "memory", shape, "1000")[0]
        print(f"memory {shape:<9} held {result['held']:.0f} B  peak {result['peak']:.0f} B a node")
        met = result["peak"] <= BYTES_A_NODE
        checks.append(
            Check(f"{shape}: bytes a node", f"{result['peak']:.0f}", f"<= {BYTES_A_NODE}", met)
        )
    return checks


def measure_turns(rounds: int) -> list[Check]:
    """CPU a tool turn, and how it grows with the number of turns."""
    results = in_fresh_processes(rounds, "turns")
    checks = []
    for turns in TURNS:
        cost = median_of(results, f"openflow {turns}")
        row = f"turns {turns:<6} openflow {cost:8.1f}u"
        checks.append(
            Check(f"{turns} turns: us", f"{cost:.0f}", f"<= {US_A_TURN:.0f}", cost <= US_A_TURN)
        )
        if f"langgraph {turns}" in results[0]:
            ratio = ratio_of(results, f"langgraph {turns}", f"openflow {turns}")
            row += f"  langgraph {median_of(results, f'langgraph {turns}'):9.0f}u  x {ratio:.1f}"
            met = ratio >= BELOW_LANGGRAPH_A_TURN
            checks.append(
                Check(
                    f"{turns} turns: langgraph",
                    f"{ratio:.1f}",
                    f">= {BELOW_LANGGRAPH_A_TURN:.0f}",
                    met,
                )
            )
        print(row, flush=True)
    grown = ratio_of(results, "openflow 1000", "openflow 100")
    checks.append(
        Check(
            "turn 1000 to turn 100",
            f"{grown:.2f}",
            f"<= {GROWTH_OF_A_TURN}",
            grown <= GROWTH_OF_A_TURN,
        )
    )
    return checks


def child(arguments: Sequence[str]) -> dict[str, float]:
    """One measurement in this process."""
    kind, *rest = arguments
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind == "graph":
            return child_graph(rest[0], int(rest[1]), folder)
        if kind == "growth":
            return child_growth(rest[0], folder)
        if kind == "memory":
            return child_memory(rest[0], int(rest[1]), folder)
        return child_turns(folder)


def measure_all(rounds: int) -> list[Check]:
    """Every target, with so many processes for each figure."""
    return [
        *measure_graphs(rounds),
        *measure_growth(rounds),
        *measure_memory(),
        *measure_turns(rounds),
    ]


def main() -> int:
    """Measure, print, and say whether every target is met."""
    return measure_in_children(__doc__, child, measure_all, rounds=5)


if __name__ == "__main__":
    sys.exit(main())

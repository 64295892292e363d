"""What the reading tools cost beside the `rg` command, and how long they hold up the event loop.

    python -m benchmarks.search [--rounds 9] [--files 20000]

Each round runs the command and the tool right after one another over the same generated files; a
ratio is the median over the rounds. Stalls are how much later than asked for a timer of the loop
comes while a tool works, so they mean something only where nothing else works; the first row says
what the machine adds by itself. Exits with 1 if a target is missed.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.checks import Check, verdict
from engine.vocabulary.tools import JsonObject
from orchestration.fair_threads import let_threads_take_turns
from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.find import FIND
from orchestration.tools.builtin.ls import LS
from orchestration.tools.builtin.read import READ
from orchestration.tools.builtin.search import MAX_MATCHES, SEARCH
from orchestration.tools.ripgrep import program
from orchestration.tools.tool import Tool, ToolContext, services_in
from orchestration.workspace.paths import Workspace

FILES_A_FOLDER = 100
LINES_A_FILE = 60
LARGE_FILE_BYTES = 30 * 1024 * 1024
LARGE_PAGE_PARTS = 2000
TICK_S = 0.001

TO_RG = 1.3
STALL_MS = 10.0

PATTERNS = {
    "no hit": "nothing_has_this",
    "15 hits": "needle",
    "regex": r"need(le|les)\s+in\s+\w+",
    "common, cut": "common",
}
WORDS = ("alpha", "beta", "gamma", "delta", "value", "return", "import", "class", "result")


def make_files(folder: Path, count: int) -> None:
    """Files of random words, fifteen of them with a needle, all with a common word."""
    choose = random.Random(7).choices
    for number in range(count):
        home = folder / f"package_{number // FILES_A_FOLDER:03}"
        home.mkdir(exist_ok=True)
        lines = [" ".join(choose(WORDS, k=8)) for _ in range(LINES_A_FILE)]
        lines[7] += " common"
        if number % (count // 15) == 3:
            lines[20] += " needle in hay"
        (home / f"module_{number:05}.py").write_text("\n".join(lines) + "\n")
    wide = folder / "wide"
    wide.mkdir()
    for number in range(count):
        (wide / f"entry_{number:05}.txt").touch()
    line = "äöü " + " ".join(choose(WORDS, k=10))
    (folder / "large.txt").write_text(
        f"{line}\n" * (LARGE_FILE_BYTES // (len(line.encode()) + 1)), "utf-8"
    )
    part = f"<div><h2>{line}</h2><p>{line} <a href='/x'>link</a></p><ul><li>{line}</ul></div>\n"
    (folder / "large.html").write_text(part * LARGE_PAGE_PARTS, "utf-8")


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """The folder as a site of this computer, served by another process; gives its address."""
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().split(' port ')[1].split()[0]}"
        process.kill()


def context_in(folder: Path, run_folder: Path) -> ToolContext:
    """What surrounds a call in the folder."""
    settings = ToolSettings(private_addresses=True)
    return ToolContext(
        node_id="n",
        caller_id="n",
        call_id="c",
        services=services_in(run_folder, Workspace(folder), settings),
        update=lambda tail: None,
    )


def plain(folder: Path, pattern: str) -> float:
    """Seconds that the command takes, its whole output collected."""
    began = time.perf_counter()
    command = [str(program()), "--no-config", "--line-number", pattern, "./"]
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return time.perf_counter() - began


def stopped(folder: Path, pattern: str) -> float:
    """Seconds that the command takes until the limit is reached and it is killed."""
    began = time.perf_counter()
    command = [str(program()), "--no-config", "--line-number", pattern, "./"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for number, _ in enumerate(process.stdout, start=1):
            if number > MAX_MATCHES:
                process.kill()
                break
    return time.perf_counter() - began


async def called(tool: Tool, arguments: JsonObject, context: ToolContext) -> float:
    """Seconds that a call of the tool takes."""
    began = time.perf_counter()
    await tool.run(arguments, context)
    return time.perf_counter() - began


def compare(context: ToolContext, rounds: int) -> list[Check]:
    """The tool against the command, pattern by pattern."""
    folder = context.workspace.root
    checks: list[Check] = []
    print(f"{'search':<14}{'rg ms':>9}{'killed ms':>11}{'tool ms':>9}{'to rg':>8}{'to killed':>11}")
    for name, pattern in PATTERNS.items():
        times: dict[str, list[float]] = {"rg": [], "killed": [], "tool": []}
        with asyncio.Runner() as runner:
            arguments: JsonObject = {"pattern": pattern, "paths": "./"}
            for number in range(rounds + 1):
                one = {
                    "rg": plain(folder, pattern),
                    "killed": stopped(folder, pattern),
                    "tool": runner.run(called(SEARCH, arguments, context)),
                }
                if number:  # the first one finds nothing in any cache
                    for kind, took in one.items():
                        times[kind].append(took)
        medians = {kind: statistics.median(values) * 1000 for kind, values in times.items()}
        to_rg = ratio(times["tool"], times["rg"])
        to_killed = ratio(times["tool"], times["killed"])
        print(
            f"{name:<14}{medians['rg']:>9.1f}{medians['killed']:>11.1f}{medians['tool']:>9.1f}"
            f"{to_rg:>8.2f}{to_killed:>11.2f}"
        )
        checks.append(Check(f"{name} to rg", f"{to_rg:.2f}", f"<= {TO_RG}", to_rg <= TO_RG))
    return checks


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios, round by round."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


async def stalls_during(work: Callable[[], asyncio.Future[object]]) -> list[float]:
    """How much too late each tick of the loop came while the work was going on, in ms."""
    late: list[float] = []
    task = asyncio.ensure_future(work())
    while not task.done():
        began = time.perf_counter()
        await asyncio.sleep(TICK_S)
        late.append((time.perf_counter() - began - TICK_S) * 1000)
    await task
    return late


def measure_stalls(context: ToolContext, rounds: int, site: str) -> list[Check]:
    """How long the loop waits while each tool works."""
    everything: JsonObject = {"pattern": PATTERNS["no hit"], "paths": "."}
    calls: dict[str, tuple[Tool, JsonObject]] = {
        "search, no hit": (SEARCH, everything),
        "search, pattern": (SEARCH, everything | {"paths": "**/module_*.py"}),
        "search, others": (SEARCH, {"pattern": "common", "paths": "package_1?9/*[0-9].py"}),
        "search, cut": (SEARCH, {"pattern": "common", "paths": "."}),
        "find, pattern": (FIND, {"paths": "**/nothing_*"}),
        "find, cut": (FIND, {"paths": "."}),
        "ls, wide": (LS, {"path": "wide"}),
        "read, large": (READ, {"path": "large.txt"}),
        "read, web page": (READ, {"path": f"{site}/large.html"}),
        "read, raw lines": (READ, {"path": "large.txt:300000+40000:raw"}),
    }
    checks: list[Check] = []
    print(f"\n{'stalls':<18}{'ticks':>7}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    with asyncio.Runner() as runner:
        idle = runner.run(stalls_during(lambda: asyncio.ensure_future(asyncio.sleep(1))))
        show_stalls("nothing", idle)
        for name, (tool, arguments) in calls.items():
            late: list[float] = []
            for _ in range(rounds):
                late += runner.run(
                    stalls_during(
                        lambda tool=tool, arguments=arguments: asyncio.ensure_future(  # type: ignore[misc]
                            tool.run(arguments, context)
                        )
                    )
                )
            p99 = show_stalls(name, late)
            checks.append(
                Check(f"{name}: p99", f"{p99:.1f}", f"<= {STALL_MS:.0f} ms", p99 <= STALL_MS)
            )
    return checks


def show_stalls(name: str, late: list[float]) -> float:
    """Print one row; gives the 99th percentile."""
    ordered = sorted(late)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    print(
        f"{name:<18}{len(ordered):>7}{statistics.median(ordered):>9.2f}{p99:>9.2f}"
        f"{ordered[-1]:>9.2f}",
        flush=True,
    )
    return p99


def main() -> int:
    """Measure, print, and say whether every target is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=9, help="how often each thing is done")
    parser.add_argument("--files", type=int, default=20_000, help="how many files are searched")
    options = parser.parse_args()
    let_threads_take_turns()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        make_files(folder, options.files)
        context = context_in(folder, Path(name) / "run")
        checks = compare(context, options.rounds)
        with web_server(folder) as site:
            checks += measure_stalls(context, options.rounds, site)
    return verdict(checks)


if __name__ == "__main__":
    sys.exit(main())

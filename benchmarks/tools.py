"""What tool calls cost: from the cache and anew, the policy's check, a batch of a thousand.

    python -m benchmarks.tools [--rounds 5] [--files 2000]

Cached and uncached calls take turns in one process, and what counts is the ratio of their medians.
Times of calls are wall time, everything else is CPU time of the thread of the event loop. Exits
with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmarks.checks import Check, verdict
from engine.graph.workflow import RetryPolicy
from engine.run.approval_policy import Verdict, call_digest, decide, tier_of_call
from engine.run.plan_mode import denial
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.events import RunEvent
from engine.vocabulary.tools import (
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.runs.journal import MemoryJournal
from orchestration.runs.limits import Permits
from orchestration.settings.model import ToolSettings
from orchestration.tools.admission import checked_arguments, is_as_allowed, refuse_what_is_barred
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, ToolContext, ToolOutput, services_in
from orchestration.workspace.paths import Workspace

CALLS_A_BATCH = 1000
REPEATS = 30

READ_FROM_CACHE = 2.0
SEARCH_FROM_CACHE = 3.0
CHECK_US = 50.0
SHARED_US = 150.0
EXCLUSIVE_US = 150.0

POLICY_CALLS: tuple[tuple[str, str, JsonObject], ...] = (
    ("a read", "read", {"path": "src/app.py"}),
    ("an edit", "edit", {"path": "src/app.py", "edits": [{"old_text": "a", "new_text": "b"}]}),
    ("a write of 50 KB", "write", {"path": "a.txt", "content": "x" * 50_000}),
    ("a plain command", "bash", {"command": "ls -la src"}),
    ("a chain of commands", "bash", {"command": "cd src && python -m pytest -q | tail -3"}),
)


def ignore(event: RunEvent) -> None:
    """Nobody looks."""


def runner_of(
    folder: Path, tools: Sequence[Tool], settings: ToolSettings | None = None
) -> ToolRunner:
    """A runner with these tools in a folder, its own folder beside it."""
    return ToolRunner(
        ToolRegistry(tools),
        emit=ignore,
        journal=MemoryJournal(),
        permits=Permits(16),
        services=services_in(folder.parent / "run", Workspace(folder), settings or ToolSettings()),
        retry_policy=RetryPolicy(),
    )


def batch(node: str, calls: Sequence[tuple[str, JsonObject]]) -> RunTools:
    """A batch that a node may run."""
    admitted = tuple(
        AdmittedCall(ToolCall(str(at), name, given), call_digest((node,), name, given))
        for at, (name, given) in enumerate(calls)
    )
    return RunTools(node, node, f"{node}#1", admitted, path=(node,))


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    """Wall time of one piece of work."""
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


def fill(folder: Path, files: int) -> None:
    """Source files of about 4 KB, a hundred to a folder, one of them large."""
    for at in range(files):
        path = folder / f"part{at // 100:03}" / f"module{at:05}.py"
        path.parent.mkdir(exist_ok=True)
        lines = [f"def function_{at}_{line}(value): return value + {line}" for line in range(70)]
        path.write_text("\n".join(lines) + "\n")
    rows = "".join(f"{line:06} {'word ' * 12}\n" for line in range(20_000))
    (folder / "large.txt").write_text(rows)
    for path in folder.rglob("*"):  # long ago, as most files of a project
        os.utime(path, (1_000_000_000, 1_000_000_000))


async def measure_cache(folder: Path, rounds: int) -> list[Check]:
    """Equal calls of many nodes, answered from the cache and run anew in turn."""
    tools = builtin_tools(ToolSettings())
    cached = runner_of(folder, tools)
    anew = runner_of(folder, [replace(tool, is_cacheable=None) for tool in tools])
    checks = []
    for name, call, target in (
        ("read, 1.3 MB", ("read", {"path": "large.txt"}), READ_FROM_CACHE),
        ("search", ("search", {"pattern": "function_7_6[0-9]", "paths": "."}), SEARCH_FROM_CACHE),
    ):
        await cached.execute_batch(batch("first", [call]))
        taken: dict[str, list[float]] = {"anew": [], "other node": [], "same node": []}
        for turn in range(rounds * REPEATS // 5):
            for kind, runner, node in (
                ("anew", anew, f"node{turn}"),
                ("other node", cached, f"node{turn}"),
                ("same node", cached, "first"),
            ):
                given = batch(node, [call])

                async def work(runner: ToolRunner = runner, given: RunTools = given) -> None:
                    await runner.execute_batch(given)

                taken[kind].append(await milliseconds(work))
        medians = {kind: statistics.median(times) for kind, times in taken.items()}
        shown = "  ".join(f"{kind} {cost:.2f} ms" for kind, cost in medians.items())
        ratio = medians["anew"] / medians["other node"]
        print(f"{name:<14} {shown}  x {ratio:.1f}", flush=True)
        met = ratio >= target
        checks.append(Check(f"{name} from cache", f"{ratio:.1f}", f">= {target:.0f} x", met))
    cached.close()
    return checks


def measure_policy() -> list[Check]:
    """CPU of all that stands between a call and its tool."""
    tools = {tool.definition.name: tool for tool in builtin_tools(ToolSettings())}
    checks = []
    for name, tool_name, arguments in POLICY_CALLS:
        tool, call = tools[tool_name], ToolCall("1", tool_name, arguments)
        admitted = AdmittedCall(call, call_digest(("n",), tool_name, arguments))
        given = RunTools("n", "N", "n#1", (admitted,), path=("n",))

        def judge(tool: Tool = tool, call: ToolCall = call) -> None:
            tier = tier_of_call(tool.definition, call)
            refusal = denial(
                call,
                tier=tool.definition.tier,
                policy=ToolAccessPolicy.EXECUTION,
                is_source=False,
                mode=ApprovalMode.YOLO,
            )
            assert refusal is None
            assert decide(ApprovalMode.YOLO, tier) is Verdict.AUTO_ALLOW
            call_digest(("n",), call.name, call.arguments)

        def admit(
            tool: Tool = tool,
            given: RunTools = given,
            admitted: AdmittedCall = admitted,
        ) -> None:
            refuse_what_is_barred(tool, given, admitted.call, None)
            assert is_as_allowed(("n",), admitted)
            checked_arguments(tool, admitted.call)

        judged, let_in = cpu_us(judge), cpu_us(admit)
        print(f"policy: {name:<20} engine {judged:6.1f} us  runner {let_in:6.1f} us", flush=True)
        if "KB" not in name:  # its cost is that of hashing
            met = judged <= CHECK_US
            checks.append(Check(f"policy: {name}", f"{judged:.1f}", f"<= {CHECK_US:.0f} us", met))
    return checks


def cpu_us(work: Callable[[], None], times: int = 2000) -> float:
    """CPU time of a small piece of work in microseconds, the best of five."""
    best = float("inf")
    for _ in range(5):
        began = time.process_time()
        for _ in range(times):
            work()
        best = min(best, (time.process_time() - began) * 1e6 / times)
    return best


async def nothing(_: JsonObject, __: ToolContext) -> ToolOutput:
    """The no-op tool."""
    return ToolOutput("")


async def measure_batches(folder: Path, rounds: int) -> list[Check]:
    """CPU a call of a batch of no-ops, and beside it that of bare tasks."""
    closed: JsonObject = {"type": "object", "additionalProperties": False}
    tools = [
        Tool(definition=ToolDefinition(name, name, closed, ToolTier.READ, concurrency), run=nothing)
        for name, concurrency in (
            ("shared", ToolConcurrency.SHARED),
            ("exclusive", ToolConcurrency.EXCLUSIVE),
        )
    ]
    given: dict[str, list[tuple[str, JsonObject]]] = {
        tool.definition.name: [(tool.definition.name, {})] * CALLS_A_BATCH for tool in tools
    }
    taken: dict[str, list[float]] = {"tasks": [], "shared": [], "exclusive": []}
    for _ in range(rounds + 1):
        for name, spent in taken.items():
            runner = runner_of(folder, tools)
            gc.collect()
            calls = None if name == "tasks" else batch("n", given[name])
            began = time.process_time()
            if calls is None:
                await asyncio.gather(*[bare() for _ in range(CALLS_A_BATCH)])
            else:
                await runner.execute_batch(calls)
            spent.append((time.process_time() - began) * 1e6 / CALLS_A_BATCH)
    medians = {name: statistics.median(spent[1:]) for name, spent in taken.items()}
    checks = []
    for name, limit in (("shared", SHARED_US), ("exclusive", EXCLUSIVE_US)):
        cost = medians[name]
        print(
            f"batch of {CALLS_A_BATCH}, {name:<10} {cost:6.1f} us a call  "
            f"x {cost / medians['tasks']:.1f} of a bare task",
            flush=True,
        )
        checks.append(Check(f"{name} call", f"{cost:.0f}", f"<= {limit:.0f} us", cost <= limit))
    return checks


async def bare() -> None:
    """What a task costs that does nothing."""


async def measure(folder: Path, rounds: int) -> list[Check]:
    """Everything that runs calls."""
    return [
        *await measure_cache(folder, rounds),
        *await measure_batches(folder, rounds),
    ]


def main() -> int:
    """Measure, print, and say whether every target is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "root"
        folder.mkdir()
        fill(folder, options.files)
        checks = [*measure_policy(), *asyncio.run(measure(folder, options.rounds))]
    return verdict(checks)


if __name__ == "__main__":
    sys.exit(main())

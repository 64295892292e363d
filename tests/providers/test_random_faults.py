"""The same workflow 500 times, with every kind of fault thrown in at random.

Each run completes with exactly the calls that were meant, or its node fails for the reason that
was thrown at it last. Nothing hangs, and no call runs that was not meant.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from engine.vocabulary.report import NeedsInteraction, RunCompleted, RunOutcome
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject, ToolTier
from orchestration.tools.tool import Tool
from providers.factory import ProviderPool
from providers.quirks import Quirks
from providers.specs import Wire
from tests.support.engine_driver import workflow
from tests.support.loopback import Answer, Asked, LoopbackServer
from tests.support.loopback_runs import YOLO, Ran, WireRun, closed, recording_tool
from tests.support.wire_faults import FAULTS, Fault
from tests.support.wire_runs import config_for
from tests.support.wire_scripts import SCRIPTS, Call, WireScript, submit_arguments

RUNS = 500
AT_ONCE = 48
FAULT_RATE = 0.5
TEXT = {"type": "string"}
PLACE = re.compile(r"run (\d+), node ([ab])")
PATHS = {Wire.CHAT: "completions", Wire.RESPONSES: "responses", Wire.MESSAGES: "messages"}


def steps(node: str) -> list[list[Ran]]:
    """The calls that a node is to make, turn by turn."""

    def put(name: str) -> Ran:
        return "put", {"path": f"{node}-{name}", "text": f"It's \"{name}\",\nisn't it?"}

    return [[("look", {"path": f"{node}-0"}), put("1")], [put("2"), put("3")]]


def mark(name: str, arguments: JsonObject) -> str:
    return f"{name} {arguments['path']} is done"


def tools(ran: list[Ran]) -> list[Tool]:
    look = closed(["path"], path=TEXT)
    put = closed(["path", "text"], path=TEXT, text=TEXT)
    return [
        recording_tool("look", look, ran, ToolTier.READ, said=mark),
        recording_tool("put", put, ran, said=mark),
    ]


class FaultyEndpoint:
    """Says what is meant at each point of a conversation, or a faulty version of it."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._randoms: dict[tuple[str, str], Random] = {}
        self.thrown: dict[tuple[int, str], list[Fault]] = {}
        self.counts: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Answer:
        said = re.sub(r"\\+", "", asked.body.decode())
        place = PLACE.search(said)
        assert place is not None
        run, node = int(place[1]), place[2]
        script = next(SCRIPTS[w] for w, end in PATHS.items() if asked.path.endswith(end))
        if "malformed_arguments" in said:
            repaired = {"repaired_arguments": {"summary": f"run {run}, node {node}"}}
            return script.answer(calls=(("r1", SUBMIT_TOOL, submit_arguments(repaired)),))
        return self._answer(script, run, node, meant(said, run, node))

    def _answer(self, script: WireScript, run: int, node: str, calls: tuple[Call, ...]) -> Answer:
        random = self._randoms.setdefault((str(run), node), Random(f"{self._seed} {run} {node}"))
        thrown = self.thrown.setdefault((run, node), [])
        if random.random() >= FAULT_RATE:
            return script.answer(calls=calls)
        fitting = [fault for fault in FAULTS if fault.fits(script.wire, calls)]
        fault = random.choices(fitting, [fault.weight for fault in fitting])[0]
        thrown.append(fault)
        self.counts[fault.name] += 1
        return fault.make(script, calls, random)


def meant(said: str, run: int, node: str) -> tuple[Call, ...]:
    """What the model means to do next, by what it has been told."""
    for step in steps(node):
        left = [call for call in step if mark(*call) not in said]
        if left:
            return tuple(
                (f"c{at}", name, json.dumps(arguments)) for at, (name, arguments) in enumerate(left)
            )
    output = {"summary": f"run {run}, node {node}"}
    return (("s1", SUBMIT_TOOL, submit_arguments(output)),)


def judge(run: int, outcome: RunOutcome, ran: list[Ran], endpoint: FaultyEndpoint) -> str:
    """How a run ended: `completed`, `failed`, or what should not have been."""
    allowed = [call for node in "ab" for step in steps(node) for call in step]
    if any(call not in allowed or ran.count(call) > 1 for call in ran):
        return f"run {run}: wrong calls {ran}"
    if isinstance(outcome, RunCompleted):
        outputs = [(output.node_id, output.output) for output in outcome.report.outputs]
        wanted = [(node, {"summary": f"run {run}, node {node}"}) for node in "ab"]
        is_right = len(ran) == len(allowed) and outputs == wanted
        return "completed" if is_right else f"run {run}: {ran} and {outputs}"
    if not isinstance(outcome, NeedsInteraction) or len(outcome.retryables) != 1:
        return f"run {run}: {outcome}"
    (failed,) = outcome.retryables
    last = endpoint.thrown[run, failed.node_id][-1]
    if not last.error or not re.search(last.error, failed.error):
        return f"run {run}: after {last.name!r} failed with {failed.error!r}"
    return "failed"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [20])
def test_every_run_completes_or_fails_for_the_right_reason(seed: int, tmp_path: Path) -> None:
    endpoint = FaultyEndpoint(seed)

    async def one(run: int, pool: ProviderPool, url: str, gate: asyncio.Semaphore) -> str:
        script = SCRIPTS[list(Wire)[run % len(Wire)]]
        flow = workflow(
            [("a", "b")],
            agents={n: {**YOLO, "task_prompt": f"This is run {run}, node {n}."} for n in "ab"},
            settings={"retry_policy": {"max_attempts": 3, "backoff_ms": 0}},
        )
        ran: list[Ran] = []
        async with gate:
            port = pool.port(config_for(script, url, quirks=Quirks()))
            wire_run = WireRun(flow, port, tools(ran), tmp_path)
            outcome = await wire_run.outcome()
            await wire_run.run.close()
        return judge(run, outcome, ran, endpoint)

    async def all_runs(url: str) -> list[str]:
        pool, gate = ProviderPool(), asyncio.Semaphore(AT_ONCE)
        try:
            return await asyncio.gather(*[one(run, pool, url, gate) for run in range(RUNS)])
        finally:
            await pool.aclose()

    with LoopbackServer(answer_with=endpoint) as server:
        ended = Counter(asyncio.run(all_runs(server.url)))
    assert ended.keys() == {"completed", "failed"}, [e for e in ended if e.startswith("run ")]
    assert ended.total() == RUNS
    assert ended["completed"] > RUNS // 2
    assert set(endpoint.counts) == {fault.name for fault in FAULTS}

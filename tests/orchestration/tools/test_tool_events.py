"""What is told of each call, in which order and of whom."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.events import (
    EditBatchRecorded,
    FileChanged,
    PhaseTimed,
    ToolArtifactCreated,
    ToolCompleted,
    ToolRetrying,
    ToolStarted,
    ToolUpdated,
)
from engine.vocabulary.tools import (
    EditBatch,
    FileChangeOp,
    FileChangeRecord,
    FileSnapshot,
    JsonObject,
    ToolCall,
    ToolConcurrency,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import CallIntent, CallResult, MemoryJournal
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, made_tool, say

BATCH = EditBatch("b1", "n", "c1", "w", 1, (FileSnapshot("a.txt", existed=False),))
RECORD = FileChangeRecord("a.txt", FileChangeOp.CREATE, 1, batch_id="b1")


def busy_tool() -> Tool:
    """Fails once, tells of itself, stores something, changes a file."""
    tries: list[str] = []

    async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
        context.update("so far")
        tries.append(context.call_id)
        if len(tries) == 1:
            raise ToolFailure(FailureKind.TIMEOUT, "slow")
        stored = context.services.artifacts.save("diff", "file-diff")
        return ToolOutput(
            "done",
            effects=ToolEffects(file_changes=(RECORD,)),
            batch=BATCH,
            artifact_ids=(stored.id,),
        )

    return made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE, writes=True)


def test_the_order_of_what_is_told(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, busy_tool())
    bench.results(admitted_call("w"))
    assert [type(event) for event in bench.events] == [
        ToolStarted,
        ToolUpdated,
        ToolRetrying,
        ToolUpdated,
        ToolArtifactCreated,
        EditBatchRecorded,
        FileChanged,
        ToolCompleted,
        PhaseTimed,
    ]
    assert EditBatchRecorded("n", BATCH) in bench.events
    assert FileChanged("n", RECORD) in bench.events


def test_calls_of_a_subagent_are_its_own_and_its_changes_are_the_nodes(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, busy_tool())
    path = ("n", "helper")
    call = AdmittedCall(ToolCall("c1", "w", {}), call_digest(path, "w", {}))
    batch = RunTools("n/helper", "Helper", "n/helper#1", (call,), path=path)
    asyncio.run(bench.runner.execute_batch(batch))
    of_node = (EditBatchRecorded, FileChanged)
    assert {e.node_id for e in bench.events if isinstance(e, of_node)} == {"n"}
    others = [event for event in bench.events if not isinstance(event, of_node)]
    assert {getattr(event, "node_id", None) for event in others} == {"n/helper"}
    assert all(fact.node_id == "n/helper" for fact in bench.journal.tool_facts)


def test_a_context_names_the_node_and_the_conversation(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
        seen.append((context.node_id, context.caller_id))
        return ToolOutput("")

    bench = ToolBench(tmp_path, made_tool("t", work))
    path = ("n", "s")
    inside = AdmittedCall(ToolCall("c1", "t", {}), call_digest(path, "t", {}))
    batches = [
        batch_of([admitted_call("t")]),
        RunTools("n/s", "S", "n/s#1", (inside,), path=path, conversation_id="n/s#2"),
    ]
    for batch in batches:
        asyncio.run(bench.runner.execute_batch(batch))
    assert seen == [("n", "n"), ("n", "n/s#2")]


class BrokenOff(Exception):
    """The program ends here."""


class FailingJournal(MemoryJournal):
    """Breaks off where it is told to: as if the program were killed there."""

    def __init__(self, where: str, tool: str) -> None:
        super().__init__()
        self._where, self._tool = where, tool

    async def intent(self, node_id: str, call: AdmittedCall, **more: Any) -> None:
        if (self._where, self._tool) == ("intent", call.call.name):
            raise BrokenOff
        await super().intent(node_id, call, **more)

    async def result(self, node_id: str, result: ToolResult, **more: Any) -> None:
        if (self._where, self._tool) == ("result", result.tool_name):
            raise BrokenOff
        await super().result(node_id, result, **more)


@pytest.mark.parametrize(("where", "written"), [("intent", False), ("result", True)])
def test_what_is_written_down_when_it_breaks_off_tells_what_is_uncertain(
    tmp_path: Path, where: str, written: bool
) -> None:
    """A mail was sent, a file was being written, nothing was read yet (R05)."""
    journal = FailingJournal(where, "write")
    mail = made_tool("send_email", say, tier=ToolTier.WRITE)
    bench = ToolBench(tmp_path, WRITE, mail, made_tool("read", say), journal=journal)
    calls = [
        admitted_call("send_email", "1"),
        admitted_call("write", "2", path="a.txt", content="x\n"),
        admitted_call("read", "3"),
    ]
    with pytest.raises(BrokenOff):
        asyncio.run(bench.execute(*calls))
    facts = [
        (type(fact), fact.call.call.id if isinstance(fact, CallIntent) else fact.result.call_id)
        for fact in journal.tool_facts
    ]
    finished = [(CallIntent, "1"), (CallResult, "1")]
    assert facts == [*finished, *([(CallIntent, "2")] if written else [])]
    assert (tmp_path / "a.txt").exists() == written
    if written:  # the evidence: what was there before
        (intent,) = [f for f in journal.tool_facts if isinstance(f, CallIntent) and f.targets]
        assert intent.targets == (f"{tmp_path / 'a.txt'}@absent",)

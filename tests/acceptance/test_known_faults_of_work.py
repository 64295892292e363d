"""Known faults of edits, and of work that is stopped or killed, each by the id of its case."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.inputs import Started
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    ResultItem,
    TranscriptItem,
    TranscriptView,
)
from engine.vocabulary.recovery import CallEvidence, KnownEnd, Sign
from engine.vocabulary.tools import SUBMIT_TOOL, ToolCall, ToolResult, ToolTier
from orchestration.runs.journal import CallIntent, CallResult, MemoryJournal
from orchestration.storage.facts import OpenCall
from orchestration.storage.file_evidence import version_of, versions_now
from orchestration.storage.uncertain import classified
from orchestration.tools.builtin.apply_patch import APPLY_PATCH
from orchestration.tools.builtin.bash import BASH
from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.builtin.write import WRITE
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine
from tests.support.command_rig import alive, shell, until_there
from tests.support.edit_bench import EditBench
from tests.support.engine_driver import World, calls, workflow
from tests.support.graphs import agent_node, graph
from tests.support.known_faults import Cases
from tests.support.loopback import LoopbackServer
from tests.support.terminal import AtTerminal
from tests.support.tool_bench import ToolBench, admitted_call, context_in, made_tool, say
from tests.support.wire_runs import MODEL, play
from tests.support.wire_scripts import SCRIPTS, submit_arguments
from tests.support.wire_suite import node_request

CHAT = SCRIPTS[Wire.CHAT]
PATIENCE_S = 60.0
IDS = (
    *("E01", "E02", "E04", "E06", "E08", "E10"),
    *("R02", "R04", "R05", "R07", "R09"),
)
CASES = Cases()
case = CASES.case


@pytest.mark.parametrize("case_id", IDS)
def test_the_right_thing_happens(case_id: str, tmp_path: Path) -> None:
    CASES.check(case_id, tmp_path)


def test_every_case_is_there() -> None:
    assert CASES.ids == sorted(IDS)


def edited(folder: Path, before: bytes, old: str, new: str, **more: Any) -> tuple[bytes, str]:
    """The file after one replacement, and what the model is told."""
    bench = EditBench(folder / "root")
    bench.put("f", before)
    output = bench.run(EDIT, path="f", edits=[{"old_text": old, "new_text": new, **more}])
    assert output.is_error == (bench.bytes_of("f") == before)
    return bench.bytes_of("f"), output.content


def patched(folder: Path, before: bytes, *lines: str) -> tuple[bytes, str]:
    """The file after one patch, and what the model is told."""
    bench = EditBench(folder / "root")
    bench.put("f", before)
    patch = ("*** Begin Patch", "*** Update File: f", *lines, "*** End Patch")
    output = bench.run(APPLY_PATCH, input="\n".join(patch))
    assert not output.is_error, output.content
    return bench.bytes_of("f"), output.content


@case("E01")
def other_line_ends_in_the_search(tmp_path: Path) -> None:
    for more in ({}, {"all": True}):
        after, _ = edited(tmp_path, b"alpha\r\nbeta\r\ngamma", "alpha\nbeta", "A\nB", **more)
        assert after == b"A\r\nB\r\ngamma"


@case("E02")
def mixed_line_ends(tmp_path: Path) -> None:
    after, _ = edited(tmp_path, b"a\r\nb\nc\r\n", "b", "B")
    assert after == b"a\r\nB\nc\r\n"
    twice = b"x\ny\nz\r\nx\r\ny\r\n"
    after, said = edited(tmp_path, twice, "x\ny", "X\nY")
    assert after == twice
    assert "2 " in said


@case("E04")
def a_blank_that_does_not_break(tmp_path: Path) -> None:
    before = "task list in\u00a0current\n".encode()
    after, _ = edited(tmp_path, before, "task list in current", "task list in new")
    assert after == "task list in\u00a0new\n".encode()


@case("E06")
def a_byte_order_mark(tmp_path: Path) -> None:
    after, _ = edited(tmp_path, bytes.fromhex("efbbbf68690d0a"), "hi", "ho")
    assert after == bytes.fromhex("efbbbf686f0d0a")


@case("E08")
def no_newline_at_the_end(tmp_path: Path) -> None:
    after, said = patched(tmp_path, b"line1\nline2", "@@", "-line1", "+LINE1", " line2")
    assert after == b"LINE1\nline2"
    changed = [line for line in said.splitlines() if line[:1] in "+-" and "|" in line]
    assert changed == ["-1|line1", "+1|LINE1"]


@case("E10")
def the_end_of_the_file(tmp_path: Path) -> None:
    after, _ = patched(tmp_path, b"b\na\nb\n", "@@", " b", "+c", "*** End of File")
    assert after == b"b\na\nb\nc\n"


@case("R02")
def killed_while_a_person_is_asked(tmp_path: Path) -> None:
    command, work = CommandLine(tmp_path), tmp_path / "work"
    work.mkdir()
    arguments = {"path": "notes.txt", "content": "kept\n"}
    write = CHAT.answer(calls=(("c1", "write", json.dumps(arguments)),))
    submit = ("c2", SUBMIT_TOOL, submit_arguments({"summary": "done"}, ""))
    save_workflow(graph([agent_node("a")]), tmp_path / "flow.workflow.json")
    with LoopbackServer(write, CHAT.answer(calls=(submit,))) as server:
        begun = ("run", str(tmp_path / "flow.workflow.json"), "--base-url", server.url)
        first = AtTerminal((*begun, "--cwd", str(work)), command.env)
        first.wait_for("allow?")
        first.kill()
        (run,) = json.loads(command.run("runs", "list", timeout_s=PATIENCE_S).out)
        again = AtTerminal(("runs", "resume", run["run_id"]), command.env)
        again.wait_for("A wants to call write")
        again.wait_for("would create notes.txt:")
        again.wait_for("+1|kept")
        again.wait_for("allow?")
        assert not (work / "notes.txt").exists()
        again.type("y")
        status, _ = again.ended(PATIENCE_S)
        assert status == 0
        messages = server.last.json["messages"]
    assert (work / "notes.txt").read_text() == "kept\n"
    made = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(made) == 1
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == made


@case("R04")
def stopped_in_a_call(tmp_path: Path) -> None:
    asked: list[TranscriptItem] = [
        AssistantMessage("Two things."),
        CallItem(ToolCall("t1", "read", {}, "w1")),
        CallItem(ToolCall("t2", "read", {}, "w2")),
        ResultItem(ToolResult("t1", "read", "first")),
    ]
    orphan = ResultItem(ToolResult("t9", "read", "nobody asked"))
    bodies = []
    with LoopbackServer() as server:
        for items in (asked, asked, [*asked, orphan]):
            request = node_request(MODEL, transcript=TranscriptView(items))
            submit = ("s", SUBMIT_TOOL, submit_arguments({"title": "x", "points": 1}))
            play(CHAT, server, CHAT.answer(calls=(submit,)), request=request)
            bodies.append(server.last.json["messages"])
    assert bodies[0] == bodies[1] == bodies[2]
    made = [call["id"] for message in bodies[0] for call in message.get("tool_calls", ())]
    results = [message for message in bodies[0] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in results] == made
    assert results[0]["content"] == "first"
    assert "cancelled" in results[1]["content"]


class _Crashing(MemoryJournal):
    """Breaks off before the result of a write is kept."""

    async def result(self, node_id: str, result: ToolResult, **more: Any) -> None:
        if result.tool_name == "write":
            raise _Crash
        await super().result(node_id, result, **more)


class _Crash(Exception):
    pass


@case("R05")
def killed_before_the_checkpoint(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    flow = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "yolo"}})
    world = World(flow, manual=True, tools=("send_email", "write", "read")).start()
    wanted = {"path": "a.txt", "content": "x\n"}
    world.reply("a", calls(("send_email", {}), ("write", wanted), ("read", {"path": "a.txt"})))
    mail, write, read = (each.call for each in world.batches["a"].calls)

    journal = _Crashing()
    tools = (
        made_tool("send_email", say, tier=ToolTier.WRITE),
        WRITE,
        made_tool("read", say),
    )
    bench = ToolBench(root, *tools, journal=journal)
    with pytest.raises(_Crash):
        asyncio.run(
            bench.execute(
                *(admitted_call(c.name, c.id, **c.arguments) for c in (mail, write, read))
            )
        )
    assert (root / "a.txt").read_text() == "x\n"
    kept = {f.result.call_id: f.result for f in journal.tool_facts if isinstance(f, CallResult)}
    begun = [fact for fact in journal.tool_facts if isinstance(fact, CallIntent)]
    assert list(kept) == [mail.id]
    assert [fact.call.call.id for fact in begun] == [mail.id, write.id]

    unknown = [
        OpenCall("a", fact.call, 0.0, False, fact.targets)
        for fact in begun
        if fact.call.call.id not in kept
    ]
    _, (found,) = classified(unknown, versions_now(unknown))
    assert found.sign is Sign.CHANGED
    again = world.restored()
    evidence = CallEvidence(write.id, found.sign, found.files)
    ends = tuple(KnownEnd(result) for result in kept.values())
    again.apply(again.engine.feed(Started(again.now, ends=ends, evidence=(evidence,))))
    (asked,) = again.engine.waiting().uncertain
    assert asked.tool_call.name == "write"
    assert asked.evidence.files[0].now == version_of(root / "a.txt")
    ran = [admitted.call.name for batch in again.batches.values() for admitted in batch.calls]
    assert ran in ([], ["read"])


@case("R07")
def arguments_that_drift(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, WRITE)
    approved = {"path": "a.txt", "content": "1"}
    digest = call_digest(("n",), "write", approved)
    at_execution = ToolCall("c1", "write", {"path": "a.txt", "content": "2"})
    (result,) = bench.results(AdmittedCall(at_execution, digest))
    assert result.is_error
    assert result.drifted
    assert not (tmp_path / "a.txt").exists()
    assert not bench.journal.tool_facts


@case("R09")
def a_whole_tree(tmp_path: Path) -> None:
    python = f"{sys.executable} -c \"import subprocess;subprocess.Popen(['sleep','300'])\""
    env = shell("", tmp_path).env
    mark = {key: value for key, value in env.items() if key != "PATH"}

    async def answered(command: str) -> str:
        call = BASH.run({"command": command, "env": mark}, context_in(tmp_path))
        return (await asyncio.wait_for(call, PATIENCE_S)).content

    async def stopped(command: str) -> None:
        begun = tmp_path / "begun"
        begun.unlink(missing_ok=True)
        script = f"{command}; cat; echo $$ > {begun}; sleep 300"
        call = asyncio.ensure_future(
            BASH.run({"command": script, "env": mark}, context_in(tmp_path))
        )
        await until_there(begun)
        assert alive(tmp_path)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, PATIENCE_S)

    for command in (
        "sleep 300 & echo done",
        "setsid sleep 300 & echo done",
        f"{python}; echo done",
    ):
        assert asyncio.run(answered(command)).startswith("done\n")
        assert not alive(tmp_path)
        asyncio.run(stopped(command))
        assert not alive(tmp_path)

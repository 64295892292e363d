"""Runs with the program's own tools: what nodes learn of what others read and changed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.graph.workflow import Workflow
from engine.vocabulary import events as ev
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.tools import JsonObject
from orchestration.settings.model import ToolSettings
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.file_edits.edit_log import RevertRefused
from orchestration.tools.tool import ToolContext, ToolOutput
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import RunRig, run_async, settled_needs
from tests.support.scripted_model import OK, Held, Script, ask, use

CHAIN = [("a", "b"), ("b", "c")]
YOLO = {"tools": {"approvalMode": "yolo"}}


def rig_in(folder: Path, flow: Workflow, script: Script) -> RunRig:
    return RunRig(flow, script, folder / "work", tools=builtin_tools(ToolSettings()))


def of_all(*edges: tuple[str, str], **config: Any) -> Workflow:
    return workflow(edges, defaults={**YOLO, **config})


def changes_told(rig: RunRig, node_id: str) -> list[JsonObject]:
    told: list[JsonObject] = rig.model.requests_of(node_id)[0].input.get("changed_files", [])
    return told


def patch(*lines: str) -> tuple[str, JsonObject]:
    return ("apply_patch", {"input": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])})


def test_another_node_is_given_what_an_earlier_one_read_and_told_so(tmp_path: Path) -> None:
    read = use(("read", {"path": "f.txt"}))
    script = {"a": [read, read, OK], "b": [read, OK]}

    async def body() -> None:
        rig = rig_in(tmp_path, of_all(("a", "b")), script)
        (rig.folder / "f.txt").write_text("one\n")
        assert isinstance(await rig.start(), RunCompleted)
        first, again, other = rig.events(ev.ToolCompleted)
        assert "1:one" in first.content
        assert "1:one" not in again.content
        assert f"your earlier call {first.tool_call_id}" in again.content
        assert other.content.startswith("[cached] Unchanged since node 'a' ")
        assert other.content.endswith(first.content)

    run_async(body)


def test_a_search_is_answered_again_until_somebody_changes_a_file(tmp_path: Path) -> None:
    find = use(("search", {"pattern": "needle", "paths": "."}))
    held = Held(find)
    script = {"a": [find, OK], "b": [find, held, OK]}

    async def body() -> None:
        rig = rig_in(tmp_path, of_all(("a", "b")), script)
        (rig.folder / "f.txt").write_text("a needle\n")
        rig.run.start()
        await held.begun.wait()
        (rig.folder / "g.txt").write_text("another needle\n")
        held.release.set()
        assert isinstance(await rig.run.settled(), RunCompleted)
        contents = [event.content for event in rig.events(ev.ToolCompleted)]
        assert contents[1].startswith("[cached] Unchanged since node 'a' ")
        assert "[cached]" not in contents[2]
        assert "g.txt:1:another needle" in contents[2]

    run_async(body)


def test_a_chain_of_renames_is_told_as_one_change_to_all_descendants(tmp_path: Path) -> None:
    rename = ["*** Update File: {}", "*** Move to: {}", "@@", "-{}", "+{}"]

    def moved(source: str, target: str, old: str, new: str) -> tuple[str, JsonObject]:
        words = iter([source, target, old, new])
        return patch(*(line if "{}" not in line else line.format(next(words)) for line in rename))

    script = {
        "a": [
            use(("write", {"path": "one.txt", "content": "first\n"})),
            use(moved("one.txt", "two.txt", "first", "second")),
            OK,
        ],
        "b": [use(moved("two.txt", "three.txt", "second", "third")), OK],
        "c": [OK],
    }

    async def body() -> None:
        rig = rig_in(tmp_path, of_all(*CHAIN), script)
        assert isinstance(await rig.start(), RunCompleted)
        (told,) = changes_told(rig, "b")
        assert (told["op"], told["path"], told["renameTo"]) == ("rename", "one.txt", "two.txt")
        (told,) = changes_told(rig, "c")
        assert (told["op"], told["path"], told["renameTo"]) == ("rename", "two.txt", "three.txt")
        assert "third" in told["diffSummary"]
        assert (rig.folder / "three.txt").read_text() == "third\n"

    run_async(body)


def test_the_latest_change_of_a_file_is_the_one_that_is_told(tmp_path: Path) -> None:
    def edit(old: str, new: str) -> Any:
        edits = [{"old_text": old, "new_text": new}]
        return use(("edit", {"path": "f.txt", "edits": edits}))

    script = {
        "a": [use(("write", {"path": "f.txt", "content": "one\n"})), edit("one", "two"), OK],
        "b": [use(("read", {"path": "f.txt"})), edit("two", "three"), OK],
        "c": [OK],
    }

    async def body() -> None:
        rig = rig_in(tmp_path, of_all(*CHAIN), script)
        assert isinstance(await rig.start(), RunCompleted)
        for node_id, text in [("b", "two"), ("c", "three")]:
            (told,) = changes_told(rig, node_id)
            assert (told["op"], told["path"]) == ("update", "f.txt")
            assert f"+1|{text}" in told["diffSummary"]

    run_async(body)


@pytest.mark.parametrize("forwards", [True, False])
def test_what_was_read_is_told_with_its_outline(tmp_path: Path, forwards: bool) -> None:
    flow = workflow(CHAIN, defaults=YOLO, settings={"forward_upstream_reads": forwards})
    script = {"a": [use(("read", {"path": "app.py"})), OK], "b": [OK], "c": [OK]}

    async def body() -> None:
        rig = rig_in(tmp_path, flow, script)
        (rig.folder / "app.py").write_text("import os\n\n\ndef main():\n    return os\n")
        assert isinstance(await rig.start(), RunCompleted)
        for node_id in "bc":
            given = rig.model.requests_of(node_id)[0].input
            told = [item for key, item in given.items() if "read" in key]
            if forwards:
                ((record,),) = told
                assert record["path"] == "app.py"
                assert "def main():" in record["outline"]
            else:
                assert told == []

    run_async(body)


def test_an_undone_edit_is_told_to_no_later_node(tmp_path: Path) -> None:
    listing = use(("find", {"paths": "."}))
    flow = workflow(CHAIN, defaults=YOLO, agents={"b": {**YOLO, **ASKING}})
    script = {
        "a": [use(("write", {"path": "f.txt", "content": "x\n"})), OK],
        "b": [listing, ask("Well?"), listing, OK],
        "c": [OK],
    }

    async def body() -> None:
        rig = rig_in(tmp_path, flow, script)
        (rig.folder / "kept.txt").write_text("kept\n")
        assert isinstance(await rig.start(), NeedsInteraction)
        assert [told["path"] for told in changes_told(rig, "b")] == ["f.txt"]
        (recorded,) = rig.events(ev.EditBatchRecorded)
        batch_id = recorded.batch.batch_id
        report = await rig.run.revert_edit_batch(batch_id)
        assert report.removed == ("f.txt",)
        assert not (rig.folder / "f.txt").exists()
        assert rig.events(ev.EditBatchUndone) == [ev.EditBatchUndone("a", batch_id)]
        assert rig.view.changed_files == []
        with pytest.raises(RevertRefused):
            await rig.run.revert_edit_batch(batch_id)
        await rig.run.answer("b", "go on")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert changes_told(rig, "c") == []
        lists = [e.content for e in rig.events(ev.ToolCompleted) if e.tool_name == "find"]
        assert "f.txt" in lists[0]
        assert "f.txt" not in lists[1]
        assert "kept.txt" in lists[1]

    run_async(body)


def test_an_edit_that_is_undone_after_a_stop_is_not_told_when_the_run_goes_on(
    tmp_path: Path,
) -> None:
    held = Held(OK)
    script = {
        "a": [use(("write", {"path": "f.txt", "content": "x\n"})), OK],
        "b": [held, OK],
        "c": [OK],
    }

    async def body() -> None:
        rig = rig_in(tmp_path, of_all(*CHAIN), script)
        rig.run.start()
        await held.begun.wait()
        await rig.run.stop()
        (recorded,) = rig.events(ev.EditBatchRecorded)
        await rig.run.revert_edit_batch(recorded.batch.batch_id)
        rig.run.continue_()
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert "changed_files" not in rig.model.requests_of("b")[-1].input
        assert changes_told(rig, "c") == []

    run_async(body)


def test_a_file_that_changes_while_a_person_decides_is_asked_about_again(tmp_path: Path) -> None:
    edit = ("edit", {"path": "f.txt", "edits": [{"old_text": "one", "new_text": "two"}]})
    flow = workflow(nodes=["a"])

    async def body() -> None:
        rig = rig_in(tmp_path, flow, {"a": [use(edit), OK]})
        file = rig.folder / "f.txt"
        file.write_text("one\n")
        rig.run.start()
        (first,) = (await settled_needs(rig)).approvals
        assert first.preview is not None
        assert "+1|two" in first.preview.files[0].diff
        file.write_text("one\nmore\n")
        await rig.run.decide(first.approval_id, allow=True)
        (second,) = (await settled_needs(rig)).approvals
        assert file.read_text() == "one\nmore\n"
        assert second.approval_id != first.approval_id
        assert rig.events(ev.ToolStarted) == rig.events(ev.ToolCompleted) == []
        await rig.run.decide(second.approval_id, allow=True)
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert file.read_text() == "two\nmore\n"

    run_async(body)


def test_what_an_interrupted_node_had_changed_is_told_all_the_same(tmp_path: Path) -> None:
    """The turn's second call runs on when the node is interrupted; its first had written."""
    turn = use(("write", {"path": "f.txt", "content": "x\n"}), ("bash", {"command": "make"}))
    waiting = asyncio.Event()

    async def wait(_: JsonObject, __: ToolContext) -> ToolOutput:
        waiting.set()
        await asyncio.Event().wait()
        return ToolOutput("never")

    async def body() -> None:
        tools = [
            msgspec.structs.replace(tool, run=wait) if tool.definition.name == "bash" else tool
            for tool in builtin_tools(ToolSettings())
        ]
        script = {"a": [turn, OK], "b": [OK]}
        rig = RunRig(of_all(("a", "b")), script, tmp_path / "work", tools=tools)
        rig.run.start()
        await waiting.wait()
        await rig.run.interrupt_node("a")
        await settled_needs(rig)
        assert (rig.folder / "f.txt").exists()
        await rig.run.retry_node("a")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert [told["path"] for told in changes_told(rig, "b")] == ["f.txt"]

    run_async(body)


def test_a_node_that_is_interrupted_takes_its_subagents_along(tmp_path: Path) -> None:
    helper = Held(OK)
    declare = ("openflow_declare_subagents", {"subagents": [{"name": "Helper", "purpose": "Help"}]})

    async def body() -> None:
        actors: list[str] = []

        def script(request: Any) -> Any:
            if "/" in request.node_id:
                actors.append(request.node_id)
                return helper
            declared = rig.events(ev.SubagentsDeclared)
            if not declared:
                return use(declare)
            name = declared[0].summaries[0].id
            call = {"subagent_id": name, "input": "Look."}
            return use(("openflow_call_subagent", call))

        rig = rig_in(tmp_path, of_all(("a", "b")), script)
        rig.run.start()
        await asyncio.wait_for(helper.begun.wait(), 20)
        assert [event.node_id for event in rig.events(ev.NodeStarted)] == ["a", actors[0]]
        await rig.run.interrupt_node("a")
        await settled_needs(rig)
        assert helper.cancelled
        assert rig.model.in_flight == 0
        await rig.run.stop()

    run_async(body)

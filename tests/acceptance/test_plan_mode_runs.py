"""Plan mode through the command line: a plan is drafted, sealed once allowed, and followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.graph.workflow import PlanMode, Workflow, WorkflowSettings
from engine.vocabulary.tools import SEAL_PLAN_TOOL, SUBMIT_TOOL
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, LoopbackServer
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
PLAN = "# Plan\n\n1. Write the note.\n"


def calls(*named: tuple[str, Any]) -> Answer:
    return CHAT.answer(
        calls=tuple((f"c{at}", name, json.dumps(args)) for at, (name, args) in enumerate(named))
    )


def submit(summary: str) -> Answer:
    arguments = submit_arguments({"summary": summary}, "Done.")
    return CHAT.answer(calls=(("c1", SUBMIT_TOOL, arguments),))


DRAFT = calls(("write", {"path": "run://PLAN.md", "content": PLAN}))
SEAL = calls((SEAL_PLAN_TOOL, {}))
EARLY = calls(("write", {"path": "note.txt", "content": "too early"}), ("bash", {"command": "ls"}))
WRITE = calls(("write", {"path": "note.txt", "content": "as planned"}))


def planned() -> Workflow:
    settings = WorkflowSettings(plan_mode=PlanMode(evidence_source_node_id="plan"))
    nodes = [agent_node("plan", request_user_input=True), agent_node("work")]
    return graph(nodes, [("plan", "work")], settings)


def run(folder: Path, server: LoopbackServer, *more: str) -> Ended:
    (folder / "work").mkdir()
    save_workflow(planned(), folder / "flow.workflow.json")
    return CommandLine(folder).run(
        *("run", folder / "flow.workflow.json", "--base-url", server.url),
        *("--cwd", folder / "work", "--events", folder / "events.jsonl"),
        *more,
        timeout_s=110,
    )


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for line in lines if (event := json.loads(line))["type"] == kind]


def test_nothing_is_changed_before_the_plan_is_sealed_and_then_it_is_followed(
    tmp_path: Path,
) -> None:
    with LoopbackServer() as server:
        server.play(EARLY, DRAFT, SEAL, submit("planned"), WRITE, submit("done"))
        ended = run(tmp_path, server, "--approve", "allow")
        told = json.dumps(server.asked[4].json)

    assert (ended.status, ended.err, ended.left) == (0, "", ())
    denied = [(event["node_id"], event["tool_name"]) for event in events(tmp_path, "tool_denied")]
    assert denied == [("plan", "write"), ("plan", "bash")]
    asked = [event["request"] for event in events(tmp_path, "tool_approval_requested")]
    assert [each["tool_call"]["name"] for each in asked] == [SEAL_PLAN_TOOL, "write"]
    assert "rule" not in asked[0] or asked[0]["rule"] is None
    assert (tmp_path / "work" / "note.txt").read_text(encoding="utf-8") == "as planned\n"
    assert "change_evidence_packet" in told
    assert "planned" in told
    assert [each["path"] for each in ended.report["changed_files"]] == ["note.txt"]


def test_a_plan_that_nobody_seals_waits(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        server.play(DRAFT, SEAL)
        ended = run(tmp_path, server)

    assert ended.status == 3
    (waiting,) = ended.report["waiting"]
    assert (waiting["node_id"], waiting["tool_name"]) == ("plan", SEAL_PLAN_TOOL)
    assert list((tmp_path / "work").iterdir()) == []

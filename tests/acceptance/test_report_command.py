"""`openflow runs report` on a run that was stored."""

from __future__ import annotations

from pathlib import Path

from engine.vocabulary.tools import SUBMIT_TOOL
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine
from tests.support.graphs import agent_node, graph
from tests.support.loopback import LoopbackServer
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
PATIENCE_S = 60.0


def test_a_stored_run_is_reported_and_a_key_is_not(tmp_path: Path) -> None:
    key = "sk-a-secret-key-0123456789abcdef"
    openflow = CommandLine(tmp_path)
    flow = tmp_path / "flow.workflow.json"
    save_workflow(graph([agent_node("a")]), flow)
    with LoopbackServer() as server:
        output = submit_arguments({"summary": f"<b>bold</b> {key}"}, "")
        server.play(CHAT.answer(calls=(("c1", SUBMIT_TOOL, output),)))
        words = ("run", flow, "--base-url", server.url, "--input", "Build a kite")
        run_id = openflow.run(*words, timeout_s=PATIENCE_S).report["run_id"]

    page = openflow.run("runs", "report", run_id, timeout_s=PATIENCE_S)
    assert page.status == 0
    assert page.out.startswith("<!DOCTYPE html>")
    assert "&lt;b&gt;bold&lt;/b&gt;" in page.out
    file = tmp_path / "report.md"
    written = openflow.run("runs", "report", run_id, "--output", file, timeout_s=PATIENCE_S)
    assert written.report == {"run_id": run_id, "file": str(file), "format": "md"}
    assert "Build a kite" in file.read_text(encoding="utf-8")
    again = openflow.run("runs", "report", run_id, "--output", file, timeout_s=PATIENCE_S)
    assert again.status == 2
    assert "is there already" in again.sentence()

    holder = CommandLine(tmp_path, OPENAI_API_KEY=key)
    refused = holder.run("runs", "report", run_id, timeout_s=PATIENCE_S)
    assert (refused.status, refused.out) == (2, "")
    assert "holds the value of a stored key" in refused.sentence()

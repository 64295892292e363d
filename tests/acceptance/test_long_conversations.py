"""A service that finds a conversation too long, on each wire, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import SUBMIT_TOOL
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, LoopbackServer
from tests.support.wire_scripts import SCRIPTS, WireScript, submit_arguments

PAGES = 6
LINE = "The quick brown fox jumps over the lazy dog.\n"
TOO_LONG = {
    Wire.CHAT: (
        400,
        "This model's maximum context length is 4096 tokens.",
        "context_length_exceeded",
    ),
    Wire.RESPONSES: (400, "Your input exceeds the context window of this model.", ""),
    Wire.MESSAGES: (400, "prompt is too long: 9000 tokens > 4096 maximum", ""),
}


def read(script: WireScript, at: int) -> Answer:
    """A call that reads a page; how many tokens it took is not said."""
    call = (f"c{at}", "read", json.dumps({"path": f"page-{at}.txt"}))
    return script.answer(calls=(call,), counts=None)


def run(folder: Path, wire: Wire, server: LoopbackServer, *answers: Answer) -> Ended:
    """Run one node against the server, in a folder with pages."""
    for at in range(PAGES):
        (folder / f"page-{at}.txt").write_text(f"page {at}\n" + LINE * 90)
    path = folder / "flow.workflow.json"
    save_workflow(graph([agent_node("a")]), path)
    server.play(*[read(SCRIPTS[wire], at) for at in range(PAGES)], *answers)
    return CommandLine(folder).run(
        *("run", path, "--base-url", server.url, "--wire", wire.value, "--cwd", folder),
        *("--events", folder / "events.jsonl"),
    )


def told(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The events of one type."""
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["type"] == kind]


@pytest.mark.parametrize("wire", list(Wire))
def test_a_conversation_that_is_refused_is_compacted_once_and_goes_on(
    tmp_path: Path, wire: Wire
) -> None:
    script = SCRIPTS[wire]
    submit = script.answer(
        calls=(("s1", SUBMIT_TOOL, submit_arguments({"summary": "read"}, "Done.")),), counts=None
    )
    with LoopbackServer() as server:
        ended = run(tmp_path, wire, server, script.refusal(*TOO_LONG[wire]), submit)
        bodies = [asked.body for asked in server.asked]
    assert (ended.status, ended.report["outputs"]) == (0, {"a": {"summary": "read"}})
    assert len(bodies) == PAGES + 2
    assert len(bodies[-1]) < len(bodies[-2]) * 0.75
    assert b"put aside to save context" in bodies[-1]
    assert b"artifact:" in bodies[-1]
    # The last result is whole.
    assert b"page 5\\n" in bodies[-1]
    (event,) = told(tmp_path, "context_compacted")
    assert event["node_id"] == "a"
    assert event["after"] < event["before"]
    for made in told(tmp_path, "tool_artifact_created"):
        assert Path(made["path"]).read_text(encoding="utf-8").count(LINE.strip()) == 90


@pytest.mark.parametrize("wire", list(Wire))
def test_a_conversation_that_is_refused_again_fails_its_node_in_clear_words(
    tmp_path: Path, wire: Wire
) -> None:
    script = SCRIPTS[wire]
    refusal = script.refusal(*TOO_LONG[wire])
    with LoopbackServer() as server:
        ended = run(tmp_path, wire, server, refusal, refusal)
        assert len(server.asked) == PAGES + 2
    assert ended.status == 1
    assert TOO_LONG[wire][1].rstrip(".") in ended.report["failed"]["a"]
    assert "choose a model with a larger context window" in ended.err

"""Whole runs through the command line against a scripted endpoint on this computer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from engine.graph.node_config import NodeToolConfig
from engine.graph.workflow import RetryPolicy, Workflow, WorkflowSettings
from engine.vocabulary.tools import (
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    ApprovalMode,
)
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, Cut, Hang, LoopbackServer, refused_url
from tests.support.wire_scripts import SCRIPTS, WireScript, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
QUICK = RetryPolicy(max_attempts=2, backoff_ms=1)


def submit(summary: str, script: WireScript = CHAT) -> Answer:
    arguments = submit_arguments({"summary": summary}, "Done.")
    return script.answer(text="Thinking aloud.", calls=(("c1", SUBMIT_TOOL, arguments),))


def calls(name: str, **arguments: Any) -> Answer:
    return CHAT.answer(calls=(("c1", name, json.dumps(arguments)),))


class Bench:
    """A command line, an endpoint, and workflows that go to it."""

    def __init__(self, folder: Path, server: LoopbackServer) -> None:
        self.folder, self.server = folder, server
        self.openflow = CommandLine(folder)
        self.url = server.url

    def saved(self, workflow: Workflow) -> Path:
        path = self.folder / "flow.workflow.json"
        save_workflow(workflow, path)
        return path

    def arguments(self, workflow: Workflow, *more: str | Path) -> tuple[str | Path, ...]:
        return ("run", self.saved(workflow), "--base-url", self.url, *more)

    def run(self, workflow: Workflow, *more: str | Path, **options: Any) -> Ended:
        return self.openflow.run(*self.arguments(workflow, *more), **options)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with LoopbackServer() as server:
        yield Bench(tmp_path, server)


def one(policy: RetryPolicy = QUICK, **config: Any) -> Workflow:
    return graph([agent_node("a", **config)], settings=WorkflowSettings(retry_policy=policy))


def chain() -> Workflow:
    return graph(["a", "b"], [("a", "b")], WorkflowSettings(retry_policy=QUICK))


# Success


@pytest.mark.parametrize("wire", list(Wire))
def test_a_run_that_succeeds_prints_its_report_and_nothing_else(bench: Bench, wire: Wire) -> None:
    script = SCRIPTS[wire]
    bench.server.play(submit("first", script), submit("second", script))
    ended = bench.run(chain(), "--wire", wire.value, "--input", "Build a kite")
    assert (ended.status, ended.err, ended.left) == (0, "", ())
    report = ended.report
    assert list(report) == [
        "run_id",
        "status",
        "outputs",
        "failed",
        "waiting",
        "usage",
        "changed_files",
    ]
    assert report["status"] == "completed"
    assert report["outputs"] == {"a": {"summary": "first"}, "b": {"summary": "second"}}
    assert (report["failed"], report["waiting"], report["changed_files"]) == ({}, [], [])
    assert report["usage"]["tokens_in"] == 240
    assert b"Build a kite" in bench.server.asked[0].body
    assert b"first" in bench.server.asked[1].body


def test_the_text_to_start_with_comes_from_a_file_or_from_standard_input(bench: Bench) -> None:
    (bench.folder / "in.txt").write_text("From a file, \u00fc.\n", encoding="utf-8")
    bench.server.play(submit("1"), submit("2"))
    assert bench.run(one(), "--input-file", bench.folder / "in.txt").status == 0
    assert bench.run(one(), "--input-file", "-", stdin="Von Hand, \u00e4.".encode()).status == 0
    bodies = [json.dumps(asked.json, ensure_ascii=False) for asked in bench.server.asked]
    assert "From a file, \u00fc." in bodies[0]
    assert "Von Hand, \u00e4." in bodies[1]


def test_overrides_reach_the_endpoint_and_a_key_no_output(bench: Bench) -> None:
    bench.openflow.env["OPENAI_API_KEY"] = "sk-very-secret"
    bench.server.play(submit("x", SCRIPTS[Wire.RESPONSES]))
    events = bench.folder / "events.jsonl"
    ended = bench.run(one(), "--provider", "openai", "--model", "mine", "--events", events)
    assert ended.status == 0
    assert bench.server.last.headers["authorization"] == "Bearer sk-very-secret"
    assert bench.server.last.json["model"] == "mine"
    written = [path.read_bytes() for path in bench.folder.rglob("*") if path.is_file()]
    assert not any(b"sk-very-secret" in data for data in written)
    assert "sk-very-secret" not in ended.out + ended.err


def test_a_tool_reads_in_the_execution_folder_and_nowhere_else(bench: Bench) -> None:
    project = bench.folder / "project"
    project.mkdir()
    (project / "notes.txt").write_text("the kite is red\n")
    bench.server.play(
        calls("read", path="notes.txt"), calls("read", path="../flow.workflow.json"), submit("x")
    )
    ended = bench.run(one(), "--cwd", project)
    assert ended.status == 0
    assert b"the kite is red" in bench.server.asked[1].body
    assert b"[permission_denied]" in bench.server.asked[2].body


def test_a_reader_that_leaves_early_is_no_error(bench: Bench) -> None:
    bench.server.play(submit("x"))
    running = bench.openflow.start(*bench.arguments(one()))
    running.close_stdout()
    ended = running.ended()
    assert (ended.status, ended.err, ended.left) == (0, "", ())


# Events


def test_every_event_is_a_line_with_a_number_a_time_and_a_type(bench: Bench) -> None:
    bench.server.play(calls("read", path="."), submit("first"), submit("second"))
    path = bench.folder / "events.jsonl"
    assert bench.run(chain(), "--events", path).status == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    times = [datetime.fromisoformat(line["time"]) for line in lines]
    assert times == sorted(times)
    assert all(line["time"].endswith("Z") for line in lines)
    fields: dict[str, set[str]] = {}
    for line in lines:
        fields.setdefault(line["type"], set()).update(line.keys() - {"seq", "time", "type"})
    expected = {
        "node_queued": {"node_id", "label"},
        "node_started": {"node_id", "label"},
        "chat_message_delta": {"node_id", "message_id", "role", "delta"},
        "tool_call_proposed": {"node_id", "label", "tool_call"},
        "tool_started": {"node_id", "tool_call_id", "tool_name", "arguments"},
        "tool_completed": {"node_id", "tool_call_id", "tool_name", "content"},
        "node_completed": {"node_id", "label", "output"},
        "usage_reported": {"node_id", "usage", "model"},
        "phase_timed": {"phase", "label", "duration_ms"},
        "finished": {"report"},
    }
    for kind, names in expected.items():
        assert names <= fields[kind], kind
    assert lines[-1]["type"] == "finished"


def test_events_go_to_standard_error_on_request(bench: Bench) -> None:
    bench.server.play(submit("x"))
    ended = bench.run(one(), "--events", "-")
    assert ended.status == 0
    lines = [json.loads(line) for line in ended.err.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))


# Failures


def failed(ended: Ended) -> str:
    """The sentence of a run that failed at node `a`, which its report names too."""
    assert ended.status == 1
    assert ended.report["status"] == "failed"
    assert list(ended.report["failed"]) == ["a"]
    sentence = ended.sentence()
    assert "node 'a'" in sentence
    return sentence


def test_a_refused_connection(bench: Bench) -> None:
    bench.url = refused_url()
    sentence = failed(bench.run(one()))
    assert f"{bench.url}: connection refused (is the server running?)" in sentence


@pytest.mark.parametrize(
    ("status", "requests", "words"),
    [(401, 1, "401"), (403, 1, "403"), (400, 1, "400"), (429, 3, "429"), (500, 3, "500")],
)
def test_a_refusal_of_the_endpoint(bench: Bench, status: int, requests: int, words: str) -> None:
    bench.server.play(*[CHAT.refusal(status, "no luck today")] * 5)
    sentence = failed(bench.run(one()))
    assert words in sentence
    assert "no luck today" in sentence
    assert len(bench.server.asked) == requests


def test_a_limit_that_passes_is_waited_for(bench: Bench) -> None:
    bench.server.play(CHAT.refusal(429, "slow down", retry_after="0"), submit("x"))
    ended = bench.run(one())
    assert (ended.status, ended.err) == (0, "")
    assert len(bench.server.asked) == 2


def test_a_stream_that_is_cut(bench: Bench) -> None:
    cut = CHAT.broken(Cut(), text="Once upon a time")
    bench.server.play(cut, cut, cut)
    failed(bench.run(one()))
    assert len(bench.server.asked) == 3


def test_a_failure_holds_back_its_descendants_only(bench: Bench) -> None:
    bench.server.play(CHAT.refusal(401, "who are you"))
    ended = bench.run(chain())
    assert "node 'a'" in failed(ended)
    assert ended.report["outputs"] == {}
    assert len(bench.server.asked) == 1


# Ctrl+C


def test_ctrl_c_stops_the_run_and_leaves_nothing_running(bench: Bench) -> None:
    bench.server.play(CHAT.broken(Hang(), text="Once upon a time"))
    pipe = bench.folder / "events"
    os.mkfifo(pipe)
    running = bench.openflow.start(*bench.arguments(one(), "--events", pipe))
    with pipe.open() as events:
        for line in events:
            if json.loads(line)["type"] == "chat_message_delta":
                running.interrupt()
                break
        kinds = [json.loads(line)["type"] for line in events]
    ended = running.ended(20)
    assert ended.status == 130
    assert ended.report["status"] == "stopped"
    assert "stopped" in ended.sentence()
    assert kinds[-1] == "aborted"
    assert bench.server.client_gone.wait(5)


# People


def asking() -> Workflow:
    return one(request_user_input=True)


def test_a_question_without_an_answer_pauses_the_run(bench: Bench) -> None:
    bench.server.play(calls(REQUEST_INPUT_TOOL, assistant_message="Which colour?"))
    ended = bench.run(asking())
    assert ended.status == 3
    assert ended.report["status"] == "paused"
    (waiting,) = ended.report["waiting"]
    assert (waiting["kind"], waiting["node_id"]) == ("question", "a")
    assert waiting["question"] == "Which colour?"
    sentence = ended.sentence()
    assert "node 'a'" in sentence
    assert "Which colour?" in sentence
    assert "--answers" in sentence


def test_answers_are_used_in_order(bench: Bench) -> None:
    bench.server.play(
        calls(REQUEST_INPUT_TOOL, assistant_message="Which colour?"),
        calls(REQUEST_INPUT_TOOL, assistant_message="Which size?"),
        submit("x"),
    )
    answers = bench.folder / "answers.json"
    answers.write_text(
        json.dumps([{"node_id": "a", "text": "Crimson"}, {"node_id": "a", "text": "Gigantic"}])
    )
    ended = bench.run(asking(), "--answers", answers)
    assert (ended.status, ended.err) == (0, "")
    bodies = [asked.body for asked in bench.server.asked]
    assert [b"Crimson" in body for body in bodies] == [False, True, True]
    assert [b"Gigantic" in body for body in bodies] == [False, False, True]


def careful() -> Workflow:
    return one(tools=NodeToolConfig(approval_mode=ApprovalMode.ALWAYS_ASK))


def test_a_call_without_a_decision_pauses_the_run(bench: Bench) -> None:
    bench.server.play(calls("read", path="."))
    ended = bench.run(careful())
    assert ended.status == 3
    (waiting,) = ended.report["waiting"]
    assert (waiting["kind"], waiting["tool_name"]) == ("approval", "read")
    assert waiting["arguments"] == {"path": "."}
    assert "read" in ended.sentence()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--approve", "allow"], b"(directory)"),
        (["--approve", "deny"], b"denied"),
    ],
)
def test_calls_are_decided_by_rule(bench: Bench, more: list[str], words: bytes) -> None:
    bench.server.play(calls("read", path="."), submit("x"))
    ended = bench.run(careful(), *more)
    assert (ended.status, ended.err) == (0, "")
    assert words in bench.server.last.body


def test_a_prepared_decision_comes_first_and_its_reason_reaches_the_model(bench: Bench) -> None:
    bench.server.play(calls("read", path="."), submit("x"))
    answers = bench.folder / "answers.json"
    answers.write_text(json.dumps([{"tool_name": "read", "allow": False, "reason": "not today"}]))
    ended = bench.run(careful(), "--answers", answers, "--approve", "allow")
    assert ended.status == 0
    assert b"not today" in bench.server.last.body


# Providers


def test_a_check_asks_the_endpoint_itself(bench: Bench) -> None:
    data = bench.folder / "data"
    data.mkdir()
    profile = {"base_url": bench.url, "default_model": "m"}
    (data / "settings.json").write_text(
        json.dumps({"providers": {"custom_openai_compatible": profile}})
    )
    ended = bench.openflow.run("providers", "check", "custom_openai_compatible")
    assert ended.status == 1
    assert bench.server.asked
    assert "custom_openai_compatible" in ended.sentence()
    assert ended.report["ok"] is False

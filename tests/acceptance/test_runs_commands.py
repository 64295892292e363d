"""Stored runs through the command line: taken up, replayed, forked, handed on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.graph.node_config import NodeToolConfig
from engine.graph.workflow import RetryPolicy, Workflow, WorkflowSettings
from engine.vocabulary.tools import REQUEST_INPUT_TOOL, SUBMIT_TOOL, ApprovalMode
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, Hang, LoopbackServer
from tests.support.terminal import AtTerminal
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
PATIENCE_S = 60.0


def submit(summary: str) -> Answer:
    return CHAT.answer(calls=(("c1", SUBMIT_TOOL, submit_arguments({"summary": summary}, "")),))


def calls(name: str, call_id: str = "c1", **arguments: Any) -> Answer:
    return CHAT.answer(calls=((call_id, name, json.dumps(arguments)),))


def chain(**config: Any) -> Workflow:
    nodes = [agent_node(key, **config) for key in ("a", "b")]
    settings = WorkflowSettings(retry_policy=RetryPolicy(max_attempts=2, backoff_ms=1))
    return graph(nodes, [("a", "b")], settings)


def one(**config: Any) -> Workflow:
    return graph([agent_node("a", **config)])


def careless() -> Workflow:
    return one(tools=NodeToolConfig(approval_mode=ApprovalMode.YOLO))


class Bench:
    """A command line, an endpoint, and what is stored."""

    def __init__(self, folder: Path, server: LoopbackServer, **env: str) -> None:
        self.folder, self.server = folder, server
        self.openflow = CommandLine(folder, **env)
        self.cwd = folder / "work"
        self.cwd.mkdir()

    def words(self, workflow: Workflow, *more: str | Path) -> tuple[str | Path, ...]:
        path = self.folder / "flow.workflow.json"
        save_workflow(workflow, path)
        return ("run", path, "--base-url", self.server.url, "--cwd", self.cwd, *more)

    def run(self, workflow: Workflow, *more: str | Path) -> Ended:
        return self.openflow.run(*self.words(workflow, *more), timeout_s=PATIENCE_S)

    def runs(self, *words: str | Path) -> Ended:
        return self.openflow.run("runs", *words, timeout_s=PATIENCE_S)

    def listed(self, *more: str) -> list[dict[str, Any]]:
        ended = self.runs("list", *more)
        assert (ended.status, ended.err, ended.left) == (0, "", ())
        found = json.loads(ended.out)
        assert isinstance(found, list)
        return found

    def answers(self, *entries: dict[str, Any]) -> Path:
        path = self.folder / "answers.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    def killed_in_a_call(self) -> str:
        """Start a command, kill the program in the middle of it, and give the run's id."""
        started = self.cwd / "started"
        self.server.play(calls("bash", command="echo x >> started; exec sleep 600"))
        running = self.openflow.start(*self.words(careless()))
        until = time.monotonic() + PATIENCE_S
        while not started.exists():
            assert time.monotonic() < until, "the command was not begun"
            time.sleep(0.01)
        running.kill()
        (run,) = self.listed()
        assert (run["status"], run["interrupted"]) == ("running", True)
        return str(run["run_id"])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with LoopbackServer() as server:
        yield Bench(tmp_path, server)


def test_runs_are_listed_and_shown_as_data(bench: Bench) -> None:
    bench.server.play(submit("first"), submit("second"))
    report = bench.run(chain(), "--input", "Build a kite").report
    (run,) = bench.listed()
    assert run["run_id"] == report["run_id"]
    assert (run["name"], run["status"]) == ("Build a kite", "completed")
    assert (run["workflow_id"], run["parent"]) == ("wf", None)
    assert run["started"] <= run["updated"]
    shown = bench.runs("show", run["run_id"])
    assert (shown.status, shown.err, shown.left) == (0, "", ())
    assert {key: shown.report[key] for key in run} == run
    assert shown.report["outputs"] == report["outputs"]
    assert {key: node["status"] for key, node in shown.report["nodes"].items()} == {
        "a": "completed",
        "b": "completed",
    }


def test_runs_are_found_renamed_and_deleted(bench: Bench) -> None:
    bench.server.play(submit("one"), submit("two"))
    first = bench.run(one(), "--input", "Kites").report["run_id"]
    second = bench.run(one(), "--input", "Boats").report["run_id"]
    assert [run["run_id"] for run in bench.listed()] == [second, first]
    assert [run["run_id"] for run in bench.listed("--search", "kite")] == [first]
    assert bench.listed("--status", "failed") == []
    assert [run["run_id"] for run in bench.listed("--limit", "1", "--offset", "1")] == [first]
    assert bench.runs("rename", first, "Flying things").status == 0
    assert [run["name"] for run in bench.listed("--search", "flying")] == ["Flying things"]
    refused = bench.runs("delete", first)
    assert refused.status == 2
    assert "--yes" in refused.sentence()
    assert bench.runs("delete", first, "--yes").status == 0
    assert [run["run_id"] for run in bench.listed()] == [second]
    gone = bench.runs("show", first)
    assert gone.status == 2
    assert first in gone.sentence()


def test_a_paused_run_says_how_it_goes_on_and_does(bench: Bench) -> None:
    bench.server.play(calls(REQUEST_INPUT_TOOL, assistant_message="Which colour?"))
    paused = bench.run(one(request_user_input=True))
    run_id = paused.report["run_id"]
    assert paused.status == 3
    assert f"'openflow runs resume {run_id} --answers FILE' goes on" in paused.sentence()
    waits = bench.runs("resume", run_id)
    assert waits.status == 3
    assert waits.report["waiting"] == paused.report["waiting"]
    bench.server.play(submit("blue"))
    answers = bench.answers({"node_id": "a", "text": "Blue, please"})
    events = bench.folder / "events.jsonl"
    ended = bench.runs("resume", run_id, "--answers", answers, "--events", events)
    assert ended.status == 0
    assert ended.report["run_id"] == run_id
    assert ended.report["outputs"] == {"a": {"summary": "blue"}}
    assert b"Blue, please" in bench.server.last.body
    assert len(bench.server.asked) == 2
    numbers = [json.loads(line)["seq"] for line in events.read_text().splitlines()]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    (run,) = bench.listed()
    assert (run["run_id"], run["status"]) == (run_id, "completed")


def test_a_call_that_waits_is_decided_when_the_run_is_resumed(bench: Bench) -> None:
    bench.server.play(calls("write", path="a.txt", content="hello\n"))
    paused = bench.run(one())
    assert paused.status == 3
    assert not (bench.cwd / "a.txt").exists()
    bench.server.play(submit("written"))
    ended = bench.runs("resume", paused.report["run_id"], "--approve", "allow")
    assert ended.status == 0
    assert (bench.cwd / "a.txt").read_text() == "hello\n"


def test_a_stopped_run_goes_on_without_paying_again(bench: Bench) -> None:
    bench.server.play(submit("first"), Answer((Hang(),)))
    running = bench.openflow.start(*bench.words(chain()))
    until = time.monotonic() + PATIENCE_S
    while len(bench.server.asked) < 2:
        assert time.monotonic() < until
        time.sleep(0.01)
    running.interrupt()
    stopped = running.ended(PATIENCE_S)
    run_id = stopped.report["run_id"]
    assert stopped.status == 130
    assert f"'openflow runs resume {run_id}' goes on" in stopped.err
    bench.server.play(submit("second"))
    ended = bench.runs("resume", run_id)
    assert ended.status == 0
    assert ended.report["outputs"] == {"a": {"summary": "first"}, "b": {"summary": "second"}}
    assert len(bench.server.asked) == 3


def test_a_call_of_unknown_end_waits_for_a_word(bench: Bench) -> None:
    run_id = bench.killed_in_a_call()
    assert [run["run_id"] for run in bench.listed("--status", "interrupted")] == [run_id]
    waits = bench.runs("resume", run_id)
    assert waits.status == 3
    (pending,) = waits.report["waiting"]
    assert (pending["kind"], pending["tool_name"]) == ("uncertain", "bash")
    assert pending["sign"] == "unknown"
    assert "what became of the call of bash by node 'a'" in waits.err
    bench.server.play(submit("went on"))
    answers = bench.answers({"tool_name": "bash", "node_id": "a", "uncertain": "skip"})
    ended = bench.runs("resume", run_id, "--answers", answers)
    assert ended.status == 0
    assert ended.report["outputs"] == {"a": {"summary": "went on"}}
    assert (bench.cwd / "started").read_text() == "x\n"
    assert len(bench.server.asked) == 2


def test_a_terminal_asks_what_became_of_a_call(bench: Bench) -> None:
    run_id = bench.killed_in_a_call()
    bench.server.play(submit("went on"))
    terminal = AtTerminal(("runs", "resume", run_id), bench.openflow.env)
    terminal.wait_for("the program ended while A had bash running; did it finish?")
    terminal.wait_for("command: echo x >> started; exec sleep 600")
    terminal.wait_for("[done, redo, skip]")
    terminal.type("perhaps")
    terminal.type("done")
    status, out = terminal.ended(PATIENCE_S)
    assert status == 0
    assert json.loads(out)["outputs"] == {"a": {"summary": "went on"}}
    assert (bench.cwd / "started").read_text() == "x\n"


def test_a_replay_tells_what_the_live_run_told(bench: Bench) -> None:
    bench.server.play(calls("read", path="."), submit("first"), submit("second"))
    live, again = bench.folder / "live.jsonl", bench.folder / "again.jsonl"
    report = bench.run(chain(), "--events", live).report
    asked = len(bench.server.asked)
    whole = bench.runs("replay", report["run_id"], "--events", again)
    assert (whole.status, whole.err, whole.left) == (0, "", ())
    assert {key: whole.report[key] for key in report} == report
    told = [json.loads(line) for line in live.read_text().splitlines()]
    replayed = [json.loads(line) for line in again.read_text().splitlines()]
    settled = [event for event in replayed if event["type"] != "chat_message_delta"]
    assert settled == [event for event in told if event["type"] != "chat_message_delta"]
    started_b = next(
        event["seq"]
        for event in told
        if event["type"] == "node_started" and event["node_id"] == "b"
    )
    early = bench.runs("replay", report["run_id"], "--until", str(started_b)).report
    assert early["outputs"] == {"a": {"summary": "first"}}
    assert early["status"] == "running"
    assert early["nodes"]["b"]["status"] == "started"
    assert len(bench.server.asked) == asked


def test_a_fork_pays_for_nothing_before_it(bench: Bench) -> None:
    bench.server.play(calls("read", path="."), submit("first"), submit("second"))
    parent = bench.run(chain()).report["run_id"]
    asked = len(bench.server.asked)
    bench.server.play(submit("another second"))
    fork = bench.runs("fork", parent, "--node", "b", "--turn", "1", "--system-prompt", "Be brief.")
    assert fork.status == 0
    assert fork.report["outputs"] == {
        "a": {"summary": "first"},
        "b": {"summary": "another second"},
    }
    assert len(bench.server.asked) == asked + 1
    assert b"Be brief." in bench.server.last.body
    shown = bench.runs("show", fork.report["run_id"]).report
    assert shown["parent"] == parent
    assert len(shown["difference"]) == 1
    assert "Be brief." in shown["difference"][0]
    parent_now = next(run for run in bench.listed() if run["run_id"] == parent)
    assert (parent_now["status"], parent_now["parent"]) == ("completed", None)


def test_turns_are_counted_over_the_whole_run_where_no_node_is_named(bench: Bench) -> None:
    bench.server.play(calls("read", path="."), submit("first"), submit("second"))
    parent = bench.run(chain()).report["run_id"]
    bench.server.play(submit("first again"), submit("second again"))
    fork = bench.runs("fork", parent, "--turn", "2")
    assert fork.status == 0
    assert fork.report["outputs"]["a"] == {"summary": "first again"}
    assert len(bench.server.asked) == 5
    refused = bench.runs("fork", parent, "--turn", "9")
    assert refused.status == 2
    assert "3 turns" in refused.sentence()


def test_a_run_is_handed_on_as_one_file(bench: Bench) -> None:
    bench.server.play(submit("first"), submit("second"))
    run_id = bench.run(chain()).report["run_id"]
    file = bench.folder / "run.zip"
    assert bench.runs("export", run_id, file).status == 0
    assert bench.runs("export", run_id, file).status == 2
    assert "is stored here already" in bench.runs("import", file).sentence()
    assert bench.runs("delete", run_id, "--yes").status == 0
    assert bench.listed() == []
    assert bench.runs("import", file).report == {"run_id": run_id}
    assert bench.runs("replay", run_id).report["outputs"]["b"] == {"summary": "second"}


def test_no_export_holds_a_key(tmp_path: Path) -> None:
    key = "sk-a-secret-key-0123456789abcdef"
    with LoopbackServer() as server:
        bench = Bench(tmp_path, server, OPENAI_API_KEY=key)
        server.play(submit("nothing to hide"), submit(f"the key is {key}"))
        clean = bench.run(one()).report["run_id"]
        leaky = bench.run(one()).report["run_id"]
        file, other = tmp_path / "clean.zip", tmp_path / "leaky.zip"
        assert bench.runs("export", clean, file).status == 0
        assert key.encode() not in file.read_bytes()
        refused = bench.runs("export", leaky, other)
        assert refused.status == 2
        assert "holds the value of a stored key" in refused.sentence()
        assert key not in refused.err
        assert not other.exists()


def test_old_runs_are_pruned(bench: Bench) -> None:
    bench.server.play(submit("one"))
    run_id = bench.run(one()).report["run_id"]
    assert bench.runs("prune", "--older-than", "30d", "--yes").report == {"deleted": []}
    assert bench.runs("prune", "--yes").status == 2
    assert bench.runs("prune", "--older-than", "soon", "--yes").status == 2
    assert bench.runs("prune", "--max-size", "1", "--yes").report == {"deleted": [run_id]}
    assert bench.listed() == []


def test_a_run_that_is_done_cannot_be_resumed(bench: Bench) -> None:
    bench.server.play(submit("one"))
    run_id = bench.run(one()).report["run_id"]
    refused = bench.runs("resume", run_id)
    assert (refused.status, refused.out) == (2, "")
    assert run_id in refused.sentence()
    assert bench.runs("resume", "no-such-run").status == 2


def test_a_damaged_database_is_said_and_its_copy_restored(bench: Bench) -> None:
    bench.server.play(submit("one"), submit("two"))
    first = bench.run(one()).report["run_id"]  # the day's copy is made then
    bench.run(one())
    database = bench.folder / "data" / "openflow.db"
    copy = database.with_name("openflow.db.backup")
    kept = copy.read_bytes()
    damaged = bytearray(database.read_bytes())
    damaged[4096:12288] = b"\xa5" * 8192
    database.write_bytes(damaged)
    told = bench.runs("list")
    assert told.status == 1 or told.status == 2
    assert "is damaged" in told.sentence()
    assert "'openflow runs restore'" in told.err
    assert "--yes" in bench.runs("restore").sentence()
    restored = bench.runs("restore", "--yes")
    assert restored.status == 0
    assert Path(restored.report["damaged"]).read_bytes() == bytes(damaged)
    assert copy.read_bytes() == kept
    assert {run["run_id"] for run in bench.listed()} <= {first}
    bench.server.play(submit("three"))
    assert bench.run(one()).status == 0


def test_a_run_goes_on_at_another_address_with_another_model(bench: Bench) -> None:
    bench.server.play(calls(REQUEST_INPUT_TOOL, assistant_message="Which colour?"))
    run_id = bench.run(one(request_user_input=True)).report["run_id"]
    asked = len(bench.server.asked)
    with LoopbackServer() as other:
        other.play(calls(REQUEST_INPUT_TOOL, assistant_message="Sure?"))
        reached = ("--base-url", other.url, "--model", "another-model")
        answers = bench.answers({"node_id": "a", "text": "Blue"})
        waits = bench.runs("resume", run_id, *reached, "--answers", answers)
        assert waits.status == 3
        assert waits.report["waiting"][0]["question"] == "Sure?"
        assert b"another-model" in other.last.body
        other.play(submit("blue"))
        ended = bench.runs("resume", run_id, "--answers", answers)
        assert ended.status == 0
        assert ended.report["outputs"] == {"a": {"summary": "blue"}}
        assert b"another-model" in other.last.body
        other.play(submit("green"))
        fork = bench.runs("fork", run_id, "--node", "a", "--turn", "2", "--answer", "Green")
        assert fork.report["outputs"] == {"a": {"summary": "green"}}
    assert len(bench.server.asked) == asked

"""Subagents through the command line: declared or saved, asked about by their path, counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.graph.agents import CallableAgent
from engine.graph.node_config import NodeToolConfig
from engine.graph.workflow import Workflow
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    SUBMIT_TOOL,
    ApprovalMode,
)
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Ended
from tests.support.graphs import SUMMARY_SCHEMA, agent_node, graph
from tests.support.loopback import Answer, LoopbackServer
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
DECLARED = "a-subagent-1"
DELEGATION = [
    {"tool_name": DECLARE_SUBAGENTS_TOOL, "allow": True},
    {"tool_name": CALL_SUBAGENT_TOOL, "allow": True},
]


def calls(*named: tuple[str, Any]) -> Answer:
    return CHAT.answer(
        calls=tuple((f"c{at}", name, json.dumps(args)) for at, (name, args) in enumerate(named))
    )


def submit(summary: str) -> Answer:
    arguments = submit_arguments({"summary": summary}, "Done.")
    return CHAT.answer(calls=(("c1", SUBMIT_TOOL, arguments),))


DECLARE = calls(
    (DECLARE_SUBAGENTS_TOOL, {"subagents": [{"name": "Scribe", "purpose": "writes notes"}]})
)
WRITE = calls(("write", {"path": "note.txt", "content": "Seen."}))


def hand_to(subagent_id: str) -> Answer:
    return calls((CALL_SUBAGENT_TOOL, {"subagent_id": subagent_id, "input": "Write a note."}))


class Bench:
    def __init__(self, folder: Path, server: LoopbackServer) -> None:
        self.folder, self.server = folder, server
        self.openflow = CommandLine(folder)
        self.cwd = folder / "work"
        self.cwd.mkdir()

    def run(self, workflow: Workflow, *script: Answer, answers: Any = ()) -> Ended:
        save_workflow(workflow, self.folder / "flow.workflow.json")
        (self.folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        self.server.play(*script)
        return self.openflow.run(
            *("run", self.folder / "flow.workflow.json", "--base-url", self.server.url),
            *("--cwd", self.cwd, "--answers", self.folder / "answers.json"),
            *("--events", self.folder / "events.jsonl"),
            timeout_s=110,
        )

    def save_agent(self, **tools: Any) -> None:
        agent = CallableAgent(
            id="scribe",
            name="Scribe",
            system_prompt="You are the scribe of the house.",
            task_prompt="Write down what you are told.",
            output_schema=SUMMARY_SCHEMA,
            tools=NodeToolConfig(**tools),
        )
        AgentStore(agents_file(self.folder / "data")).save([agent])

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        lines = (self.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
        return [event for line in lines if (event := json.loads(line))["type"] in kinds]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with LoopbackServer() as server:
        yield Bench(tmp_path, server)


@pytest.mark.parametrize("named", ["a", DECLARED, f"a/{DECLARED}"])
def test_a_subagent_s_call_is_asked_about_with_its_path_and_answered_by_any_part_of_it(
    bench: Bench, named: str
) -> None:
    script = (DECLARE, hand_to(DECLARED), WRITE, submit("noted"), submit("all done"))
    ended = bench.run(
        graph(["a"]), *script, answers=[*DELEGATION, {"node_id": named, "allow": True}]
    )

    assert (ended.status, ended.err, ended.left) == (0, "", ())
    assert ended.report["outputs"] == {"a": {"summary": "all done"}}
    assert (bench.cwd / "note.txt").read_text(encoding="utf-8") == "Seen.\n"
    assert [each["path"] for each in ended.report["changed_files"]] == ["note.txt"]
    request = bench.events("tool_approval_requested")[-1]["request"]
    assert (request["node_id"], request["path"]) == ("a", ["a", DECLARED])
    assert request["preview"]["files"][0]["op"] == "create"
    kinds = ("subagents_declared", "subagent_started", "subagent_completed", "subagent_failed")
    assert [event["type"] for event in bench.events(*kinds)] == [*kinds[:3]]
    assert ended.report["usage"]["tokens_in"] == 5 * 120
    assert "noted" in json.dumps(bench.server.asked[4].json)


def test_without_an_answer_the_run_waits_for_the_subagent(bench: Bench) -> None:
    ended = bench.run(graph(["a"]), DECLARE, hand_to(DECLARED), WRITE, answers=DELEGATION)

    assert ended.status == 3
    (waiting,) = ended.report["waiting"]
    assert waiting["path"] == ["a", DECLARED]
    assert f"subagent '{DECLARED}' of node 'a'" in ended.sentence()
    assert not (bench.cwd / "note.txt").exists()


def test_a_saved_agent_works_with_its_own_prompt_and_is_offered_no_subagents(bench: Bench) -> None:
    bench.save_agent()
    node = agent_node("a", callable_agents=("scribe",))
    script = (hand_to("scribe"), WRITE, submit("noted"), submit("all done"))
    ended = bench.run(
        graph([node]), *script, answers=[*DELEGATION, {"node_id": "scribe", "allow": True}]
    )

    assert (ended.status, ended.err) == (0, "")
    assert (bench.cwd / "note.txt").exists()
    caller, scribe = bench.server.asked[0].json, bench.server.asked[1].json
    assert {CALL_SUBAGENT_TOOL, DECLARE_SUBAGENTS_TOOL} <= set(CHAT.asked_tools(caller))
    assert {CALL_SUBAGENT_TOOL, DECLARE_SUBAGENTS_TOOL}.isdisjoint(CHAT.asked_tools(scribe))
    assert "You are the scribe of the house." in json.dumps(scribe)


def test_the_stricter_approval_mode_of_caller_and_agent_counts(bench: Bench) -> None:
    bench.save_agent(approval_mode=ApprovalMode.READ_ONLY)
    tools = NodeToolConfig(approval_mode=ApprovalMode.YOLO)
    node = agent_node("a", callable_agents=("scribe",), tools=tools)
    script = (hand_to("scribe"), WRITE, submit("refused"), submit("all done"))
    ended = bench.run(graph([node]), *script)

    assert ended.status == 0
    assert not (bench.cwd / "note.txt").exists()
    assert [event["tool_name"] for event in bench.events("tool_denied")] == ["write"]
    assert bench.events("tool_approval_requested") == []

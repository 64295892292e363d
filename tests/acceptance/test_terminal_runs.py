"""Runs that somebody watches at a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.graph.node_config import NodeToolConfig
from engine.graph.workflow import Workflow
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    ApprovalMode,
)
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, Gate, LoopbackServer
from tests.support.terminal import AtTerminal
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
SUBMIT = CHAT.answer(calls=(("c9", SUBMIT_TOOL, submit_arguments({"summary": "x"})),))


def calls(name: str, **arguments: Any) -> Answer:
    return CHAT.answer(calls=(("c1", name, json.dumps(arguments)),))


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


def start(folder: Path, server: LoopbackServer, workflow: Workflow) -> AtTerminal:
    path = folder / "flow.workflow.json"
    save_workflow(workflow, path)
    arguments = ("run", str(path), "--base-url", server.url)
    return AtTerminal(arguments, CommandLine(folder).env)


def test_progress_is_on_the_screen_and_the_report_on_standard_output(
    tmp_path: Path, server: LoopbackServer
) -> None:
    server.play(SUBMIT)
    terminal = start(tmp_path, server, graph([agent_node("a")]))
    terminal.wait_for("of 1 nodes done")
    status, out = terminal.ended()
    assert status == 0
    assert json.loads(out)["outputs"] == {"a": {"summary": "x"}}


def test_a_question_is_asked_and_answered(tmp_path: Path, server: LoopbackServer) -> None:
    server.play(calls(REQUEST_INPUT_TOOL, assistant_message="Which colour?"), SUBMIT)
    terminal = start(tmp_path, server, graph([agent_node("a", request_user_input=True)]))
    terminal.wait_for("A asks: Which colour?")
    terminal.type("Crimson")
    assert terminal.ended()[0] == 0
    assert b"Crimson" in server.last.body


def test_options_are_chosen_by_number(tmp_path: Path, server: LoopbackServer) -> None:
    options = [{"label": name, "description": f"the {name} one"} for name in ("Red", "Blue")]
    question = {"id": "c", "header": "Colour", "question": "Which?", "options": options}
    server.play(calls(ASK_QUESTION_TOOL, questions=[question]), SUBMIT)
    terminal = start(tmp_path, server, graph([agent_node("a", request_user_input=True)]))
    terminal.wait_for("2. Blue")
    terminal.type("2")
    assert terminal.ended()[0] == 0
    assert b"Blue" in server.last.body


def careful() -> Workflow:
    tools = NodeToolConfig(approval_mode=ApprovalMode.ALWAYS_ASK)
    return graph([agent_node("a", tools=tools)])


@pytest.mark.parametrize(
    ("typed", "words"), [("y", b"(directory)"), ("not while I watch", b"not while I watch")]
)
def test_a_call_is_decided(
    tmp_path: Path, server: LoopbackServer, typed: str, words: bytes
) -> None:
    server.play(calls("read", path="."), SUBMIT)
    terminal = start(tmp_path, server, careful())
    terminal.wait_for("A wants to call read")
    terminal.wait_for("allow?")
    terminal.type(typed)
    assert terminal.ended()[0] == 0
    assert words in server.last.body


def test_a_change_is_shown_whole_and_can_be_allowed_for_the_run(
    tmp_path: Path, server: LoopbackServer
) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 61))
    server.play(
        calls("write", path="notes.txt", content=text),
        calls("write", path="notes.txt", content="short\n"),
        SUBMIT,
    )
    terminal = start(tmp_path, server, graph(["a"]))
    terminal.wait_for("A wants to call write (it can change things)")
    terminal.wait_for("would create notes.txt:")
    terminal.wait_for("+60|line 60")
    terminal.wait_for("for this run would also allow: write notes.txt")
    terminal.wait_for("r for this run")
    assert "+31|line 31" in terminal.shown
    terminal.type("r")
    status, out = terminal.ended()
    assert status == 0
    assert terminal.shown.count("allow? [") == 1
    assert [each["op"] for each in json.loads(out)["changed_files"]] == ["update"]


def test_the_end_of_input_leaves_the_question_open(tmp_path: Path, server: LoopbackServer) -> None:
    server.play(calls("read", path="."))
    terminal = start(tmp_path, server, careful())
    terminal.wait_for("allow?")
    terminal.press(b"\x04")
    status, out = terminal.ended()
    assert status == 3
    assert json.loads(out)["waiting"][0]["kind"] == "approval"


def test_ctrl_c_at_a_question_ends_the_program(tmp_path: Path, server: LoopbackServer) -> None:
    server.play(calls("read", path="."))
    terminal = start(tmp_path, server, careful())
    terminal.wait_for("allow?")
    terminal.interrupt()
    status, out = terminal.ended()
    assert status == 130
    assert json.loads(out)["status"] == "stopped"
    assert "Traceback" not in terminal.shown


def test_nothing_that_a_model_or_a_file_says_acts_on_the_terminal(
    tmp_path: Path, server: LoopbackServer
) -> None:
    hostile = "x\x9b31m\u202e\x1b]0;title\x07"
    server.play(
        calls(REQUEST_INPUT_TOOL, assistant_message=hostile),
        CHAT.answer(calls=(("c9", SUBMIT_TOOL, submit_arguments({"summary": hostile})),)),
    )
    node = agent_node("a", request_user_input=True).model_copy(update={"label": hostile})
    terminal = start(tmp_path, server, graph([node]))
    terminal.wait_for("answer>")
    terminal.type("ok")
    status, out = terminal.ended()
    assert status == 0
    assert json.loads(out)["outputs"]["a"]["summary"] == hostile
    for active in "\x9b\u202e\x07":
        assert active not in terminal.shown + out


def test_a_terminal_that_goes_away_does_not_fail_the_run(
    tmp_path: Path, server: LoopbackServer
) -> None:
    gate = Gate()
    server.play(Answer((gate, *SUBMIT.parts), headers=SUBMIT.headers))
    terminal = start(tmp_path, server, graph([agent_node("a")]))
    terminal.wait_for("0 of 1 nodes done")
    status, out = terminal.ended_without_screen(gate.open)
    assert status == 0
    assert json.loads(out)["status"] == "completed"


def test_problems_are_shown_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "flow.workflow.json"
    save_workflow(graph([agent_node("[red]a", task_prompt=" ")]), path)
    env = CommandLine(tmp_path).env
    terminal = AtTerminal(("validate", str(path)), env, shows_output=True)
    assert terminal.ended()[0] == 2
    assert "node '[red]a' has a blank task prompt" in terminal.shown


def test_providers_are_shown_as_a_table(tmp_path: Path) -> None:
    terminal = AtTerminal(("providers", "list"), CommandLine(tmp_path).env, shows_output=True)
    assert terminal.ended()[0] == 0
    assert "OPENAI_API_KEY" in terminal.shown
    assert '"id"' not in terminal.shown

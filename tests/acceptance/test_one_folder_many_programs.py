"""Programs that run workflows in one folder: who waits is told, and a paused run gives way."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.graph.workflow import Workflow
from engine.vocabulary.tools import REQUEST_INPUT_TOOL, SUBMIT_TOOL
from orchestration.workflow_catalog import save_workflow
from providers.specs import Wire
from tests.support.command_line import CommandLine, Running
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, LoopbackServer
from tests.support.terminal import AtTerminal
from tests.support.wire_scripts import SCRIPTS, submit_arguments

CHAT = SCRIPTS[Wire.CHAT]
PATIENCE_S = 90.0


def submit(summary: str) -> Answer:
    return CHAT.answer(calls=(("c1", SUBMIT_TOOL, submit_arguments({"summary": summary}, "")),))


def flow(**config: Any) -> Workflow:
    return graph([agent_node("a", **config)])


class Folder:
    """A folder that several programs want, and an endpoint that answers them."""

    def __init__(self, place: Path, server: LoopbackServer) -> None:
        self.place, self.server = place, server
        self.openflow = CommandLine(place)
        self.cwd = place / "work"
        self.cwd.mkdir()

    def words(self, name: str, workflow: Workflow, *more: str) -> tuple[str, ...]:
        path = self.place / f"{name}.workflow.json"
        save_workflow(workflow, path)
        where = ("--base-url", self.server.url, "--cwd", str(self.cwd))
        return ("run", str(path), "--input", name, *where, *more)

    def held_by_one_that_asks(self) -> AtTerminal:
        """A program whose run has the folder and waits for a person."""
        question = json.dumps({"assistant_message": "Which colour?"})
        self.server.play(CHAT.answer(calls=(("c1", REQUEST_INPUT_TOOL, question),)))
        words = self.words("one", flow(request_user_input=True))
        holder = AtTerminal(words, self.openflow.env)
        holder.wait_for("A asks: Which colour?")
        return holder

    def started(self, name: str, *more: str) -> Running:
        return self.openflow.start(*self.words(name, flow(), *more))

    def answered(self, holder: AtTerminal, *after_it: Answer) -> None:
        """Let the one that asks go on to its end; what comes after it gets these answers."""
        self.server.play(submit("crimson"), *after_it)
        holder.type("Crimson")
        status, out = holder.ended(PATIENCE_S)
        assert status == 0
        assert json.loads(out)["outputs"] == {"a": {"summary": "crimson"}}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with LoopbackServer() as server:
        yield Folder(tmp_path, server)


def test_a_program_goes_first_where_it_was_told_to(folder: Folder) -> None:
    holder = folder.held_by_one_that_asks()
    folder.server.play(submit("quick"))
    ended = folder.started("two", "--go-first").ended(PATIENCE_S)
    assert ended.status == 0
    assert ended.report["outputs"] == {"a": {"summary": "quick"}}
    assert "note: waiting for run 'one' of process" in ended.err
    assert "note: the folder is free" in ended.err
    folder.answered(holder)


def test_a_person_is_asked_whether_it_goes_first(folder: Folder) -> None:
    holder = folder.held_by_one_that_asks()
    folder.server.play(submit("quick"))
    other = AtTerminal(folder.words("two", flow()), folder.openflow.env)
    other.wait_for("waiting for run 'one' of process")
    other.wait_for("let this run go first? [y, n]")
    other.type("y")
    status, out = other.ended(PATIENCE_S)
    assert status == 0
    assert json.loads(out)["outputs"] == {"a": {"summary": "quick"}}
    folder.answered(holder)


def test_a_question_is_called_off_when_the_folder_is_free(folder: Folder) -> None:
    holder = folder.held_by_one_that_asks()
    other = AtTerminal(folder.words("two", flow()), folder.openflow.env)
    other.wait_for("let this run go first? [y, n]")
    folder.answered(holder, submit("second"))
    status, out = other.ended(PATIENCE_S)
    assert status == 0
    assert json.loads(out)["outputs"] == {"a": {"summary": "second"}}


def test_a_program_that_is_killed_gives_its_folder_back(folder: Folder) -> None:
    holder = folder.held_by_one_that_asks()
    events = folder.place / "events.jsonl"
    waiting = folder.started("two", "--events", str(events))
    until = time.monotonic() + PATIENCE_S
    told = '"may_go_first":true'
    while not (events.exists() and told in events.read_text().replace(" ", "")):
        assert time.monotonic() < until, "it was not told what it waits for"
        time.sleep(0.01)
    folder.server.play(submit("second"))
    holder.kill()
    ended = waiting.ended(PATIENCE_S)
    assert ended.status == 0
    assert "let this run go first with --go-first" in ended.err
    assert ended.report["outputs"] == {"a": {"summary": "second"}}

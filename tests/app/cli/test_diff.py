"""`openflow diff` as a person and as a script use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine
from tests.support.terminal import AtTerminal
from tests.support.workflow_files import write_workflow


@pytest.fixture
def program(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return write_workflow(tmp_path / "planning.workflow.json")


def changed(before: Path, change: Any) -> Path:
    document = json.loads(before.read_text("utf-8"))
    change(document)
    after = before.with_name("after.json")
    after.write_text(json.dumps(document), "utf-8")
    return after


def edits(document: dict[str, Any]) -> None:
    document["nodes"][0]["label"] = "Ask"
    document["nodes"][1]["agent"]["task_prompt"] = "First this.\nThen that.\x1b[2J"
    document["edges"].pop()


def test_files_with_other_places_and_another_layout_are_equal(
    program: CommandLine, before: Path
) -> None:
    def move(document: dict[str, Any]) -> None:
        for node in document["nodes"]:
            node["position"]["x"] += 500

    ended = program.run("diff", before, changed(before, move))
    assert (ended.status, ended.out, ended.err, ended.left) == (0, "", "", ())


def test_differences_are_told_in_words_and_line_by_line(program: CommandLine, before: Path) -> None:
    ended = program.run("diff", before, changed(before, edits))
    assert (ended.status, ended.err) == (1, "")
    assert ended.out.splitlines() == [
        "~ node “Clarify idea”: name “Clarify idea” → “Ask”",
        "~ node “Create plan”: task prompt changed",
        "    -Do your part.",
        "    +First this.",
        r"    +Then that.\x1b[2J",
        "- connection “Find risks” → “Final brief” removed",
    ]


def test_a_script_gets_every_value(program: CommandLine, before: Path) -> None:
    after = changed(before, edits)
    ended = program.run("diff", "--json", before, after)
    assert (ended.status, ended.err) == (1, "")
    report = ended.report
    assert (report["before"], report["after"], report["equal"]) == (str(before), str(after), False)
    name, prompt, edge = report["differences"]
    assert (name["kind"], name["subject"], name["field"]) == ("changed", "node", "name")
    assert (name["before"], name["after"]) == ("Clarify idea", "Ask")
    assert prompt["after"] == "First this.\nThen that.\x1b[2J"
    assert (edge["kind"], edge["subject"], edge["before"]) == (
        "removed",
        "edge",
        ["risk", "brief"],
    )

    same = program.run("diff", "--json", before, before)
    assert (same.status, same.report["equal"], same.report["differences"]) == (0, True, [])


@pytest.mark.parametrize("content", [None, "{broken", "[]"])
def test_what_is_no_workflow_is_trouble(
    program: CommandLine, before: Path, content: str | None
) -> None:
    other = before.with_name("other.json")
    if content is not None:
        other.write_text(content)
    for files in ((before, other), (other, before)):
        ended = program.run("diff", *files)
        assert (ended.status, ended.out) == (2, "")
        assert str(other) in ended.sentence()


def test_one_file_is_wrong_usage(program: CommandLine, before: Path) -> None:
    ended = program.run("diff", before)
    assert ended.status == 2
    assert "--help" in ended.sentence()


def test_a_terminal_shows_it_in_colour(program: CommandLine, before: Path) -> None:
    after = changed(before, edits)
    terminal = AtTerminal(("diff", str(before), str(after)), program.env, shows_output=True)
    terminal.wait_for("connection “Find risks” → “Final brief” removed")
    assert terminal.ended()[0] == 1
    assert "\x1b[32m    +First this." in terminal.raw
    assert "\x1b[31m    -Do your part." in terminal.raw
    assert "\x1b[2J" not in terminal.raw

"""Runs that never start: one sentence, status 2, nothing run and nothing stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.graph.workflow import PlanMode, Workflow, WorkflowSettings
from orchestration.workflow_catalog import save_workflow
from tests.support.command_line import CommandLine
from tests.support.graphs import agent_node, graph


@pytest.fixture
def openflow(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def saved(folder: Path, workflow: Workflow) -> Path:
    path = folder / "a.workflow.json"
    save_workflow(workflow, path)
    return path


def refused(openflow: CommandLine, *arguments: Any) -> str:
    ended = openflow.run("run", *arguments)
    assert ended.status == 2
    assert ended.out == ""
    assert not (openflow.folder / "data").exists()
    sentence = ended.sentence()
    assert sentence.startswith("openflow: ")
    return sentence


def test_a_missing_file(openflow: CommandLine) -> None:
    path = openflow.folder / "none.json"
    assert str(path) in refused(openflow, path)


def test_a_folder(openflow: CommandLine) -> None:
    assert "is a folder" in refused(openflow, openflow.folder)


def test_broken_json_names_the_place(openflow: CommandLine) -> None:
    path = openflow.folder / "broken.json"
    path.write_text('{"id": "a",\n "name" 1}')
    sentence = refused(openflow, path)
    assert str(path) in sentence
    assert "line 2, column 9" in sentence


def test_json_that_is_no_workflow(openflow: CommandLine) -> None:
    path = openflow.folder / "other.json"
    path.write_text("[1, 2]")
    assert "is not a workflow" in refused(openflow, path)


def test_a_cycle_names_its_nodes(openflow: CommandLine) -> None:
    workflow = graph(
        [agent_node("a", model=""), agent_node("b", model="")], [("a", "b"), ("b", "a")]
    )
    sentence = refused(openflow, saved(openflow.folder, workflow))
    assert "circle" in sentence
    assert "'a'" in sentence or "a" in sentence


def test_an_unknown_provider_in_the_file_and_on_the_command_line(openflow: CommandLine) -> None:
    path = saved(openflow.folder, graph([agent_node("a", provider_id="nope")]))
    sentence = refused(openflow, path)
    assert "node 'a'" in sentence
    assert "'nope'" in sentence
    assert "'nada'" in refused(openflow, path, "--provider", "nada")


def test_a_missing_key_names_its_variable_and_a_way_without(openflow: CommandLine) -> None:
    path = saved(openflow.folder, graph([agent_node("a", provider_id="groq")]))
    sentence = refused(openflow, path)
    assert str(path) in sentence
    assert "node 'a'" in sentence
    assert "GROQ_API_KEY" in sentence
    assert "--provider embedded" in sentence


def test_a_model_that_nobody_offers(openflow: CommandLine) -> None:
    workflow = graph([agent_node(node, model="gpt-5.5") for node in "abc"])
    sentence = refused(openflow, saved(openflow.folder, workflow))
    assert "'gpt-5.5'" in sentence
    assert "OPENAI_API_KEY" in sentence
    assert "--provider embedded" in sentence
    assert "(likewise nodes 'b', 'c')" in sentence


def test_all_problems_are_in_the_sentence(openflow: CommandLine) -> None:
    workflow = graph(
        [agent_node("a", task_prompt=""), agent_node("b", provider_id="openai")],
        settings=WorkflowSettings(plan_mode=PlanMode(evidence_source_node_id="a")),
    )
    path = saved(openflow.folder, workflow)
    sentence = refused(openflow, path, "--cwd", openflow.folder / "none")
    for words in ("blank", "OPENAI_API_KEY", "plan mode", "is not a folder"):
        assert words in sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--input", "a", "--input-file", "b"], "exclude each other"),
        (["--input-file", "nowhere.txt"], "nowhere.txt"),
        (["--answers", "nowhere.json"], "nowhere.json"),
        (["--events", "no/where.jsonl"], "no/where.jsonl"),
        (["--wire", "smoke"], "smoke"),
        (["--base-url", "localhost"], "http://"),
        (["--approve", "maybe"], "maybe"),
        (["--nonsense"], "--nonsense"),
        (["--cwd", "~nobody-of-that-name"], "~nobody-of-that-name"),
        (["--data-dir", "~nobody-of-that-name"], "~nobody-of-that-name"),
    ],
)
def test_wrong_options(openflow: CommandLine, arguments: list[str], words: str) -> None:
    path = saved(openflow.folder, graph([agent_node("a", model="")]))
    assert words in refused(openflow, path, *arguments)


@pytest.mark.parametrize(
    ("answers", "words"),
    [("{", "JSON"), ("{}", "list"), ('[{"node_id": 1, "text": "x"}]', "answer 1")],
)
def test_answers_that_do_not_fit(openflow: CommandLine, answers: str, words: str) -> None:
    path = saved(openflow.folder, graph([agent_node("a", model="")]))
    (openflow.folder / "answers.json").write_text(answers)
    assert words in refused(openflow, path, "--answers", openflow.folder / "answers.json")


def test_events_never_overwrite_what_is_read(openflow: CommandLine) -> None:
    path = saved(openflow.folder, graph([agent_node("a", model="")]))
    answers = openflow.folder / "answers.json"
    answers.write_text("[]")
    kept = path.read_bytes()
    assert "would overwrite" in refused(openflow, path, "--events", path)
    assert "would overwrite" in refused(
        openflow, path, "--answers", answers, "--events", openflow.folder / "." / "answers.json"
    )
    assert (path.read_bytes(), answers.read_text()) == (kept, "[]")


def test_a_full_disk_and_a_reader_that_left_while_help_is_shown(openflow: CommandLine) -> None:
    running = openflow.start("run", "--help")
    running.close_stdout()
    assert running.ended().status == 0
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "app", "run", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, **openflow.env},
            check=False,
        )
    assert ended.returncode == 1
    assert b"No space left" in ended.stderr
    assert b"mistake" not in ended.stderr


def test_a_command_without_its_file_says_how_to_find_out(openflow: CommandLine) -> None:
    ended = openflow.run("run")
    assert ended.status == 2
    assert "'openflow run --help'" in ended.sentence()


def test_a_debug_run_shows_the_traceback(openflow: CommandLine) -> None:
    ended = openflow.run("run", openflow.folder / "none.json", "--debug")
    assert ended.status == 2
    assert "Traceback" in ended.err
    assert ended.err.splitlines()[-1].startswith("openflow: ")


def test_validate_lists_every_problem_with_its_place(openflow: CommandLine) -> None:
    workflow = graph(
        [agent_node("a", model="", task_prompt=""), agent_node("b", model="gpt-5.5")],
        [("a", "b"), ("b", "a")],
    )
    path = saved(openflow.folder, workflow)
    ended = openflow.run("validate", path)
    assert ended.status == 2
    assert "2 problems" in ended.sentence()
    assert ended.report["valid"] is False
    assert [(p["code"], p["node_id"]) for p in ended.report["problems"]] == [
        ("blank_prompt", "a"),
        ("cycle", "a"),
    ]
    assert [(p["code"], p["node_id"]) for p in ended.report["missing_here"]] == [
        ("no_provider_for_model", "b")
    ]


def test_validate_accepts_what_only_lacks_a_key_here(openflow: CommandLine) -> None:
    path = saved(openflow.folder, graph([agent_node("a", model="gpt-5.5")]))
    ended = openflow.run("validate", path)
    assert ended.status == 0
    assert ended.report["valid"] is True
    assert "OPENAI_API_KEY" in ended.sentence()


def test_providers_are_listed_with_what_they_lack(openflow: CommandLine) -> None:
    ended = openflow.run("providers", "list")
    assert ended.status == 0
    assert ended.err == ""
    by_id = {provider["id"]: provider for provider in json.loads(ended.out)}
    assert not by_id["openai"]["ready"]
    assert "OPENAI_API_KEY" in by_id["openai"]["reason"]
    assert by_id["ollama"]["ready"]
    openflow.env["OPENAI_API_KEY"] = "sk-secret"
    ended = openflow.run("providers", "list")
    assert {p["id"]: p for p in json.loads(ended.out)}["openai"]["ready"]
    assert "sk-secret" not in ended.out


def test_a_check_of_a_provider_that_cannot_be_asked(openflow: CommandLine) -> None:
    for provider, words in (("nope", "'nope'"), ("groq", "GROQ_API_KEY")):
        ended = openflow.run("providers", "check", provider)
        assert ended.status == 2
        assert words in ended.sentence()


def test_the_version(openflow: CommandLine) -> None:
    for words in (["--version"], ["version"]):
        ended = openflow.run(*words)
        assert ended.status == 0
        assert ended.out.startswith("openflow ")
        assert ended.err == ""


def test_a_damaged_settings_file_is_told_and_set_aside(openflow: CommandLine) -> None:
    data = openflow.folder / "data"
    data.mkdir()
    (data / "settings.json").write_text("{")
    ended = openflow.run("providers", "list")
    assert ended.status == 0
    assert "settings.json" in ended.sentence()
    assert len(list(data.glob("settings.damaged-*"))) == 1


def test_ctrl_c_before_the_run_begins(openflow: CommandLine) -> None:
    path = saved(openflow.folder, graph([agent_node("a", model="")]))
    pipe = openflow.folder / "input"
    os.mkfifo(pipe)
    running = openflow.start("run", path, "--input-file", pipe)
    with pipe.open("wb"):  # it is reading by now
        running.interrupt()
        ended = running.ended()
    assert ended.status == 130
    assert ended.out == ""
    assert ended.sentence() == "openflow: stopped by Ctrl+C"

"""Whole runs on the embedded model, through the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.run.schema import compiled
from orchestration.workflow_catalog import examples, open_workflow, save_workflow
from tests.support.command_line import CommandLine
from tests.support.graphs import agent_node, graph

pytestmark = pytest.mark.local


@pytest.fixture
def openflow(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.workflow.json"
    save_workflow(graph([agent_node("a", model="gpt-5.5")]), path)
    return path


def test_the_embedded_model_answers_for_a_foreign_model_and_the_run_says_so(
    openflow: CommandLine, small: Path
) -> None:
    ended = openflow.run("run", small, "--provider", "embedded", "--input", "A red kite")
    assert ended.status == 0
    assert list(ended.report["outputs"]["a"]) == ["summary"]
    note = ended.sentence()
    assert note.startswith("note: demo model")
    assert "every node" in note


@pytest.mark.parametrize("moment", ["node_queued", "node_started"])
def test_ctrl_c_ends_the_model_with_the_run(
    openflow: CommandLine, small: Path, moment: str
) -> None:
    pipe = openflow.folder / "events"
    os.mkfifo(pipe)
    running = openflow.start("run", small, "--provider", "embedded", "--events", pipe)
    with pipe.open() as events:
        for line in events:
            if json.loads(line)["type"] == moment:
                running.interrupt()
                break
        for _ in events:
            """Let the rest be written."""
    ended = running.ended(20)
    assert ended.status == 130
    assert ended.report["status"] == "stopped"
    assert not ended.left
    assert "Traceback" not in ended.err
    run_id = ended.report["run_id"]
    assert ended.err.splitlines()[-1] == (
        f"openflow: the run of {small} was stopped; 'openflow runs resume {run_id}' goes on"
    )


@pytest.mark.timeout(330)
def test_the_example_runs_to_its_end_with_outputs_that_fit(openflow: CommandLine) -> None:
    (example,) = [each for each in examples() if each.name == "feature-planning"]
    ended = openflow.run(
        "run", example.path, "--input", "Resumable uploads for a photo app", timeout_s=300
    )
    assert ended.status == 0, ended.err
    workflow = open_workflow(example.path)
    assert set(ended.report["outputs"]) == {node.id for node in workflow.nodes}
    for node in workflow.nodes:
        assert node.agent is not None
        if node.agent.handoff.format == "json":
            schema = compiled(node.agent.output_schema)
            assert schema.problems(ended.report["outputs"][node.id]) == ()
    assert not ended.left


def test_a_check_of_the_embedded_model(openflow: CommandLine) -> None:
    ended = openflow.run("providers", "check", "embedded")
    assert ended.status == 0, ended.err
    assert ended.report["ok"] is True
    assert not ended.left

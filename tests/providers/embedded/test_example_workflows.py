"""The workflows that ship: sound, of no particular model, and within what the tiny one can do."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from engine.graph.handoff import submission_schema
from engine.graph.serialization import dump_workflow, load_workflow
from engine.graph.validation import validate
from engine.graph.workflow import Workflow
from providers.embedded.bounded_schema import TINY, bound

EXAMPLES = sorted(Path(str(files("resources"))).glob("examples/*.workflow.json"))
_LONGEST_PROMPT = 240


def loaded(path: Path) -> Workflow:
    return load_workflow(path.read_text(encoding="utf-8"))


def test_the_first_workflow_is_among_them() -> None:
    (path,) = [each for each in EXAMPLES if each.name == "feature-planning.workflow.json"]
    workflow = loaded(path)

    assert len(workflow.nodes) == 4
    assert {(edge.source, edge.target) for edge in workflow.edges} == {
        ("clarify", "plan"),
        ("clarify", "risks"),
        ("plan", "brief"),
        ("risks", "brief"),
    }


def test_one_of_them_asks_a_question() -> None:
    agents = [node.agent for path in EXAMPLES for node in loaded(path).nodes]

    assert any(agent is not None and agent.request_user_input for agent in agents)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
class TestEachExample:
    def test_it_is_valid_and_in_the_form_that_it_is_saved_in(self, path: Path) -> None:
        workflow = loaded(path)

        assert validate(workflow) == ()
        assert dump_workflow(workflow) == path.read_text(encoding="utf-8")
        assert path.name == f"{workflow.id}.workflow.json"

    def test_it_runs_on_whatever_model_is_ready(self, path: Path) -> None:
        workflow = loaded(path)

        assert workflow.settings.provider_id is None
        for node in workflow.nodes:
            assert node.agent is not None
            assert node.agent.model == ""
            assert node.agent.provider_id is None

    def test_a_tiny_model_can_do_it(self, path: Path) -> None:
        for node in loaded(path).nodes:
            assert node.agent is not None
            assert len(node.agent.system_prompt + node.agent.task_prompt) < _LONGEST_PROMPT
            schema = submission_schema(node.agent)
            bounded = bound(schema, TINY)
            # Nothing that it is asked for is lost on the way.
            assert list(bounded["properties"]) == list(schema["properties"])
            assert len(bounded["properties"]) <= 3

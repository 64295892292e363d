"""A run takes along the skills that its prompts call, as they are when it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.graphs import agent_node, graph
from tests.support.preparation_desk import Desk, agent, one


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def put(folder: Path, skill_id: str, body: str) -> None:
    (folder / skill_id).mkdir(parents=True)
    (folder / skill_id / "SKILL.md").write_text(body)


def test_the_system_prompt_has_the_skill_and_its_file(desk: Desk, tmp_path: Path) -> None:
    work = tmp_path / "work"
    put(work / ".flow" / "skills", "tdd", "---\nname: Test first\n---\nWrite the test first.\n")
    workflow = one(system_prompt="You write code.", task_prompt="/tdd Build it, not /this")
    prompt = agent(desk.prepare(workflow, work)).system_prompt
    assert prompt.startswith("You write code.\n\n")
    assert "Write the test first." in prompt
    assert str(work / ".flow" / "skills" / "tdd" / "SKILL.md") in prompt
    plain = one(system_prompt="You write code.", task_prompt="Build it")
    assert agent(desk.prepare(plain, work)).system_prompt == "You write code."


def test_a_task_that_begins_with_a_skill_that_is_not_there_is_refused(desk: Desk) -> None:
    workflow = graph([agent_node("a", model="", task_prompt="/nope go")])
    (refusal,) = desk.refusals(workflow)
    assert "'a'" in refusal
    assert "'/nope'" in refusal

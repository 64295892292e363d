"""README and its companions say what is true: examples run, files and commands exist."""

from __future__ import annotations

import re

import pytest

from app.__main__ import COMMANDS
from engine.graph.serialization import load_workflow
from engine.graph.validation import validate
from tests.support.source_tree import CHECKOUT

PAGES = ("README.md", "CONTRIBUTING.md", "docs/architecture.md")


def text(page: str) -> str:
    return (CHECKOUT / page).read_text(encoding="utf-8")


def test_the_workflow_in_the_readme_is_valid() -> None:
    examples = re.findall(r"```json\n(.*?)```", text("README.md"), re.DOTALL)

    assert len(examples) == 1
    assert validate(load_workflow(examples[0])) == ()


def test_every_command_in_the_readme_exists() -> None:
    used = set(re.findall(r"\./start ([a-z]+)\b(?!\.)", text("README.md")))

    assert used
    assert used <= COMMANDS


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file(page: str) -> None:
    folder = (CHECKOUT / page).parent
    targets = re.findall(r"\]\(([^)#\s]+)", text(page))
    targets += re.findall(r'src(?:set)?="([^"]+)"', text(page))
    local = [target for target in targets if "://" not in target]

    assert local
    assert [target for target in local if not (folder / target).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_exists(page: str) -> None:
    named = re.findall(
        r"`((?:app|engine|providers|orchestration|tests|docs|resources|packaging)/[\w./-]+)`",
        text(page),
    )

    assert [name for name in named if not (CHECKOUT / name).exists()] == []

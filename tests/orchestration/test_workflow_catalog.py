from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.graph.validation import validate
from orchestration.errors import UserError
from orchestration.workflow_catalog import MAX_FILE_BYTES, examples, open_workflow, save_workflow
from tests.support.graphs import diamond, graph


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        open_workflow(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence


def test_what_is_saved_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.workflow.json"
    save_workflow(diamond(), path)
    assert open_workflow(path) == diamond()
    assert os.listdir(path.parent) == ["a.workflow.json"]


def test_a_save_keeps_the_version_before(tmp_path: Path) -> None:
    path = tmp_path / "a.workflow.json"
    save_workflow(diamond(), path)
    before = path.read_bytes()
    save_workflow(graph("xy"), path)
    assert (tmp_path / "a.workflow.json.bak").read_bytes() == before


def test_a_save_over_a_damaged_file_keeps_the_good_backup_and_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.workflow.json"
    save_workflow(graph("x"), path)
    save_workflow(graph("y"), path)
    good = (tmp_path / "a.workflow.json.bak").read_bytes()
    path.write_bytes(b"\0\0")
    save_workflow(graph("z"), path)
    assert (tmp_path / "a.workflow.json.bak").read_bytes() == good
    (damaged,) = tmp_path.glob("a.damaged-*")
    assert damaged.read_bytes() == b"\0\0"
    assert open_workflow(path) == graph("z")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.json")
    assert "is a folder" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"id": "a",\n  "name" "b"}', "line 2, column 10"),
        (b"", "empty"),
        (b"\0\0", "NUL"),
        (b'{"id": "a"', "breaks off"),
        (b"[]", "'nodes'"),
        (b'{"id": "a"}', "nodes"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "deep"),
    ],
)
def test_what_is_no_workflow_says_why(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert words in refusal(path)
    assert path.read_bytes() == content


def test_many_mistakes_are_shortened(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": 1, "name": 2, "nodes": [{}, {}, {}], "edges": []}))
    assert "more)" in refusal(path)


def test_a_damaged_file_offers_its_backup(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{")
    (tmp_path / "a.json.bak").write_text("{}")
    assert "a.json.bak" in refusal(path)


def test_a_file_that_is_too_big_is_not_read_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 10)
    assert "larger than 32 MiB" in refusal(path)


def test_a_save_that_fails_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="was not saved"):
        save_workflow(diamond(), tmp_path / "file" / "a.json")


def test_the_examples_open_and_are_valid() -> None:
    found = examples()
    assert "feature-planning" in [example.name for example in found]
    for example in found:
        assert validate(open_workflow(example.path)) == ()

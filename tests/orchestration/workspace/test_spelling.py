from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from orchestration.workspace.paths import Workspace
from orchestration.workspace.spelling import as_on_disk


def fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@pytest.fixture
def forgiving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a disk that takes capitals and compositions of letters for the same."""
    strict = os.lstat
    root = tmp_path.resolve()

    def lstat(path: str | Path) -> os.stat_result:
        found = root
        try:
            parts = Path(path).relative_to(root).parts
        except ValueError:
            return strict(path)
        for part in parts:
            listed = os.listdir(found) if found.is_dir() else []
            found /= next((name for name in listed if fold(name) == fold(part)), part)
        return strict(found)

    monkeypatch.setattr(os, "lstat", lstat)
    return root


@pytest.mark.parametrize("text", ["SRC/readme.MD", "src/README.md", "Src/ReadMe.md"])
def test_a_path_has_the_spelling_of_the_disk(forgiving: Path, text: str) -> None:
    (forgiving / "src").mkdir()
    (forgiving / "src" / "README.md").write_text("x")
    assert as_on_disk(forgiving, forgiving / text) == forgiving / "src" / "README.md"


def test_compositions_of_letters_are_one_name(forgiving: Path) -> None:
    (forgiving / "cafe\u0301").write_text("x")
    assert as_on_disk(forgiving, forgiving / "caf\u00e9") == forgiving / "cafe\u0301"


def test_what_is_not_there_keeps_its_spelling(forgiving: Path) -> None:
    (forgiving / "src").mkdir()
    assert as_on_disk(forgiving, forgiving / "SRC" / "New.txt") == forgiving / "src" / "New.txt"


def test_two_files_that_differ_in_capitals_stay_two(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("small")
    (tmp_path / "A").write_text("large")
    workspace = Workspace(tmp_path)
    assert workspace.resolve("a").read_text() == "small"
    assert workspace.resolve("A").read_text() == "large"


def test_two_names_of_one_file_stay_two(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "A")
    assert Workspace(tmp_path).resolve("A").name == "A"

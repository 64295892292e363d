"""Skills are found in the folders of several programs; later ones count over earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.library.library import Library
from orchestration.library.skills import find_skills, skill_roots


def put(root: Path, skill_id: str, text: str) -> Path:
    folder = root / skill_id
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def test_what_a_file_says_about_itself(tmp_path: Path) -> None:
    put(tmp_path, "plain", "Only instructions.")
    put(
        tmp_path,
        "folded",
        "---\nname: 'Test first'\ndescription: >-\n  Write the test\n  first.\n"
        "tags:\n  - a\n---\n# Steps\n---\nmore\n",
    )
    put(tmp_path, "running", "\ufeff---\r\ndescription: One: two\r\n  three\r\n---\r\nBody")
    put(tmp_path, "open", "---\nname: never closed\n")
    skills = find_skills([tmp_path])
    assert list(skills) == ["folded", "open", "plain", "running"]
    assert (skills["plain"].name, skills["plain"].body) == ("plain", "Only instructions.")
    assert skills["folded"].name == "Test first"
    assert skills["folded"].description == "Write the test first."
    assert skills["folded"].body == "# Steps\n---\nmore\n"
    assert skills["running"].description == "One: two three"
    assert skills["open"].body.startswith("---")


def test_later_folders_count_and_links_are_followed(tmp_path: Path) -> None:
    home, data, work = tmp_path / "home", tmp_path / "data", tmp_path / "work"
    put(home / ".claude/skills", "tdd", "of the person")
    put(data / "skills", "tdd", "of the program")
    put(data / "skills", "other", "other")
    linked = put(tmp_path / "elsewhere", "linked", "linked")
    project = work / ".flow/skills"
    put(project, "tdd", "of the project")
    (project / "linked").symlink_to(linked, target_is_directory=True)
    (project / "round").symlink_to(project, target_is_directory=True)
    found = find_skills(skill_roots(home, data, work))
    assert {key: skill.body for key, skill in found.items()} == {
        "linked": "linked",
        "other": "other",
        "tdd": "of the project",
    }
    assert find_skills(skill_roots(home, data))["tdd"].body == "of the program"


def test_what_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    put(tmp_path, "good", "fine")
    put(tmp_path, "two words", "cannot be typed")
    (put(tmp_path, "binary", "") / "SKILL.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    (put(tmp_path, "huge", "") / "SKILL.md").write_text("x" * 300_000)
    put(tmp_path / "group" / "inner", "deep", "found")
    assert list(find_skills([tmp_path, tmp_path / "gone"])) == ["deep", "good"]


def test_a_workflow_has_the_skills_of_its_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    library = Library(tmp_path / "data")
    folder = tmp_path / "Shop"
    put(folder / ".flow/skills", "shop", "sell")
    put(tmp_path / "data/skills", "all", "for all")
    project = library.add_project(folder)
    inside = library.create(project.id)
    assert [skill.id for skill in library.skills_for(inside)] == ["all", "shop"]
    assert [skill.id for skill in library.skills_for(None)] == ["all"]
    assert [skill.id for skill in library.skills(folder)] == ["all", "shop"]

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from orchestration.tools.builtin.find import FIND, MAX_PATHS, NOTHING
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.workspace.paths import Workspace
from tests.support.tool_bench import context_in, services

FILES = (
    "src/a.py",
    "src/deep/b.py",
    "src/deep/c.txt",
    "src/migrations/one.sql",
    "notes.md",
    "build/out.py",
    ".github/work.yml",
    ".env",
    "-x.txt",
)


class Finder:
    def __init__(self, root: Path, *added: Path) -> None:
        self.root = root
        self.context = context_in(root, services=services(root, workspace=Workspace(root, added)))

    def put(self, *names: str) -> None:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def content(self, paths: Any) -> str:
        return asyncio.run(FIND.run({"paths": paths}, self.context)).content  # type: ignore[arg-type]

    def lines(self, paths: Any) -> list[str]:
        content = self.content(paths)
        return [] if content == NOTHING else content.split("\n")

    def failure(self, paths: Any) -> ToolFailure:
        with pytest.raises(ToolFailure) as caught:
            self.content(paths)
        return caught.value


@pytest.fixture
def finder(tmp_path: Path) -> Finder:
    root = tmp_path / "root"
    root.mkdir()
    found = Finder(root)
    found.put(*FILES)
    (root / ".gitignore").write_text("build/\n")
    return found


def test_a_folder_gives_everything_in_it_sorted(finder: Finder) -> None:
    everything = [
        "-x.txt",
        "notes.md",
        "src/",
        "src/a.py",
        "src/deep/",
        "src/deep/b.py",
        "src/deep/c.txt",
        "src/migrations/",
        "src/migrations/one.sql",
    ]
    assert finder.lines(".") == everything
    assert finder.lines("**") == everything
    assert finder.lines("src") == [p for p in everything if p.startswith("src/") and p != "src/"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("src/a.py", ["src/a.py"]),
        ("*.py", ["src/a.py", "src/deep/b.py"]),
        ("src/*", ["src/a.py", "src/deep/", "src/migrations/"]),
        ("src/*.py", ["src/a.py"]),
        ("migrations*", ["src/migrations/"]),
        ("**/d*/*.{py,txt}", ["src/deep/b.py", "src/deep/c.txt"]),
        (["*.md", "src/deep", "*.md"], ["notes.md", "src/deep/b.py", "src/deep/c.txt"]),
        ("*.none", []),
        ("nowhere/*", []),
        (".github/*", [".github/work.yml"]),
        ("**/.github/**", [".github/work.yml"]),
        (".e*", [".env"]),
        ([".e*", "*.yml"], [".env"]),
        ("build/**", ["build/out.py"]),
        ("-x.*", ["-x.txt"]),
        (".env", [".env"]),
    ],
)
def test_paths(finder: Finder, paths: Any, expected: list[str]) -> None:
    assert finder.lines(paths) == expected


def test_nothing_found_says_so(finder: Finder) -> None:
    assert finder.content("*.none") == NOTHING


@pytest.mark.parametrize("pattern", ["a[", "{a,b", "a}b*", "{a,b}" * 7, "[" + "x" * 1001])
def test_a_pattern_that_is_none_is_refused(finder: Finder, pattern: str) -> None:
    assert finder.failure(pattern).kind is FailureKind.INVALID_ARGS


def test_what_is_not_there_is_not_found(finder: Finder) -> None:
    assert finder.failure("nothing.txt").kind is FailureKind.NOT_FOUND


@pytest.mark.parametrize("path", ["..", "/", "/etc/*", "src/../../*", "out", "out/*", " .. "])
def test_nothing_outside_is_listed(finder: Finder, path: str) -> None:
    (finder.root / "out").symlink_to(finder.root.parent)
    assert finder.failure(path).kind is FailureKind.PERMISSION_DENIED


def test_links_are_not_followed(finder: Finder) -> None:
    (finder.root / "src" / "up").symlink_to(finder.root.parent)
    (finder.root / "src" / "loop").symlink_to("loop")
    found = finder.lines(["**/*", "src"])
    assert not any("up" in path or "loop" in path for path in found)


def test_at_most_so_many_paths_are_shown(finder: Finder) -> None:
    finder.put(*(f"many/{number:03}.txt" for number in range(MAX_PATHS)))
    assert finder.lines("many/*") == [f"many/{number:03}.txt" for number in range(MAX_PATHS)]
    finder.put("many/more.txt")
    lines = finder.lines("many/*")
    assert lines[:-1] == [f"many/{number:03}.txt" for number in range(MAX_PATHS)]
    assert lines[-1] == "[stopped at 200 paths; make the paths narrower for the rest]"


def test_an_added_folder_is_named_relatively(tmp_path: Path) -> None:
    root, added = tmp_path / "root", tmp_path / "added"
    root.mkdir()
    (added / "deep").mkdir(parents=True)
    (added / "deep" / "x.txt").touch()
    finder = Finder(root, added)
    assert finder.lines(str(added)) == ["../added/deep/", "../added/deep/x.txt"]
    assert finder.lines("../added/**/*.txt") == ["../added/deep/x.txt"]

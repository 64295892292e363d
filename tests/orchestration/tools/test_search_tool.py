from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from orchestration.tools import ripgrep
from orchestration.tools.builtin.search import MAX_LINE_LENGTH, MAX_MATCHES, NO_MATCHES, SEARCH
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.workspace.paths import Workspace
from tests.support.leak_check import child_processes
from tests.support.slow_program import ring_when_there, slow_program
from tests.support.tool_bench import context_in, services


class Searcher:
    def __init__(self, root: Path, *added: Path) -> None:
        self.root = root
        self.context = context_in(root, services=services(root, workspace=Workspace(root, added)))

    def write(self, **files: str) -> None:
        for name, text in files.items():
            self.put(name.replace("__", "/"), text)

    def put(self, name: str, data: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def content(self, pattern: str, paths: Any = ".", **more: Any) -> str:
        arguments = {"pattern": pattern, "paths": paths, **more}
        return asyncio.run(SEARCH.run(arguments, self.context)).content  # type: ignore[arg-type]

    def lines(self, pattern: str, paths: Any = ".", **more: Any) -> list[str]:
        return self.content(pattern, paths, **more).split("\n")

    def failure(self, pattern: str, paths: Any = ".", **more: Any) -> ToolFailure:
        with pytest.raises(ToolFailure) as caught:
            self.content(pattern, paths, **more)
        return caught.value


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    root = tmp_path / "root"
    root.mkdir()
    found = Searcher(root)
    found.put("src/a.py", "import os\nneedle one  \n")
    found.put("src/deep/b.py", "x\ny\n  needle two\n")
    found.put("notes.md", "no\nNeedle three\n")
    found.put("build/out.py", "needle built\n")
    found.put("trace.log", "needle logged\n")
    found.put("keep.log", "needle kept\n")
    found.put(".hidden/h.txt", "needle hidden\n")
    found.put(".git/config", "needle of git\n")
    found.put(".gitignore", "build/\n*.log\n!keep.log\n")
    return found


def test_matches_are_path_line_and_text(searcher: Searcher) -> None:
    assert searcher.lines("needle") == [
        ".hidden/h.txt:1:needle hidden",
        "keep.log:1:needle kept",
        "src/a.py:2:needle one",
        "src/deep/b.py:3:  needle two",
    ]


def test_case_counts_unless_told_otherwise(searcher: Searcher) -> None:
    assert "notes.md:2:Needle three" not in searcher.lines("needle")
    assert "notes.md:2:Needle three" in searcher.lines("needle", i=True)
    assert searcher.lines("needle", i=None) == searcher.lines("needle")


@pytest.mark.parametrize("everything", ["**/*", "**", "*", ".", "./", ["**/*", "src"]])
def test_a_pattern_for_everything_brings_no_ignored_file_back(
    searcher: Searcher, everything: Any
) -> None:
    assert searcher.lines("needle", everything) == searcher.lines("needle")


def test_ignored_files_are_searched_when_asked_for(searcher: Searcher) -> None:
    found = searcher.lines("needle", gitignore=False)
    assert "build/out.py:1:needle built" in found
    assert "trace.log:1:needle logged" in found
    assert not any(line.startswith(".git/") for line in found)


@pytest.mark.parametrize("is_repository", [True, False])
@pytest.mark.parametrize("paths", ["*.py", "**/*.py", "**/*.{py,rs}", "{src,build}/**/*.py"])
def test_ignored_files_stay_out_of_patterns(
    searcher: Searcher, paths: str, is_repository: bool
) -> None:
    if not is_repository:
        (searcher.root / ".git" / "config").unlink()
        (searcher.root / ".git").rmdir()
    assert searcher.lines("needle", paths) == [
        "src/a.py:2:needle one",
        "src/deep/b.py:3:  needle two",
    ]


@pytest.mark.parametrize("is_repository", [True, False])
def test_rules_of_the_root_hold_in_a_folder_that_is_named(
    searcher: Searcher, is_repository: bool
) -> None:
    if not is_repository:
        (searcher.root / ".git" / "config").unlink()
        (searcher.root / ".git").rmdir()
    searcher.put("src/x.log", "needle\n")
    assert searcher.lines("needle", ["src/deep", "src/"]) == [
        "src/a.py:2:needle one",
        "src/deep/b.py:3:  needle two",
    ]


def test_a_folder_or_file_that_is_named_counts_although_ignored(searcher: Searcher) -> None:
    assert searcher.lines("needle", "build") == ["build/out.py:1:needle built"]
    assert searcher.lines("needle", "trace.log") == ["trace.log:1:needle logged"]


def test_rules_above_a_folder_that_is_no_repository_are_not_its_own(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*\n")
    root = tmp_path / "root"
    root.mkdir()
    searcher = Searcher(root)
    searcher.put("a.txt", "needle\n")
    assert searcher.lines("needle") == ["a.txt:1:needle"]


def test_a_folder_of_a_repository_goes_by_the_rules_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    root = tmp_path / "root"
    root.mkdir()
    searcher = Searcher(root)
    searcher.put("a.txt", "needle\n")
    searcher.put("a.tmp", "needle\n")
    assert searcher.lines("needle") == ["a.txt:1:needle"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ("src", ["src/a.py:2", "src/deep/b.py:3"]),
        ("./src/", ["src/a.py:2", "src/deep/b.py:3"]),
        ("src/a.py", ["src/a.py:2"]),
        ("src/*.py", ["src/a.py:2"]),
        ("src/?.py", ["src/a.py:2"]),
        ("src/[!b].py", ["src/a.py:2"]),
        ("src/**/b.py", ["src/deep/b.py:3"]),
        ("**/deep/**", ["src/deep/b.py:3"]),
        ("b.*", ["src/deep/b.py:3"]),
        ("./*.py", []),
        ("none/**/*.py", []),
        ("**/*.none", []),
        (["src/a.py", "src/a.py", "src"], ["src/a.py:2", "src/deep/b.py:3"]),
        (["notes.md", "src/deep"], ["src/deep/b.py:3"]),
        (".hidden", [".hidden/h.txt:1"]),
    ],
)
def test_paths(searcher: Searcher, paths: Any, expected: list[str]) -> None:
    content = searcher.content("needle", paths)
    if not expected:
        assert content == NO_MATCHES
    else:
        assert [":".join(line.split(":")[:2]) for line in content.split("\n")] == expected


def test_a_name_that_looks_like_a_pattern_is_found(searcher: Searcher) -> None:
    searcher.put("app/[id]/page.tsx", "needle\n")
    assert searcher.lines("needle", "app/[id]") == ["app/[id]/page.tsx:1:needle"]


def test_what_is_not_there_is_not_found(searcher: Searcher) -> None:
    failure = searcher.failure("needle", ["src", "nowhere/x.py"])
    assert failure.kind is FailureKind.NOT_FOUND
    assert "'nowhere/x.py'" in str(failure)


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("(", "unclosed group"),
        ("a{2", "repetition"),
        ("(?=x)", "look-around"),
        (r"(a)\1", "backreferences"),
        ("a\nb", "one line"),
        ("", "blank"),
        (" \t", "blank"),
        ("a\0b", "NUL"),
        ("a\ud800", "character"),
        ("x" * 10_001, "longer"),
    ],
)
def test_a_pattern_that_is_none_is_refused(searcher: Searcher, pattern: str, word: str) -> None:
    failure = searcher.failure(pattern)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert word in str(failure)
    assert "--" not in str(failure)


@pytest.mark.parametrize("pattern", ["--help", "-e", "-", "--pre=sh", "--files"])
def test_a_pattern_is_never_an_option(searcher: Searcher, pattern: str) -> None:
    searcher.put("options.txt", f"a {pattern} b\n")
    assert searcher.lines(pattern) == [f"options.txt:1:a {pattern} b"]


def test_a_path_is_never_an_option(searcher: Searcher) -> None:
    searcher.put("--pre=x/-e", "needle\n")
    assert searcher.lines("needle", "--pre=x") == ["--pre=x/-e:1:needle"]
    assert searcher.lines("needle", ["--pre=x/-e"]) == ["--pre=x/-e:1:needle"]


def test_no_configuration_of_a_person_counts(
    searcher: Searcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "ripgreprc"
    config.write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    assert searcher.lines("needle", "src/a.py") == ["src/a.py:2:needle one"]


@pytest.mark.parametrize("path", ["..", "../root-run", "/etc", "out", "out/*", "../**/*", "/**/*"])
def test_nothing_outside_is_searched(searcher: Searcher, path: str) -> None:
    (searcher.root / "out").symlink_to(searcher.root.parent)
    failure = searcher.failure("needle", path)
    assert failure.kind is FailureKind.PERMISSION_DENIED
    assert "'" in str(failure)


def test_links_are_not_followed(searcher: Searcher) -> None:
    outside = searcher.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle secret\n")
    (searcher.root / "folder").symlink_to(outside)
    (searcher.root / "file.txt").symlink_to(outside / "secret.txt")
    (searcher.root / "again").symlink_to(searcher.root / "src")
    for paths in (".", "**/*.txt", "*"):
        found = searcher.content("needle", paths)
        assert "secret" not in found
        assert "again" not in found


def test_git_keeps_its_own(searcher: Searcher) -> None:
    for path in (".git", ".git/config", ".git/**"):
        assert searcher.failure("needle", path).kind is FailureKind.INVALID_ARGS
    assert searcher.content("of git", "**/config") == NO_MATCHES


def test_a_pipe_is_refused_and_not_waited_for(searcher: Searcher) -> None:
    os.mkfifo(searcher.root / "pipe")
    assert searcher.failure("needle", "pipe").kind is FailureKind.FAILED
    assert len(searcher.lines("needle")) == 4


def test_an_added_folder_is_searched_and_named_relatively(tmp_path: Path) -> None:
    root, added = tmp_path / "root", tmp_path / "added"
    root.mkdir()
    added.mkdir()
    searcher = Searcher(root, added)
    (added / "x.txt").write_text("needle\n")
    expected = ["../added/x.txt:1:needle"]
    for paths in (str(added), "../added", f"{added}/*.txt", "../added/**/*.txt"):
        assert searcher.lines("needle", paths) == expected
    assert searcher.content("needle") == NO_MATCHES


def test_at_most_so_many_matches_are_shown(searcher: Searcher) -> None:
    searcher.put("many.txt", "hit\n" * MAX_MATCHES)
    assert len(searcher.lines("hit")) == MAX_MATCHES
    searcher.put("more.txt", "hit\n")
    lines = searcher.lines("hit")
    assert len(lines) == MAX_MATCHES + 1
    assert lines[-1] == (
        "[stopped at 500 matches; make the pattern or the paths narrower for the rest]"
    )


def test_a_flood_of_matches_ends_at_the_limit(searcher: Searcher) -> None:
    for number in range(20):
        searcher.put(f"flood/{number}.txt", "flood\n" * 20_000)
    before = child_processes()
    assert len(searcher.lines("flood")) == MAX_MATCHES + 1
    assert child_processes() <= before


def test_matches_that_are_not_asked_for_do_not_count_to_the_limit(searcher: Searcher) -> None:
    searcher.put("other/flood_1.txt", "hit\n" * 20_000)
    searcher.put("other/wanted_[1].txt", "hit\n")
    assert searcher.lines("hit", "**/wanted_[[]1].txt") == ["other/wanted_[1].txt:1:hit"]


@pytest.mark.parametrize("letter", ["x", "é", "漢", "🙂"])
def test_a_long_line_is_clipped_between_characters(searcher: Searcher, letter: str) -> None:
    searcher.put("long.txt", "hit" + letter * 3000 + "\n")
    assert searcher.lines("hit") == ["long.txt:1:hit" + letter * (MAX_LINE_LENGTH - 3) + "…"]
    searcher.put("long.txt", "hit" + letter * (MAX_LINE_LENGTH - 3) + "\n")
    assert searcher.lines("hit") == ["long.txt:1:hit" + letter * (MAX_LINE_LENGTH - 3)]


def test_bytes_that_are_no_text_are_replaced(searcher: Searcher) -> None:
    searcher.put("odd.txt", b"hit \xff\xfe end\r\nhit two\r\n")
    assert searcher.lines("hit") == ["odd.txt:1:hit �� end", "odd.txt:2:hit two"]
    assert searcher.lines("two$", "odd.txt") == ["odd.txt:2:hit two"]


def test_names_that_are_odd_are_kept_apart(searcher: Searcher) -> None:
    searcher.put("a:1:b.txt", "hit\n")
    searcher.put("new\nline.txt", "hit\n")
    searcher.put("tail .txt ", "hit\n")
    (Path(os.fsdecode(os.fsencode(searcher.root) + b"/bad\xff.txt"))).write_text("hit\n")
    content = searcher.content("hit")
    for name in ("a:1:b.txt", "new\nline.txt", "tail .txt ", "bad�.txt"):
        assert f"{name}:1:hit" in content
    content.encode()


def test_binary_files_are_left_out(searcher: Searcher) -> None:
    searcher.put("a.bin", b"hit\0hit\n")
    searcher.put("b.bin", b"hit one\n" + b"x" * 100_000 + b"\0\n")
    searcher.put("c.txt", "hit\n")
    found = searcher.lines("hit", [".", "a.bin", "b.bin"])
    assert found[-1] == "c.txt:1:hit"
    assert all(line.startswith(("b.bin:1:hit one", "c.txt")) for line in found)


def test_time_that_is_over_shows_what_was_found(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = searcher.root.parent / "printed"
    ring_when_there(printed, monkeypatch)
    slow_program(
        searcher.root.parent, monkeypatch, "./src/a.py\\0002:needle\\n", 60.0, printed=printed
    )
    lines = searcher.lines("needle")
    assert lines[0] == "src/a.py:2:needle"
    assert lines[1].startswith("[stopped after")


def test_time_that_is_over_without_a_match_is_a_timeout(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_program(searcher.root.parent, monkeypatch, "", 0.2)
    assert searcher.failure("needle").kind is FailureKind.TIMEOUT


def test_stopping_the_call_ends_the_program(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = searcher.root.parent / "started"
    os.mkfifo(started)

    async def stop() -> None:
        before = child_processes()
        arguments = {"pattern": "needle", "paths": "."}
        task = asyncio.ensure_future(SEARCH.run(arguments, searcher.context))
        await asyncio.to_thread(started.read_bytes)
        assert child_processes() - before
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not child_processes() - before

    slow_program(searcher.root.parent, monkeypatch, "", 60.0, started)
    asyncio.run(stop())


def test_the_program_is_the_one_that_came_along() -> None:
    found = ripgrep.program()
    assert found.is_absolute()
    assert found.is_file()

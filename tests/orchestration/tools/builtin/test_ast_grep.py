"""`ast_grep` finds code by its shape, where it may look, and stops when it is to."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestration.tools.ast_grep_process import Found, find_code
from orchestration.tools.builtin import ast_grep as tool_module
from orchestration.tools.builtin.ast_grep import AST_GREP, MAX_MATCHES
from orchestration.tools.streamed_program import Stop, program_of, stoppable, stream
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure
from tests.support.tool_bench import context_in
from tests.support.tool_calls import run_tool


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    return folder


@pytest.fixture
def context(root: Path) -> ToolContext:
    return context_in(root)


def found(context: ToolContext, pat: str, *paths: str, **more: object) -> list[str]:
    output = run_tool(AST_GREP, context, pat=pat, paths=list(paths) or ["."], **more)
    return output.content.split("\n")


def failure_of(context: ToolContext, pat: str, *paths: str, **more: object) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        run_tool(AST_GREP, context, pat=pat, paths=list(paths) or ["."], **more)
    return caught.value


def test_matches_are_told_by_path_and_line(root: Path, context: ToolContext) -> None:
    (root / "b.py").write_text("x = 1\nprint( 'é',\n   x)\n", "utf-8")
    (root / "sub/a.js").write_text("print(x)\n")
    assert found(context, "print($$$A)") == ["b.py:2:print( 'é',", "sub/a.js:1:print(x)"]
    assert found(context, "print($$$A)", lang="python") == ["b.py:2:print( 'é',"]
    assert found(context, "print($A)") == ["sub/a.js:1:print(x)"]
    assert found(context, "absent($A)") == ["[no matches]"]


def test_the_program_runs_in_the_execution_folder(
    root: Path, context: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.py").write_text("f(1)\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/b.py").write_text("f(2)\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert found(context, "f($A)") == ["a.py:1:f(1)"]


def test_paths_may_be_files_folders_and_patterns(root: Path, context: ToolContext) -> None:
    for name in ("a.py", "b.py", "sub/c.py", "sub/d.js", ".hidden.py"):
        (root / name).write_text("f(1)\n")
    assert found(context, "f($A)", "b.py", "sub") == [
        "b.py:1:f(1)",
        "sub/c.py:1:f(1)",
        "sub/d.js:1:f(1)",
    ]
    assert found(context, "f($A)", "sub/*.py") == ["sub/c.py:1:f(1)"]
    assert found(context, "f($A)", ".hidden.py") == [".hidden.py:1:f(1)"]
    assert found(context, "f($A)", ".*.py") == [".hidden.py:1:f(1)"]
    assert found(context, "f($A)", "nothing/*.py") == ["[no matches]"]
    output = run_tool(AST_GREP, context, pat="f($A)", paths="a.py")
    assert output.content == "a.py:1:f(1)"


@pytest.mark.parametrize("is_repository", [True, False])
def test_ignored_files_are_left_out_unless_they_are_named(
    root: Path, context: ToolContext, is_repository: bool
) -> None:
    if is_repository:
        (root / ".git").mkdir()
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build/\n*.gen.py\n")
    (root / "sub/.gitignore").write_text("own.py\n")
    for name in ("a.py", "a.gen.py", "build/b.py", "sub/own.py", "sub/c.py"):
        (root / name).write_text("f(1)\n")
    assert found(context, "f($A)") == ["a.py:1:f(1)", "sub/c.py:1:f(1)"]
    assert found(context, "f($A)", "build/b.py", "a.gen.py") == [
        "a.gen.py:1:f(1)",
        "build/b.py:1:f(1)",
    ]


def test_nothing_outside_of_the_folder_is_looked_at(
    root: Path, context: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "out.py").write_text("f(1)\n")
    (root / "link.py").symlink_to(tmp_path / "out.py")
    (root / "folder").symlink_to(tmp_path)
    assert found(context, "f($A)") == ["[no matches]"]
    for path in ("../out.py", str(tmp_path), "link.py", "folder", "folder/*.py"):
        assert failure_of(context, "f($A)", path).kind is FailureKind.PERMISSION_DENIED


def test_the_search_stops_at_the_limit_and_says_so(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_text("".join(f"f({i})\n" for i in range(MAX_MATCHES + 100)))
    lines = found(context, "f($A)")
    assert len(lines) == MAX_MATCHES + 1
    assert lines[-1].startswith(f"[stopped at {MAX_MATCHES} matches")


def test_long_lines_are_clipped(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_text(f"f('{'é' * 2000}')\n", "utf-8")
    (line,) = found(context, "f($A)")
    assert line == f"a.py:1:f('{'é' * 497}…"


@pytest.mark.parametrize(
    ("pat", "more", "told"),
    [
        (" ", {}, "[invalid_args] ast_grep: the pattern is blank"),
        ("f\0", {}, "[invalid_args] ast_grep: the pattern has a NUL in it"),
        ("f\ud800", {}, "[invalid_args] ast_grep: the pattern has half of a character in it"),
        ("f" * 10_001, {}, "[invalid_args] ast_grep: the pattern is longer than 10000"),
        ("f", {"lang": "klingon"}, "[invalid_args] ast_grep: invalid value 'klingon'"),
        ("f", {"paths": ["gone.py"]}, "[not_found] there is no 'gone.py'"),
    ],
)
def test_what_cannot_be_looked_for_is_told(
    context: ToolContext, pat: str, more: dict[str, object], told: str
) -> None:
    arguments = {"pat": pat, "paths": ["."]} | more
    with pytest.raises(ToolFailure) as caught:
        run_tool(AST_GREP, context, **arguments)
    assert told in str(caught.value)


def test_a_pattern_that_looks_like_an_option_is_a_pattern(root: Path, context: ToolContext) -> None:
    (root / "a.js").write_text("--x\n")
    (root / "-U.js").write_text("--x\n")
    assert found(context, "--x") == ["-U.js:1:--x", "a.js:1:--x"]
    assert found(context, "--x", "-U.js") == ["-U.js:1:--x"]


def test_a_pattern_that_is_no_code_is_remarked_upon(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_text("f(1)\n")
    assert found(context, ")(", lang="python") == [
        "[no matches]",
        "[the pattern does not parse as code of its language]",
    ]


def test_settings_of_the_project_that_are_broken_are_told(root: Path, context: ToolContext) -> None:
    (root / "sgconfig.yml").write_text("a: [")
    failure = failure_of(context, "f($A)")
    assert failure.kind is FailureKind.FAILED
    assert "Cannot parse configuration" in failure.detail


def test_the_answer_may_be_kept() -> None:
    assert AST_GREP.is_cacheable is not None
    assert AST_GREP.is_cacheable({"pat": "f", "paths": ["."]})
    assert not AST_GREP.writes


def test_the_program_comes_with_this_one() -> None:
    assert program_of("ast-grep-cli", "ast-grep").is_file()
    with pytest.raises(ToolFailure, match="the program 'nowhere' is missing"):
        program_of("no-such-package", "nowhere")


PARENT = (
    "import subprocess, sys\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    "print(child.pid, flush=True)\n"
    "child.wait()\n"
)


def is_running(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected by its parent does not."""
    state = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_a_stop_ends_the_program_and_what_it_started(tmp_path: Path) -> None:
    pids: list[int] = []
    started: asyncio.Event

    async def cancelled() -> None:
        nonlocal started
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def take(data: bytes) -> bool:
            pids.append(int(data))
            loop.call_soon_threadsafe(started.set)
            return True

        def work(stop: Stop) -> None:
            stream([sys.executable, "-c", PARENT], tmp_path, take, 600, stop)

        task = asyncio.ensure_future(stoppable(work))
        await asyncio.wait_for(started.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    (pid,) = pids
    assert gone(pid)


def gone(pid: int) -> bool:
    """Whether the process ends; whoever has killed it does not wait for one that is not its own."""
    return any(not is_running(pid) for _ in range(2000))


def test_enough_output_ends_the_program(tmp_path: Path) -> None:
    endless = "while True: print('x' * 1000)"
    seen: list[bytes] = []

    def take(data: bytes) -> bool:
        seen.append(data)
        return len(seen) < 3

    ended = stream([sys.executable, "-c", endless], tmp_path, take, 600, Stop())
    assert (ended.status, ended.timed_out, len(seen)) == (None, False, 3)


def test_a_program_whose_time_is_over_is_ended(tmp_path: Path) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    ended = stream(sleeper, tmp_path, lambda data: True, 0.05, Stop())
    assert (ended.status, ended.timed_out) == (None, True)


def test_a_program_that_was_stopped_before_it_started_does_not_run_on(tmp_path: Path) -> None:
    stop = Stop()
    stop.set()
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert stream(sleeper, tmp_path, lambda data: True, 600, stop).status is None


def test_an_error_of_the_reader_ends_the_program(tmp_path: Path) -> None:
    def take(data: bytes) -> bool:
        raise ValueError("unexpected")

    endless = "while True: print('x' * 1000)"
    with pytest.raises(ValueError, match="unexpected"):
        stream([sys.executable, "-c", endless], tmp_path, take, 600, Stop())


def test_a_search_that_takes_too_long_is_told(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*arguments: Any) -> Found:
        find_code(*arguments)
        return Found(is_complete=False, timed_out=True)

    monkeypatch.setattr(tool_module, "find_code", slow)
    assert failure_of(context, "f($A)").kind is FailureKind.TIMEOUT
    (root / "a.py").write_text("f(1)\n")
    assert found(context, "f($A)") == [
        "a.py:1:f(1)",
        "[stopped after 60 s; name narrower paths for the rest]",
    ]


def test_a_place_whose_name_is_no_text_is_told(root: Path, context: ToolContext) -> None:
    (root / os.fsdecode(b"d\xe9")).mkdir()
    (root / "link").symlink_to(os.fsdecode(b"d\xe9"))
    assert "'./d\ufffd/' has bytes in its name that are no text" in str(
        failure_of(context, "f($A)", "link")
    )

"""`ast_edit` rewrites what its patterns match, byte by byte, all of it or nothing."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.schema import compiled
from orchestration.tools.ast_grep_process import Found, Match, Offsets, Position, Range, find_code
from orchestration.tools.builtin.ast_edit import AST_EDIT
from orchestration.tools.file_edits import ast_edit_plan
from orchestration.tools.file_edits.ast_edit_plan import replaced
from orchestration.tools.file_edits.edit_log import EditLog
from orchestration.tools.streamed_program import stream
from orchestration.tools.tool import ToolContext, ToolFailure, ToolOutput
from tests.support.tool_bench import context_in
from tests.support.tool_calls import inspect_tool, run_tool


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    return folder


@pytest.fixture
def context(root: Path) -> ToolContext:
    return context_in(root)


SLEEP = "import time; time.sleep(600)"


def op(pat: str, out: str) -> dict[str, str]:
    return {"pat": pat, "out": out}


def edit(
    context: ToolContext, *ops: dict[str, str], paths: object = (".",), **more: object
) -> ToolOutput:
    return run_tool(AST_EDIT, context, ops=list(ops), paths=paths, **more)


def refused(
    context: ToolContext, *ops: dict[str, str], paths: object = (".",), **more: object
) -> str:
    output = edit(context, *ops, paths=paths, **more)
    assert output.is_error
    assert output.batch is None
    assert not output.effects.file_changes
    return output.content


def test_all_matches_are_rewritten_and_counted(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes("print('é', 1)\r\nprint(2)".encode())
    (root / "sub/b.py").write_bytes(b"\xef\xbb\xbfprint(3)\n")
    (root / "c.py").write_bytes(b"other(1)\n")
    output = edit(context, op("print($$$A)", "log($$$A)"))
    assert not output.is_error
    assert (root / "a.py").read_bytes() == "log('é', 1)\r\nlog(2)".encode()
    assert (root / "sub/b.py").read_bytes() == b"\xef\xbb\xbflog(3)\n"
    assert [change.path for change in output.effects.file_changes] == ["a.py", "sub/b.py"]
    assert "Updated a.py: 2 replacements" in output.content
    assert "Updated sub/b.py: 1 replacement" in output.content
    assert "+1|log('é', 1)" in output.content
    assert output.content.endswith("3 replacements in 2 files\n1. 3 of 'print($$$A)'")


def test_ops_apply_in_order_each_to_what_those_before_leave(
    root: Path, context: ToolContext
) -> None:
    (root / "a.py").write_bytes(b"one(1)\ntwo(2)\n")
    (root / "b.py").write_bytes(b"two(3)\n")
    output = edit(context, op("one($A)", "two($A)"), op("two($A)", "three($A)"))
    assert (root / "a.py").read_bytes() == b"three(1)\nthree(2)\n"
    assert (root / "b.py").read_bytes() == b"three(3)\n"
    assert output.content.endswith(
        "4 replacements in 2 files\n1. 1 of 'one($A)'\n2. 3 of 'two($A)'"
    )


def test_an_empty_replacement_deletes(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"keep()\nprint(1)\n")
    edit(context, op("print($A)", ""))
    assert (root / "a.py").read_bytes() == b"keep()\n\n"


def test_of_matches_within_each_other_the_outermost_is_replaced(
    root: Path, context: ToolContext
) -> None:
    (root / "a.py").write_bytes(b"f(f(1)) + f(2)\n")
    output = edit(context, op("f($A)", "g($A)"))
    assert (root / "a.py").read_bytes() == b"g(f(1)) + g(2)\n"
    assert "2 replacements in 1 file" in output.content


def test_new_lines_end_as_those_of_the_file(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\r\nf(\r\n  2)\r\n")
    edit(context, op("f($A)", "g($A,\n  3)"))
    assert (root / "a.py").read_bytes() == b"g(1,\r\n  3)\r\ng(2,\r\n  3)\r\n"


def test_what_comes_to_nothing_is_told_and_not_written(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    output = edit(context, op("f($A)", "g($A)"), op("g($A)", "f($A)"))
    assert not output.is_error
    assert output.batch is None
    assert "a.py: 2 replacements, no net change" in output.content
    output = edit(context, op("absent($A)", "x"))
    assert output.content == "0 replacements in 0 files\n1. 0 of 'absent($A)'"


def test_a_preview_shows_the_diffs_and_touches_nothing(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    seen = inspect_tool(AST_EDIT, context, ops=[op("f($A)", "g($A)")], paths=["a.py"])
    assert seen.preview is not None
    assert [(file.path, file.diff) for file in seen.preview.files] == [
        ("a.py", "-1|f(1)\n+1|g(1)"),
    ]
    assert len(seen.targets) == 1
    assert (root / "a.py").read_bytes() == b"f(1)\n"
    assert sorted(path.name for path in root.iterdir()) == ["a.py", "sub"]


def test_an_edit_can_be_undone(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\r\n")
    output = edit(context, op("f($A)", "g($A)"))
    assert output.batch is not None
    EditLog(context.services.edits).revert(output.batch.batch_id, context.workspace)
    assert (root / "a.py").read_bytes() == b"f(1)\r\n"


def test_only_what_the_paths_mean_is_rewritten(root: Path, context: ToolContext) -> None:
    (root / ".gitignore").write_text("ignored.py\n")
    for name in ("a.py", "sub/b.py", "sub/c.js", "ignored.py", ".hidden.py"):
        (root / name).write_bytes(b"f(1)\n")
    edit(context, op("f($A)", "g($A)"), paths=["**/*.py", "sub"], lang="python")
    assert {str(path.relative_to(root)) for path in root.rglob("*.*") if changed(path)} == {
        "a.py",
        "sub/b.py",
    }


def changed(path: Path) -> bool:
    return path.read_bytes() == b"g(1)\n"


@pytest.mark.parametrize(
    ("ops", "paths", "told"),
    [
        ([], ["."], "[invalid_args] ast_edit: there are no ops"),
        ([op("f($A)", "x")], [], "[invalid_args] ast_edit: there are no paths"),
        ([op("", "x")], ["."], "[invalid_args] ast_edit: the pattern is blank"),
        ([op("f($A)", "\0")], ["."], "[invalid_args] ast_edit: the replacement has a NUL"),
        ([op("f($A)", "x")], ["gone.py"], "[not_found] there is no 'gone.py'"),
        ([op("f($A)", "x")], ["*.rs"], "[not_found] ast_edit: no file matches the paths"),
        ([op("f($A)", "x")], ["gone/*.py"], "[not_found] ast_edit: no file matches the paths"),
        ([op("f($A)", "x")], ["../out.py"], "[permission_denied] '../out.py' leads out"),
        ([op("f($A)", "x")], ["link"], "[permission_denied] 'link' leads out"),
        ([op("f($A)", "x")], ["made.py"], "[permission_denied] 'made.py' is a generated file"),
    ],
)
def test_what_cannot_be_done_is_told_and_not_done(
    root: Path, context: ToolContext, ops: list[dict[str, str]], paths: list[str], told: str
) -> None:
    (root / "link").symlink_to(root.parent)
    (root / "a.py").write_bytes(b"f(1)\n")
    (root / "made.py").write_bytes(b"# @generated\nf(1)\n")
    assert told in refused(context, *ops, paths=paths)
    assert (root / "a.py").read_bytes() == b"f(1)\n"
    with pytest.raises(ToolFailure):
        inspect_tool(AST_EDIT, context, ops=ops, paths=paths)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "ops"),
        ({"ops": [op("f", "g")]}, "paths"),
        ({"ops": [], "paths": ["."]}, "ops"),
        ({"ops": [op("f", "g")], "paths": []}, "paths"),
        ({"ops": [{"pat": "f"}], "paths": ["."]}, "out"),
        ({"ops": [{"out": "f"}], "paths": ["."]}, "pat"),
        ({"ops": [op("f", "g") | {"more": 1}], "paths": ["."]}, "ops[0]"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused(
    arguments: dict[str, object], problem: str
) -> None:
    problems = compiled(AST_EDIT.definition.input_schema).problems(arguments)
    assert problem in " ".join(problems)


def test_a_language_that_nobody_knows_is_told(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    told = refused(context, op("f($A)", "g($A)"), lang="klingon")
    assert "[invalid_args] ast_edit: invalid value 'klingon'" in told


def test_a_pattern_that_is_no_code_is_remarked_upon(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    output = edit(context, op("f($A)", "g($A)"), op(")(", "x"), lang="python")
    assert (root / "a.py").read_bytes() == b"g(1)\n"
    assert "2. 0 of ')(' [the pattern does not parse as code" in output.content


def test_a_later_op_that_fails_leaves_everything_as_it_was(
    root: Path, context: ToolContext
) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    refused(context, op("f($A)", "g($A)"), op(" ", "x"))
    assert (root / "a.py").read_bytes() == b"f(1)\n"


def test_too_many_matches_are_refused(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ast_edit_plan, "MAX_REPLACEMENTS", 3)
    (root / "a.py").write_bytes(b"f(1)\n" * 3)
    told = refused(context, op("f($A)", "g($A)"), op("g($A)", "h($A)"))
    assert "there are more than 3 matches, and nothing was written" in told
    assert not edit(context, op("f($A)", "g($A)")).is_error
    (root / "a.py").write_bytes(b"f(1)\n" * 4)
    assert "more than 3 matches" in refused(context, op("f($A)", "g($A)"))


def test_a_file_that_others_changed_is_not_rewritten(root: Path, context: ToolContext) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")
    context.services.files.saw("n", root / "a.py", b"f(0)\n")
    assert "'a.py' has changed since you last read it" in refused(context, op("f($A)", "g($A)"))
    assert (root / "a.py").read_bytes() == b"f(1)\n"


def test_a_stop_ends_the_planning(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.py").write_bytes(b"f(1)\n")

    async def cancelled() -> None:
        loop = asyncio.get_running_loop()

        def slow(*arguments: Any) -> Found:
            loop.call_soon_threadsafe(task.cancel)
            # Ends only because it is stopped.
            stream([sys.executable, "-c", SLEEP], root, lambda data: True, 600, arguments[-1])
            return find_code(*arguments)

        monkeypatch.setattr(ast_edit_plan, "find_code", slow)
        arguments = {"ops": [op("f($A)", "g($A)")], "paths": ["."]}
        task = asyncio.ensure_future(AST_EDIT.run(arguments, context))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert (root / "a.py").read_bytes() == b"f(1)\n"


def test_every_path_is_locked() -> None:
    assert AST_EDIT.lock_paths is not None
    assert AST_EDIT.lock_paths({"ops": [], "paths": ["a", "b"]}) == ("a", "b")
    assert AST_EDIT.lock_paths({"paths": "a"}) == ("a",)
    assert AST_EDIT.writes


def match_of(data: bytes, start: int, end: int, new: str) -> Match:
    offsets = Offsets(start, end)
    text = data[start:end].decode()
    return Match("f", text, text, Range(offsets, Position(0)), new, offsets)


@given(st.data())
def test_replacements_change_the_bytes_that_match_and_no_others(data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(["é", "a\n", "b\r\n", "\r", "x y"]), max_size=12))
    raw = "".join(pieces).encode()
    expected: list[bytes] = []
    matches: list[Match] = []
    at = 0
    for piece in pieces:
        size = len(piece.encode())
        if data.draw(st.booleans()):
            new = data.draw(st.sampled_from(["", "new", "é"]))
            matches.append(match_of(raw, at, at + size, new))
            expected.append(new.encode())
        else:
            expected.append(piece.encode())
        at += size
    shuffled = data.draw(st.permutations(matches))
    assert replaced(raw, shuffled, "f") == (b"".join(expected), len(matches))


def test_matches_of_another_text_are_refused() -> None:
    with pytest.raises(ToolFailure, match="'f' changed while it was looked at"):
        replaced(b"other", [match_of(b"these", 0, 5, "x")], "f")

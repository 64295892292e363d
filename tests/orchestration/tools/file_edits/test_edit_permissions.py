"""Permissions and folders are what they were, whatever a call did and however it was undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.vocabulary.tools import ToolDefinition
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.reading import read_target
from orchestration.tools.tool import Tool, ToolContext
from tests.support.edit_bench import EditBench


@pytest.fixture
def bench(tmp_path: Path) -> EditBench:
    return EditBench(tmp_path / "root")


def planned(make: Callable[[ToolContext], ChangePlan]) -> Tool:
    """A tool whose plan does not depend on its arguments."""
    definition = ToolDefinition("planned", "does what the test plans", {})
    return editing_tool(definition, lambda _, context: make(context), lambda _: [])


def change(context: ToolContext, path: str, after: bytes | None) -> FileChange:
    target = read_target(path, context)
    return FileChange(path=target.path, label=target.label, before=target.data, after=after)


def test_what_was_done_before_a_failure_is_undone_with_permissions_and_folders(
    bench: EditBench,
) -> None:
    bench.put("a.sh", "1\n").chmod(0o755)

    def plan(context: ToolContext) -> ChangePlan:
        made = {"a.sh": None, "new/b": b"1\n", "c": b"1\n"}
        changes = tuple(change(context, path, after) for path, after in made.items())
        bench.put("c", "theirs\n")
        return ChangePlan(changes)

    output = bench.run(planned(plan))
    assert bench.files() == {"new/b": b"1\n", "c": b"theirs\n"}
    bench.revert(output)
    assert bench.files() == {"a.sh": b"1\n", "c": b"theirs\n"}
    assert (bench.root / "a.sh").stat().st_mode & 0o777 == 0o755
    assert not (bench.root / "new").exists()


def test_a_file_that_is_deleted_and_made_anew_keeps_its_permissions(bench: EditBench) -> None:
    bench.put("a.sh", "1\n").chmod(0o755)

    def plan(context: ToolContext) -> ChangePlan:
        gone = change(context, "a.sh", None)
        anew = FileChange(path=gone.path, label=gone.label, before=None, after=b"2\n")
        return ChangePlan((gone, anew))

    output = bench.run(planned(plan))
    assert (bench.root / "a.sh").stat().st_mode & 0o777 == 0o755
    bench.revert(output)
    assert bench.files() == {"a.sh": b"1\n"}
    assert (bench.root / "a.sh").stat().st_mode & 0o777 == 0o755

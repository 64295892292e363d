"""The list of steps that a node shows: what is taken, and the summary that comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from engine.run.schema import compiled
from engine.vocabulary.tools import ToolTier
from orchestration.tools.builtin.todo_list import (
    DEFINITION,
    MAX_CONTENT,
    MAX_TODOS,
    TODO_LIST,
    update_todo_list,
)
from orchestration.tools.tool import FailureKind, ToolFailure
from tests.support.tool_bench import ToolBench, admitted_call, context_in


def steps(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"todos": [{"content": content, "status": status} for content, status in pairs]}


def summary(root: Path, *pairs: tuple[str, str]) -> str:
    return asyncio.run(update_todo_list(steps(*pairs), context_in(root))).content


def test_the_summary_counts_and_names_the_current_step(tmp_path: Path) -> None:
    found = summary(
        tmp_path, ("look", "completed"), ("  fix it ", "in_progress"), ("test", "pending")
    )
    assert found == "1 of 3 steps are completed. In progress: fix it"


@pytest.mark.parametrize(
    ("status", "count"), [("pending", 0), ("completed", 2)], ids=["none begun", "all done"]
)
def test_without_a_current_step_there_is_only_the_count(
    tmp_path: Path, status: str, count: int
) -> None:
    found = summary(tmp_path, ("a", status), ("b", status))
    assert found == f"{count} of 2 steps are completed."


def test_at_most_one_step_is_in_progress(tmp_path: Path) -> None:
    with pytest.raises(ToolFailure, match="2 steps are in progress") as caught:
        summary(tmp_path, ("a", "in_progress"), ("b", "in_progress"), ("c", "pending"))
    assert caught.value.kind is FailureKind.INVALID_ARGS


@pytest.mark.parametrize("content", ["", "  \n", "x" * (MAX_CONTENT + 1)])
def test_a_step_says_something_and_not_too_much(tmp_path: Path, content: str) -> None:
    with pytest.raises(ToolFailure, match="step 2 has"):
        summary(tmp_path, ("a", "pending"), (content, "pending"))


def test_blanks_around_a_step_do_not_count(tmp_path: Path) -> None:
    assert summary(tmp_path, (f"  {'x' * MAX_CONTENT}  ", "completed")).startswith("1 of 1")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"todos": []},
        steps(*[("a", "pending")] * (MAX_TODOS + 1)),
        {"todos": [{"content": "a"}]},
        steps(("a", "doing")),
    ],
)
def test_the_schema_refuses_what_is_no_list_of_steps(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    (result,) = ToolBench(tmp_path, TODO_LIST).results(
        admitted_call("openflow_update_todo_list", **arguments)
    )
    assert result.is_error
    assert result.content.startswith("[invalid_args]")


def test_twelve_steps_with_an_intent_are_fine(tmp_path: Path) -> None:
    arguments = steps(*[("a", "pending")] * MAX_TODOS)
    assert not compiled(DEFINITION.input_schema).problems(arguments | {"_i": "plan"})
    bench = ToolBench(tmp_path, TODO_LIST)
    (result,) = bench.results(admitted_call("openflow_update_todo_list", **arguments))
    assert (result.is_error, result.content) == (False, "0 of 12 steps are completed.")
    assert DEFINITION.tier is ToolTier.READ

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from pathlib import Path

import msgspec
import pytest

from engine.run.approval_policy import call_digest
from engine.vocabulary.effects import AdmittedCall
from engine.vocabulary.events import (
    FileChanged,
    ToolCompleted,
    ToolRetrying,
    ToolStarted,
)
from engine.vocabulary.tools import (
    FileChangeOp,
    FileChangeRecord,
    JsonObject,
    ReadRecord,
    ToolCall,
    ToolConcurrency,
    ToolEffects,
    ToolResult,
    ToolTier,
)
from orchestration.runs.journal import CallIntent, CallResult
from orchestration.tools.builtin.read import READ
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure, ToolOutput
from tests.support.tool_bench import ToolBench, admitted_call, made_tool, say


def test_a_call_is_recorded_told_run_recorded_and_told(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    (result,) = bench.results(admitted_call("say", path="x"))
    assert result == ToolResult("c1", "say", "c1 {'path': 'x'}")
    assert bench.kinds() == ["ToolStarted", "ToolCompleted"]
    assert bench.journal.tool_facts == [
        CallIntent("n", admitted_call("say", path="x")),
        CallResult("n", result),
    ]


def test_the_read_tool_works_through_the_runner(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    bench = ToolBench(tmp_path, READ)
    results, effects = asyncio.run(bench.execute(admitted_call("read", path="a.txt")))
    assert results[0].content.endswith("\n1:hello")
    assert effects.reads == (ReadRecord("a.txt"),)
    assert effects.read_call_paths == ("a.txt",)


def test_an_unknown_tool_is_an_error_result_and_the_rest_runs(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    first, second = bench.results(admitted_call("nope", "a"), admitted_call("say", "b"))
    assert first.is_error
    assert "'nope'" in first.content
    assert not second.is_error


def test_a_tool_whose_schema_is_of_no_use_fails_alone(tmp_path: Path) -> None:
    bad = made_tool("bad", say)
    bad = msgspec.structs.replace(
        bad, definition=msgspec.structs.replace(bad.definition, input_schema={"type": "nothing"})
    )
    bench = ToolBench(tmp_path, bad, made_tool("say", say))
    first, second = bench.results(admitted_call("bad", "a"), admitted_call("say", "b"))
    assert first.is_error
    assert first.content.startswith("[failed] the schema of 'bad' is of no use: ")
    assert not second.is_error


def test_what_a_failed_call_had_read_is_let_go_at_once(tmp_path: Path) -> None:
    """A failure holds the frames that it passed; a frame that held it back would never end."""
    held: list[weakref.ref[set[str]]] = []

    async def fail(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        data = {"as large as a file"}
        held.append(weakref.ref(data))
        raise ToolFailure(FailureKind.FAILED, f"no {data}")

    bench = ToolBench(tmp_path, made_tool("fail", fail))
    gc.disable()
    try:
        (result,) = bench.results(admitted_call("fail"))
        assert result.is_error
        assert [each() for each in held] == [None]
    finally:
        gc.enable()


def test_bad_arguments_are_an_error_result_that_names_the_place(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    (result,) = bench.results(admitted_call("say", path=["x"]))
    assert result.is_error
    assert result.content.startswith("[invalid_args] say: ")
    assert "path" in result.content
    assert bench.kinds() == ["ToolCompleted"]


def test_a_number_in_quotes_is_taken_as_the_schema_says(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    (result,) = bench.results(admitted_call("say", count="5"))
    assert result.content == "c1 {'count': 5}"


def test_arguments_that_could_not_be_decoded_never_run(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, made_tool("say", say))
    unreadable = AdmittedCall(
        ToolCall("c1", "say", {}, arguments_error="an unterminated string"),
        call_digest(("n",), "say", {}),
    )
    (result,) = bench.results(unreadable)
    assert result.content.startswith("[invalid_args] say: an unterminated string")


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        (ToolFailure(FailureKind.TIMEOUT, "slow"), 4),
        (ToolFailure(FailureKind.FAILED, "HTTP 503"), 4),
        (ToolFailure(FailureKind.FAILED, "no", "Connection Reset by peer"), 4),
        (ToolFailure(FailureKind.FAILED, "no such thing"), 1),
        (ToolFailure(FailureKind.INVALID_ARGS, "timeout must be a number"), 1),
        (TimeoutError(), 4),
        (PermissionError(13, "Permission denied"), 1),
    ],
)
def test_only_what_may_pass_is_tried_again(tmp_path: Path, failure: Exception, tries: int) -> None:
    count = 0

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        nonlocal count
        count += 1
        raise failure

    bench = ToolBench(tmp_path, made_tool("t", work))
    (result,) = bench.results(admitted_call("t"))
    assert result.is_error
    assert count == tries
    retries = [event for event in bench.events if isinstance(event, ToolRetrying)]
    assert [(r.attempt, r.backoff_ms) for r in retries] == [(1, 1000), (2, 2000), (3, 4000)][
        : tries - 1
    ]
    assert bench.pauses == [r.backoff_ms / 1000 for r in retries]
    assert len([e for e in bench.events if isinstance(e, ToolStarted)]) == 1


def test_a_retry_that_works_gives_the_result(tmp_path: Path) -> None:
    answers: list[ToolOutput | Exception] = [TimeoutError(), ToolOutput("ok")]

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    (result,) = ToolBench(tmp_path, made_tool("t", work)).results(admitted_call("t"))
    assert (result.content, result.is_error) == ("ok", False)


def test_a_bug_in_a_tool_is_logged_and_told_without_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        raise KeyError("secret")

    with caplog.at_level(logging.ERROR):
        (result,) = ToolBench(tmp_path, made_tool("t", work)).results(admitted_call("t"))
    assert result.content == "[failed] t broke off: KeyError"
    assert "the tool 't' has a bug" in caplog.text


def test_file_changes_are_told_before_the_call_is_complete(tmp_path: Path) -> None:
    record = FileChangeRecord("a.txt", FileChangeOp.CREATE, 1)

    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        return ToolOutput("done", effects=ToolEffects(file_changes=(record,)))

    bench = ToolBench(tmp_path, made_tool("w", work, ToolConcurrency.EXCLUSIVE, ToolTier.WRITE))
    _, effects = asyncio.run(bench.execute(admitted_call("w")))
    assert effects.file_changes == (record,)
    assert [e for e in bench.events if isinstance(e, FileChanged | ToolCompleted)] == [
        FileChanged("n", record),
        ToolCompleted("n", "c1", "w", "done"),
    ]

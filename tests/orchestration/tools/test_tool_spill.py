"""Outputs that are too long for a model: both ends are shown, the whole is kept (T18)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from engine.vocabulary.effects import RunTools
from engine.vocabulary.events import RunEvent, ToolArtifactCreated, ToolCompleted
from engine.vocabulary.tools import JsonObject, OutputMeta, ToolResult
from orchestration.tools.builtin.read import READ
from orchestration.tools.output import EDGE_BYTES, MAX_INLINE_BYTES
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from tests.support.tool_bench import ToolBench, admitted_call, batch_of, made_tool


def saying(output: ToolOutput) -> Tool:
    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        return output

    return made_tool("t", work)


def created(events: list[RunEvent]) -> list[ToolArtifactCreated]:
    return [event for event in events if isinstance(event, ToolArtifactCreated)]


LONG = "".join(f"{number:06} é€😀\n" for number in range(10_000))


def test_a_long_output_is_put_aside_and_read_back_in_parts(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, saying(ToolOutput(LONG)), READ)
    (result,) = bench.results(admitted_call("t"))
    (artifact_id,) = result.artifact_ids
    (event,) = created(bench.events)
    assert (event.node_id, event.tool_name, event.artifact_id) == ("n", "t", artifact_id)
    assert Path(event.path).read_text("utf-8") == LONG
    assert event.size_bytes == len(LONG.encode())
    assert f"artifact:{artifact_id}" in result.content
    assert str(len(LONG.encode())) in result.content
    for selector, text in [(":5000", "004999 é€😀"), (":9999-", "009999 é€😀")]:
        path = f"artifact:{artifact_id}{selector}"
        (part,) = bench.results(admitted_call("read", path=path))
        assert text in part.content
    assert len(created(bench.events)) == 1


def test_head_and_tail_are_shown_and_no_character_is_cut(tmp_path: Path) -> None:
    for shift in range(4):
        text = "x" * shift + LONG
        (result,) = ToolBench(tmp_path, saying(ToolOutput(text))).results(admitted_call("t"))
        head, marker, tail = re.split(r"\n(\[\.\.\. .* \.\.\.\])\n", result.content)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert EDGE_BYTES - 4 < len(head.encode()) <= EDGE_BYTES
        assert EDGE_BYTES <= len(tail.encode()) < EDGE_BYTES + 4
        assert ":FIRST-LAST" in marker
        assert result.output_meta is not None
        truncation = result.output_meta.truncation
        assert truncation is not None
        assert (truncation.strategy, truncation.total_bytes) == ("middle", len(text.encode()))
        assert truncation.shown_bytes == len(head.encode()) + len(tail.encode())


def test_the_limit_is_in_bytes(tmp_path: Path) -> None:
    fits, does_not = "é" * (MAX_INLINE_BYTES // 2), "é" * (MAX_INLINE_BYTES // 2 + 1)
    bench = ToolBench(tmp_path, saying(ToolOutput(fits)))
    assert bench.results(admitted_call("t"))[0].content == fits
    bench = ToolBench(tmp_path, saying(ToolOutput(does_not)))
    assert bench.results(admitted_call("t"))[0].artifact_ids


def test_what_is_told_is_what_the_model_gets(tmp_path: Path) -> None:
    meta = OutputMeta(source_url="https://example.org/")
    bench = ToolBench(tmp_path, saying(ToolOutput(LONG, meta=meta)))
    (result,) = bench.results(admitted_call("t"))
    completed = bench.events[-1]
    assert isinstance(completed, ToolCompleted)
    assert (completed.content, completed.artifact_ids) == (result.content, result.artifact_ids)
    assert completed.output_meta == result.output_meta
    assert result.output_meta is not None
    assert result.output_meta.source_url == "https://example.org/"


def test_a_long_error_is_put_aside_too(tmp_path: Path) -> None:
    async def work(_: JsonObject, __: ToolContext) -> ToolOutput:
        raise ToolFailure(FailureKind.FAILED, LONG)

    bench = ToolBench(tmp_path, made_tool("t", work))
    (result,) = bench.results(admitted_call("t"))
    assert result.is_error
    assert len(result.artifact_ids) == 1


def test_what_was_put_aside_before_is_handed_on_whole(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, saying(ToolOutput(LONG, whole=True)))
    (result,) = bench.results(admitted_call("t"))
    assert (result.content, result.artifact_ids) == (LONG, ())
    assert created(bench.events) == []


def test_artifacts_that_a_tool_stored_itself_are_told_too(tmp_path: Path) -> None:
    async def work(_: JsonObject, context: ToolContext) -> ToolOutput:
        stored = context.services.artifacts.save("diff", "file-diff")
        return ToolOutput(LONG, artifact_ids=(stored.id,))

    bench = ToolBench(tmp_path, made_tool("t", work))
    (result,) = bench.results(admitted_call("t"))
    events = created(bench.events)
    assert tuple(event.artifact_id for event in events) == result.artifact_ids
    assert [event.size_bytes for event in events] == [4, len(LONG.encode())]


@pytest.mark.parametrize("artifact_id", ["00000000-0000-0000-0000-000000000000", "../x", "*"])
def test_an_unknown_artifact_is_not_found_and_says_how_long_they_live(
    tmp_path: Path, artifact_id: str
) -> None:
    bench = ToolBench(tmp_path, READ)
    (result,) = bench.results(admitted_call("read", path=f"artifact:{artifact_id}"))
    assert result.content.startswith("[not_found]")
    assert "run" in result.content


def test_where_nothing_can_be_stored_the_ends_are_shown_and_the_reason(tmp_path: Path) -> None:
    bench = ToolBench(tmp_path, saying(ToolOutput(LONG)))
    folder = bench.services.edits.parent
    folder.mkdir()
    (folder / "artifacts").write_text("no folder")
    (result,) = bench.results(admitted_call("t"))
    assert result.artifact_ids == ()
    assert "could not be put aside" in result.content
    assert not result.is_error


def test_another_node_gets_the_same_artifact_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(LONG)

    async def scenario() -> tuple[ToolResult, ToolResult, list[RunEvent]]:
        bench = ToolBench(tmp_path, READ)
        results: list[ToolResult] = []
        for node in "ab":
            call = admitted_call("read", f"c{node}", node, path="long.txt:raw")
            batch: RunTools = batch_of([call], node)
            results += (await bench.runner.execute_batch(batch))[0]
        return results[0], results[1], bench.events

    first, second, events = asyncio.run(scenario())
    assert second.content.endswith(first.content)
    assert second.artifact_ids == first.artifact_ids != ()
    assert second.output_meta == first.output_meta
    assert len(created(events)) == 1

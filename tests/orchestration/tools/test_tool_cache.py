"""Equal calls of one run: answered once, again for as long as nothing has changed (T16, T17)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.vocabulary.effects import RunTools
from engine.vocabulary.events import ToolCompleted, ToolStarted
from engine.vocabulary.tools import (
    ReadRecord,
    ToolEffects,
)
from orchestration.runs.journal import CallIntent, CallResult
from orchestration.tools.builtin.read import READ
from tests.support.cached_calls import CACHED_FOR_OTHERS, Searches, Talk, within_a_minute, writer
from tests.support.tool_bench import ToolBench, admitted_call, batch_of


def test_another_node_gets_the_content_and_is_told_whence(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\ntwo\n")

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        talk = Talk(bench)
        first = await talk("a", "read", path="f.txt")
        other = await talk("b", "read", path="f.txt")
        assert other.content == CACHED_FOR_OTHERS + first.content
        assert other.call_id == "c2"
        assert not other.is_error
        third = await talk("c", "read", path="f.txt")
        assert third.content == other.content

    within_a_minute(body)


def test_the_same_conversation_gets_a_stub(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\ntwo\n")

    async def body() -> None:
        talk = Talk(ToolBench(tmp_path, READ))
        first = await talk("a", "read", path="f.txt")
        again = await talk("a", "read", path="f.txt")
        assert again.content.startswith("[cached] ")
        assert "c1" in again.content
        assert "Do not repeat" in again.content
        assert first.content.splitlines()[0] in again.content
        assert "1:one" not in again.content
        await talk("b", "read", path="f.txt")
        of_other = await talk("b", "read", path="f.txt")
        assert "c3" in of_other.content
        assert "1:one" not in of_other.content

    within_a_minute(body)


def test_an_answer_of_the_cache_is_told_and_recorded_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        talk = Talk(bench)
        await talk("a", "read", path="f.txt")
        batch = talk.batch("b", "read", path="f.txt")
        (result,), effects = await bench.runner.execute_batch(batch)
        assert effects.reads == (ReadRecord("f.txt"),)
        assert effects.read_call_paths == ("f.txt",)
        assert [type(event) for event in bench.events] == [ToolStarted, ToolCompleted] * 2
        assert bench.journal.tool_facts[2:] == [
            CallIntent("b", batch.calls[0]),
            CallResult("b", result),
        ]

    within_a_minute(body)


def test_each_call_of_a_subagent_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)

        async def ask(number: int) -> str:
            call = admitted_call("read", f"c{number}", path="f.txt", node="a")
            digest = admitted_call("read", node="a", path="f.txt").digest
            assert call.digest == digest
            batch = RunTools("a", "A", "a#1", (call,), conversation_id=f"a/s#{number}")
            return (await bench.runner.execute_batch(batch))[0][0].content

        assert (await ask(1)).startswith("¶f.txt")
        assert (await ask(2)).startswith(CACHED_FOR_OTHERS)
        assert "Do not repeat" in await ask(2)

    within_a_minute(body)


@pytest.mark.parametrize("other", ["./f.txt", "f.txt:1", "f.txt:raw"])
def test_another_question_gets_an_answer_of_its_own(tmp_path: Path, other: str) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        talk = Talk(ToolBench(tmp_path, READ))
        await talk("a", "read", path="f.txt")
        assert "[cached]" not in (await talk("a", "read", path=other)).content

    within_a_minute(body)


def test_what_a_call_is_said_to_be_for_makes_no_difference(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\n")

    async def body() -> None:
        talk = Talk(ToolBench(tmp_path, READ))
        await talk("a", "read", path="f.txt", _i="look")
        other = await talk("b", "read", _i="look again", path="f.txt")
        assert other.content.startswith(CACHED_FOR_OTHERS)

    within_a_minute(body)


def rewrite(file: Path) -> None:
    file.write_text("new\n")


def rewrite_in_the_same_tick(file: Path) -> None:
    before = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap(file: Path) -> None:
    other = file.with_name("other")
    other.write_text("two\n")
    before = file.stat()
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, file)


def remove(file: Path) -> None:
    file.unlink()


def shadow(file: Path) -> None:
    """A file whose own name is what the call took for a name and a selector."""
    file.with_name("f.txt:1").write_text("shadow\n")


@pytest.mark.parametrize("is_old", [True, False])
@pytest.mark.parametrize("change", [rewrite, rewrite_in_the_same_tick, swap, remove, shadow])
def test_a_file_that_changed_is_read_again(
    tmp_path: Path, change: Callable[[Path], None], is_old: bool
) -> None:
    file = tmp_path / "f.txt"
    file.write_text("one\n")
    if is_old:
        os.utime(file, (1_000_000_000, 1_000_000_000))

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        talk = Talk(bench)
        await talk("a", "read", path="f.txt:1")
        assert (await talk("b", "read", path="f.txt:1")).content.startswith("[cached]")
        change(file)
        for node in ("b", "a"):
            fresh = await ToolBench(tmp_path, READ).execute(admitted_call("read", path="f.txt:1"))
            now = await talk(node, "read", path="f.txt:1")
            expected = fresh[0][0].content
            assert (
                now.content.removeprefix(
                    "[cached] Unchanged since node 'b' ran this exact call earlier in this run.\n"
                )
                == expected
            )
            assert now.is_error == fresh[0][0].is_error

    within_a_minute(body)


def test_a_link_that_leads_elsewhere_is_read_again(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"{name}\n")
    link = tmp_path / "link"
    link.symlink_to("one")

    async def body() -> None:
        talk = Talk(ToolBench(tmp_path, READ))
        await talk("a", "read", path="link")
        link.unlink()
        link.symlink_to("two")
        assert (await talk("b", "read", path="link")).content.endswith("1:two")

    within_a_minute(body)


def test_errors_are_not_kept(tmp_path: Path) -> None:
    async def body() -> None:
        talk = Talk(ToolBench(tmp_path, READ))
        assert (await talk("a", "read", path="f.txt")).is_error
        again = await talk("a", "read", path="f.txt")
        assert again.content.startswith("[not_found]")

    within_a_minute(body)


@pytest.mark.parametrize("fails", [False, True])
def test_a_writing_call_ends_what_rests_on_the_folder(tmp_path: Path, fails: bool) -> None:
    async def body() -> None:
        searches = Searches(tmp_path)
        write = writer(lambda: (tmp_path / "new").touch(), fails=fails)
        talk = Talk(ToolBench(tmp_path, searches.tool, write, watched=True))
        await talk("a", "list")
        assert (await talk("b", "list")).content.startswith("[cached]")
        await talk("a", "w")
        assert (await talk("b", "list")).content == "new"
        assert searches.runs == 2

    within_a_minute(body)


def test_a_change_from_outside_ends_what_rests_on_the_folder(tmp_path: Path) -> None:
    async def body() -> None:
        searches = Searches(tmp_path)
        bench = ToolBench(tmp_path, searches.tool, watched=True)
        talk = Talk(bench)
        await talk("a", "list")
        (tmp_path / "new").write_text("")
        assert (await talk("b", "list")).content == "new"
        (tmp_path / "new").unlink()
        assert (await talk("b", "list")).content == ""
        assert "[cached]" in (await talk("b", "list")).content
        assert searches.runs == 3
        bench.runner.close()

    within_a_minute(body)


def test_where_nothing_watches_only_the_conversation_itself_is_answered(tmp_path: Path) -> None:
    async def body() -> None:
        searches = Searches(tmp_path)
        talk = Talk(ToolBench(tmp_path, searches.tool))
        await talk("a", "list")
        assert "[cached]" not in (await talk("b", "list")).content
        assert "[cached]" in (await talk("b", "list")).content
        assert searches.runs == 2

    within_a_minute(body)


def test_a_folder_read_rests_on_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    async def body() -> None:
        bench = ToolBench(tmp_path, READ, watched=True)
        talk = Talk(bench)
        await talk("a", "read", path="sub")
        assert (await talk("b", "read", path="sub")).content.startswith(CACHED_FOR_OTHERS)
        (tmp_path / "sub" / "new.txt").write_text("")
        assert (await talk("b", "read", path="sub")).content.endswith("\nnew.txt")
        bench.runner.close()

    within_a_minute(body)


def test_who_was_shown_a_file_from_the_cache_has_read_it(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_text("one\n")

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        talk = Talk(bench)
        await talk("b", "read", path="f.txt")
        file.write_text("two\n")
        await talk("a", "read", path="f.txt")
        assert (await talk("b", "read", path="f.txt")).content.startswith(CACHED_FOR_OTHERS)
        files = bench.services.files
        assert files.last_seen("b", file) == files.last_seen("a", file) is not None

    within_a_minute(body)


def test_effects_of_two_calls_are_those_of_both(tmp_path: Path) -> None:
    for name in "fg":
        (tmp_path / name).write_text(name)

    async def body() -> None:
        bench = ToolBench(tmp_path, READ)
        calls = [admitted_call("read", name, path=name) for name in "ffg"]
        _, effects = await bench.runner.execute_batch(batch_of(calls))
        assert effects == ToolEffects(
            reads=(ReadRecord("f"), ReadRecord("f"), ReadRecord("g")),
            read_call_paths=("f", "f", "g"),
        )

    within_a_minute(body)

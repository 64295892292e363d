from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.vocabulary.tools import FileChangeOp, ToolDefinition
from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.reading import read_target
from orchestration.tools.text_view import tag
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure, ToolOutput
from tests.support.edit_bench import EditBench, edits_of

WAIT_S = 30


@pytest.fixture
def bench(tmp_path: Path) -> EditBench:
    return EditBench(tmp_path / "root")


def planned(make: Callable[[ToolContext], ChangePlan]) -> Tool:
    """A tool whose plan does not depend on its arguments."""
    definition = ToolDefinition("planned", "does what the test plans", {})
    return editing_tool(definition, lambda _, context: make(context), lambda _: [])


def change(context: ToolContext, path: str, after: bytes | None, to: str = "") -> FileChange:
    target = read_target(path, context)
    destination = read_target(to, context) if to else None
    return FileChange(
        path=target.path,
        label=target.label,
        before=target.data,
        after=after,
        move_to=None if destination is None else destination.path,
        move_label=None if destination is None else destination.label,
    )


# A file that changed since it was read


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(bench: EditBench) -> None:
    bench.put("f", "one\n")
    bench.saw("f")
    bench.put("f", "theirs\n")
    for attempt in (bench.write("f", "ours\n"), bench.as_another("m").edit("f", ("zzz", "x"))):
        bench.refusal(attempt, FailureKind.FAILED)
        assert bench.bytes_of("f") == b"theirs\n"
    changed = "theirs again\n"
    bench.put("f", changed)
    said = bench.refusal(bench.edit("f", ("again", "more")), FailureKind.FAILED)
    assert "has changed since you last read it" in said
    assert f"¶f#{tag(changed)}" in said
    assert said.endswith("\n1:theirs again")
    # The refusal showed the new text, so the next call knows it.
    assert not bench.edit("f", ("again", "and ours")).is_error
    assert bench.bytes_of("f") == b"theirs and ours\n"


def test_a_preview_of_a_stale_edit_does_not_count_as_reading(bench: EditBench) -> None:
    bench.put("f", "one\n")
    bench.saw("f")
    bench.put("f", "theirs\n")
    for _ in range(2):
        with pytest.raises(ToolFailure, match="has changed since"):
            bench.inspect(WRITE, path="f", content="ours\n")
    assert bench.write("f", "ours\n").is_error


def test_what_a_conversation_wrote_itself_it_knows(bench: EditBench) -> None:
    bench.write("f", "one\n")
    assert not bench.write("f", "two\n").is_error
    assert not bench.edit("f", ("two", "three")).is_error


def test_each_conversation_has_read_for_itself(bench: EditBench) -> None:
    other = bench.as_another("m")
    bench.write("f", "one\n")
    other.saw("f")
    bench.write("f", "two\n")
    assert "changed since" in bench.refusal(other.write("f", "three\n"), FailureKind.FAILED)
    assert not other.write("f", "three\n").is_error
    assert "changed since" in bench.refusal(bench.edit("f", ("two", "x")), FailureKind.FAILED)


def test_a_touch_that_leaves_the_bytes_is_no_change(bench: EditBench) -> None:
    path = bench.put("f", "one\n")
    bench.saw("f")
    os.utime(path, (1, 1))
    assert not bench.write("f", "two\n").is_error


def test_a_file_that_nobody_read_may_be_edited(bench: EditBench) -> None:
    bench.put("f", "one\n")
    assert not bench.edit("f", ("one", "two")).is_error


def test_a_file_that_changes_between_plan_and_writing_is_left_alone(bench: EditBench) -> None:
    bench.put("f", "one\n")

    def plan(context: ToolContext) -> ChangePlan:
        found = change(context, "f", b"ours\n")
        bench.put("f", "theirs\n")
        return ChangePlan((found,))

    said = bench.refusal(bench.run(planned(plan)), FailureKind.FAILED)
    assert said.endswith("1:theirs")
    assert bench.bytes_of("f") == b"theirs\n"


def test_a_file_that_appears_between_plan_and_writing_is_left_alone(bench: EditBench) -> None:
    def plan(context: ToolContext) -> ChangePlan:
        found = change(context, "f", b"ours\n")
        bench.put("f", "theirs\n")
        return ChangePlan((found,))

    bench.refusal(bench.run(planned(plan)), FailureKind.FAILED)
    assert bench.bytes_of("f") == b"theirs\n"


def test_a_folder_swapped_for_a_link_between_plan_and_writing_lets_nothing_out(
    bench: EditBench,
) -> None:
    bench.put("src/f", "one\n")
    outside = bench.root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"one\n")

    def plan(context: ToolContext) -> ChangePlan:
        found = change(context, "src/f", b"two\n")
        (bench.root / "src").rename(bench.root / "moved")
        (bench.root / "src").symlink_to(outside)
        return ChangePlan((found,))

    said = bench.refusal(bench.run(planned(plan)), FailureKind.PERMISSION_DENIED)
    assert "become a link" in said
    assert (outside / "f").read_bytes() == b"one\n"


# What the system refuses


def failing(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("orchestration.workspace.jailed_files.os.fsync", fail)


@pytest.mark.parametrize(
    ("code", "kind", "why"),
    [
        (errno.ENOSPC, FailureKind.FAILED, "full"),
        (errno.EROFS, FailureKind.PERMISSION_DENIED, "read-only"),
        (errno.EACCES, FailureKind.PERMISSION_DENIED, "not permit"),
        (errno.EFBIG, FailureKind.FAILED, "larger than the system allows"),
        (errno.EIO, FailureKind.FAILED, os.strerror(errno.EIO)),
    ],
)
def test_a_write_that_the_system_refuses_leaves_the_old_file(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch, code: int, kind: FailureKind, why: str
) -> None:
    bench.put("f", "one\n")
    before = bench.files()
    monkeypatch.setattr(
        "orchestration.workspace.jailed_files._put",
        lambda *_: (_ for _ in ()).throw(OSError(code, os.strerror(code))),
    )
    said = bench.refusal(bench.write("f", "two\n"), kind)
    assert why in said
    assert "'f'" in said
    assert bench.files() == before


def test_what_cannot_be_kept_for_undoing_is_not_written(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, errno.ENOSPC)
    bench.put("f", "one\n")
    said = bench.refusal(bench.write("f", "two\n"), FailureKind.FAILED)
    assert "the disk is full; nothing was written" in said
    assert bench.bytes_of("f") == b"one\n"


def test_a_read_only_file_is_not_replaced(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rename would replace it all the same; the system is asked whether it may be written."""
    path = bench.put("f", "one\n")
    path.chmod(0o444)
    asked: list[object] = []

    def access(name: str, mode: int, **_: object) -> bool:
        asked.append(name)
        return mode != os.W_OK

    monkeypatch.setattr("orchestration.workspace.jailed_files.os.access", access)
    said = bench.refusal(bench.write("f", "two\n"), FailureKind.PERMISSION_DENIED)
    assert "'f' cannot be written" in said
    assert asked == ["f"]
    assert bench.bytes_of("f") == b"one\n"


# Several changes in one call


def test_what_was_done_before_a_failure_stays_and_is_recorded(bench: EditBench) -> None:
    bench.put("a", "1\n")
    bench.put("b", "1\n")

    def plan(context: ToolContext) -> ChangePlan:
        changes = (change(context, "a", b"2\n"), change(context, "b", b"2\n"))
        bench.put("b", "theirs\n")
        return ChangePlan(changes)

    output = bench.run(planned(plan))
    assert output.is_error
    assert output.content.startswith("Updated a\n")
    assert "'b' has changed" in output.content
    assert [record.path for record in output.effects.file_changes] == ["a"]
    assert bench.files() == {"a": b"2\n", "b": b"theirs\n"}
    bench.revert(output)
    assert bench.files() == {"a": b"1\n", "b": b"theirs\n"}


def test_what_could_not_be_planned_is_told_after_what_was_done(bench: EditBench) -> None:
    failure = ToolFailure(FailureKind.NOT_FOUND, "there is no 'z'")
    output = bench.run(
        planned(lambda context: ChangePlan((change(context, "a", b"1\n"),), failure=failure))
    )
    assert output.is_error
    assert output.content.endswith("[not_found] there is no 'z'")
    assert bench.files() == {"a": b"1\n"}
    assert output.batch is not None


def test_a_plan_without_changes_is_a_success_that_says_its_notes(bench: EditBench) -> None:
    output = bench.run(planned(lambda _: ChangePlan((), ("nothing to do here",))))
    assert (output.content, output.is_error) == ("nothing to do here", False)
    assert output.batch is None


def test_a_file_changed_twice_in_one_call_is_undone_to_what_it_was(bench: EditBench) -> None:
    bench.put("f", "1\n")

    def plan(context: ToolContext) -> ChangePlan:
        first = change(context, "f", b"2\n")
        second = FileChange(path=first.path, label="f", before=b"2\n", after=b"3\n")
        return ChangePlan((first, second))

    output = bench.run(planned(plan))
    assert bench.bytes_of("f") == b"3\n"
    assert len(output.effects.file_changes) == 2
    bench.revert(output)
    assert bench.bytes_of("f") == b"1\n"


def test_a_move_keeps_permissions_and_is_one_record(bench: EditBench) -> None:
    bench.put("a.sh", "1\n").chmod(0o755)
    output = bench.run(
        planned(lambda context: ChangePlan((change(context, "a.sh", b"2\n", "sub/b.sh"),)))
    )
    assert output.content.startswith("Moved a.sh to sub/b.sh\n¶sub/b.sh#")
    assert bench.files() == {"sub/b.sh": b"2\n"}
    assert (bench.root / "sub" / "b.sh").stat().st_mode & 0o777 == 0o755
    (record,) = output.effects.file_changes
    assert (record.op, record.path, record.rename_to) == (FileChangeOp.RENAME, "a.sh", "sub/b.sh")
    bench.revert(output)
    assert bench.files() == {"a.sh": b"1\n"}
    assert (bench.root / "a.sh").stat().st_mode & 0o777 == 0o755
    assert not (bench.root / "sub").exists()


def test_a_move_whose_delete_fails_leaves_nothing_at_the_destination(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.put("a", "1\n")
    unlink = os.unlink

    def stuck(name: str, **options: int) -> None:
        if name == "a":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        unlink(name, **options)

    monkeypatch.setattr("orchestration.workspace.jailed_files.os.unlink", stuck)
    output = bench.run(planned(lambda context: ChangePlan((change(context, "a", b"2\n", "b"),))))
    said = bench.refusal(output, FailureKind.PERMISSION_DENIED)
    assert "'a' cannot be deleted" in said
    assert bench.files() == {"a": b"1\n"}


def test_a_move_onto_a_file_is_refused(bench: EditBench) -> None:
    bench.put("a", "1\n")

    def plan(context: ToolContext) -> ChangePlan:
        found = change(context, "a", b"2\n", "b")
        bench.put("b", "theirs\n")
        return ChangePlan((found,))

    bench.refusal(bench.run(planned(plan)), FailureKind.FAILED)
    assert bench.files() == {"a": b"1\n", "b": b"theirs\n"}


def test_a_move_to_a_name_of_generated_files_is_refused(bench: EditBench) -> None:
    bench.put("a.py", "1\n")
    output = bench.run(
        planned(lambda context: ChangePlan((change(context, "a.py", b"1\n", "a_pb2.py"),)))
    )
    bench.refusal(output, FailureKind.PERMISSION_DENIED)
    assert bench.files() == {"a.py": b"1\n"}


# Stopping


def test_a_call_that_is_stopped_while_it_writes_takes_back_what_it_did(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.put("a", "1\n")
    bench.put("b", "1\n")
    reached, may_go_on = threading.Event(), threading.Event()
    flush = os.fsync

    def slow(descriptor: int) -> None:
        if bench.bytes_of("a") == b"2\n" and not may_go_on.is_set():
            reached.set()
            assert may_go_on.wait(WAIT_S)
        flush(descriptor)

    monkeypatch.setattr("orchestration.workspace.jailed_files.os.fsync", slow)
    tool = planned(
        lambda context: ChangePlan((change(context, "a", b"2\n"), change(context, "b", b"2\n")))
    )

    async def stopped() -> None:
        call = asyncio.ensure_future(tool.run({}, bench.context))
        assert await asyncio.to_thread(reached.wait, WAIT_S)
        call.cancel()
        await asyncio.sleep(0)
        call.cancel()
        may_go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(stopped())
    assert bench.files() == {"a": b"1\n", "b": b"1\n"}


@pytest.mark.parametrize("tool", [WRITE, EDIT])
def test_an_answer_that_quotes_a_file_is_not_taken_for_a_passing_failure(
    bench: EditBench, tool: Tool
) -> None:
    """What a tool raises may be tried again, and the second try would know the file."""
    bench.put("f", "503 timeout 429\n")
    bench.saw("f")
    bench.put("f", "503 timeout 430\n")
    more = {"content": "x"} if tool is WRITE else {"edits": edits_of(("503", "504"))}

    async def call() -> ToolOutput:
        return await tool.run({"path": "f", **more}, bench.context)

    assert asyncio.run(call()).is_error
    assert bench.bytes_of("f") == b"503 timeout 430\n"

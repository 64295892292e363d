from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.vocabulary.tools import FileChangeOp, FileChangeRecord
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.file_edits.edit_log import RevertRefused
from orchestration.tools.tool import FailureKind
from orchestration.workspace.jailed_files import MAX_BYTES
from tests.support.edit_bench import EditBench


@pytest.fixture
def bench(tmp_path: Path) -> EditBench:
    return EditBench(tmp_path / "root")


def test_a_new_file_is_made_with_its_folders_and_ends_with_a_newline(bench: EditBench) -> None:
    output = bench.write("a/b/c.txt", "one\ntwo")
    assert bench.files() == {"a/b/c.txt": b"one\ntwo\n"}
    lines = output.content.split("\n")
    assert lines[0] == "Created a/b/c.txt"
    assert lines[1].startswith("¶a/b/c.txt#")
    assert lines[2:] == ["+1|one", "+2|two"]


def test_a_new_file_has_the_line_ends_of_its_content(bench: EditBench) -> None:
    bench.write("a", "one\r\ntwo")
    bench.write("empty", "")
    assert bench.files() == {"a": b"one\r\ntwo\r\n", "empty": b""}


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "a\nB\nc", b"a\r\nB\r\nc\r\n"),
        (b"a\nb", "a\nc\n", b"a\nc"),
        (b"a\nb\n", "a\nc", b"a\nc\n"),
        (b"\xef\xbb\xbfa\r\nb", "x\ny\n", b"\xef\xbb\xbfx\r\ny"),
        ("\ufeffa\n".encode("utf-16-le"), "\u00e9\n", "\ufeff\u00e9\n".encode("utf-16-le")),
        (b"a\r\nb\r\nc\n", "a\nx\nb\nc\n", b"a\r\nx\r\nb\r\nc\n"),
        (b"a\rb\r", "a\nc\n", b"a\rc\r"),
        (b"", "a", b"a\n"),
        (b"a\n", "", b""),
    ],
)
def test_an_existing_file_keeps_its_ways(
    bench: EditBench, before: bytes, content: str, after: bytes
) -> None:
    bench.put("f", before)
    assert bench.write("f", content).content.startswith("Updated f\n")
    assert bench.bytes_of("f") == after


def test_a_change_is_recorded_with_its_exact_diff(bench: EditBench) -> None:
    bench.put("f", "".join(f"{n}\n" for n in range(20)))
    output = bench.write("f", "".join(f"line {n}\n" for n in range(20)))
    (record,) = output.effects.file_changes
    assert output.batch is not None
    assert output.artifact_ids == (record.diff_artifact_id,)
    diff = bench.services.artifacts.read(output.artifact_ids[0])
    assert diff is not None
    assert output.content.endswith(diff)
    assert record == FileChangeRecord(
        path="f",
        op=FileChangeOp.UPDATE,
        timestamp_ms=record.timestamp_ms,
        diff_summary="\n".join([*diff.split("\n")[:8], "…"]),
        batch_id=output.batch.batch_id,
        tool_call_id="c1",
        tool_name="write",
        diff_artifact_id=output.artifact_ids[0],
        diff_size_bytes=len(diff.encode()),
    )
    (snapshot,) = output.batch.snapshots
    assert (snapshot.path, snapshot.existed) == ("f", True)
    assert snapshot.content == "".join(f"{n}\n" for n in range(20))


@pytest.mark.parametrize(
    ("before", "content"),
    [(b"a\n", "a\n"), (b"a\r\nb", "a\nb\n"), (b"a\r\nb\n", "a\nb"), (b"", "")],
)
def test_what_would_change_nothing_is_refused(
    bench: EditBench, before: bytes, content: str
) -> None:
    bench.put("f", before)
    assert "nothing was written" in bench.refusal(bench.write("f", content), FailureKind.FAILED)
    assert bench.bytes_of("f") == before


@pytest.mark.parametrize("path", ["../x", "/etc/x", "out/x", "src/../../x", "C:\\x", "..\\x"])
def test_a_path_that_leaves_is_refused_by_name(bench: EditBench, path: str) -> None:
    (bench.root / "out").symlink_to(bench.root.parent)
    (bench.root / "src").mkdir()
    said = bench.refusal(bench.write(path, "x"), FailureKind.PERMISSION_DENIED)
    assert f"'{path}'" in said
    assert not (bench.root.parent / "x").exists()


def test_a_link_inside_stays_a_link_and_its_target_is_written(bench: EditBench) -> None:
    bench.put("real.txt", "old\n")
    (bench.root / "link.txt").symlink_to("real.txt")
    assert bench.write("link.txt", "new\n").content.startswith("Updated real.txt\n")
    assert (bench.root / "link.txt").is_symlink()
    assert bench.bytes_of("real.txt") == b"new\n"


@pytest.mark.parametrize("path", ["a.ipynb", "deep/B.IPYNB"])
def test_a_notebook_is_refused(bench: EditBench, path: str) -> None:
    assert "notebook" in bench.refusal(bench.write(path, "{}"), FailureKind.INVALID_ARGS)
    assert bench.files() == {}


@pytest.mark.parametrize("path", ["run://PLAN.md", "artifact:1", "https://x.org/a", "run://x"])
def test_an_address_is_no_file(bench: EditBench, path: str) -> None:
    assert bench.write(path, "x").is_error
    assert bench.files() == {}


def test_a_folder_a_pipe_and_a_dead_link_are_refused(bench: EditBench) -> None:
    (bench.root / "src").mkdir()
    os.mkfifo(bench.root / "pipe")
    (bench.root / "loop").symlink_to("loop")
    assert "is a folder" in bench.refusal(bench.write("src", "x"), FailureKind.FAILED)
    assert "is a folder" in bench.refusal(bench.write(".", "x"), FailureKind.FAILED)
    assert "neither a file" in bench.refusal(bench.write("pipe", "x"), FailureKind.FAILED)
    assert "leads nowhere" in bench.refusal(bench.write("loop", "x"), FailureKind.FAILED)


def test_a_file_in_the_place_of_a_folder_is_told(bench: EditBench) -> None:
    bench.put("a", "x")
    assert "'a/b'" in bench.refusal(bench.write("a/b", "x"), FailureKind.FAILED)


def test_a_name_too_long_is_told(bench: EditBench) -> None:
    assert "too long" in bench.refusal(bench.write("n" * 300, "x"), FailureKind.FAILED)


@pytest.mark.parametrize("before", [b"\xff\xfe\xff", b"a\0b"])
def test_what_is_no_text_is_not_overwritten(bench: EditBench, before: bytes) -> None:
    bench.put("f", before)
    assert "left as it is" in bench.refusal(bench.write("f", "x"), FailureKind.FAILED)
    assert bench.bytes_of("f") == before


@pytest.mark.parametrize("content", ["\ud800", "a\0b"])
def test_content_that_is_no_text_is_refused(bench: EditBench, content: str) -> None:
    assert "cannot hold" in bench.refusal(bench.write("f", content), FailureKind.INVALID_ARGS)
    assert bench.files() == {}


def test_a_huge_file_is_refused(bench: EditBench) -> None:
    with (bench.root / "huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "at most" in bench.refusal(bench.write("huge", "x"), FailureKind.FAILED)


def test_a_preview_shows_what_the_call_then_does_and_touches_nothing(bench: EditBench) -> None:
    bench.put("old", "a\nb\n")
    for path, op in (("old", FileChangeOp.UPDATE), ("new/file", FileChangeOp.CREATE)):
        names = bench.files()
        found = bench.inspect(WRITE, path=path, content="a\nc\n")
        assert bench.files() == names
        assert found.preview is not None
        (shown,) = found.preview.files
        assert (shown.path, shown.op) == (path, op)
        assert bench.write(path, "a\nc\n").content.endswith(shown.diff)


def test_the_target_is_the_real_path_with_the_version_that_is_there(bench: EditBench) -> None:
    bench.put("real", "a\n")
    (bench.root / "link").symlink_to("real")
    (target,) = bench.inspect(WRITE, path="link", content="b").targets
    real, _, version = target.rpartition("@")
    assert real == str(bench.root.resolve() / "real")
    bench.put("real", "c\n")
    assert bench.inspect(WRITE, path="link", content="b").targets != (target,)
    (absent,) = bench.inspect(WRITE, path="nothing", content="b").targets
    assert absent.endswith("/nothing@absent")
    assert len(version) == 64


def test_the_draft_of_the_plan_is_written_while_planning_only(bench: EditBench) -> None:
    denied = bench.refusal(bench.write("run://PLAN.md", "x"), FailureKind.PERMISSION_DENIED)
    assert "planning" in denied
    planning = bench.planning()
    first = planning.write("run://PLAN.md", "# Plan\nstep")
    assert first.content.startswith("Created run://PLAN.md\n")
    assert bench.services.plan.read() == "# Plan\nstep\n"
    assert planning.write("run://PLAN.md", "# Plan\n").content.startswith("Updated run://PLAN.md")
    assert first.effects.file_changes == ()
    assert first.batch is None
    assert bench.files() == {}
    bench.services.plan.seal()
    assert "sealed" in bench.refusal(planning.write("run://PLAN.md", "x"), FailureKind.FAILED)


def test_planning_writes_documents_and_nothing_else(bench: EditBench) -> None:
    planning = bench.planning()
    assert not planning.write("docs/deep/idea.md", "x").is_error
    for path in ("src/a.py", "docs/a.txt", "docs/A.MD", "docs/../a.md", "docs.md"):
        bench.refusal(planning.write(path, "x"), FailureKind.PERMISSION_DENIED)
    assert list(bench.files()) == ["docs/deep/idea.md"]


def test_a_preview_of_the_draft_touches_nothing(bench: EditBench) -> None:
    found = bench.planning().inspect(WRITE, path="run://PLAN.md", content="a")
    assert found.targets == ("run://PLAN.md@absent",)
    assert found.preview is not None
    assert found.preview.files[0].diff == "+1|a"
    assert bench.services.plan.read() is None


def test_a_made_file_and_its_folders_go_when_it_is_undone(bench: EditBench) -> None:
    output = bench.write("a/b/c", "x")
    report = bench.revert(output)
    assert report.removed == ("a/b/c",)
    assert list(bench.root.iterdir()) == []
    with pytest.raises(RevertRefused, match="undone already"):
        bench.revert(output)


def test_the_schema_describes_each_property_and_takes_an_intent() -> None:
    schema = WRITE.definition.input_schema
    assert schema["additionalProperties"] is False
    assert all(prop["description"] for prop in schema["properties"].values())
    assert schema["properties"]["_i"]["type"] == ["string", "null"]
    assert WRITE.writes


def test_a_file_whose_path_is_no_text_is_left_alone(bench: EditBench) -> None:
    bench.put(os.fsdecode(b"caf\xe9"), "1\n")
    (bench.root / "link").symlink_to(os.fsdecode(b"caf\xe9"))
    (bench.root / "folder").symlink_to(os.fsdecode(b"d\xe9"))
    for attempt in (bench.write("link", "2\n"), bench.edit("link", ("1", "2"))):
        said = bench.refusal(attempt, FailureKind.FAILED)
        assert "'caf\ufffd' has bytes that are no text" in said
    said = bench.refusal(bench.write("folder/new", "2\n"), FailureKind.FAILED)
    assert "'d\ufffd/new' has bytes that are no text" in said
    assert list(bench.files().values()) == [b"1\n"] * 2

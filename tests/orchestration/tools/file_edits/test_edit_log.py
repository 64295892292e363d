from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engine.vocabulary.tools import ToolDefinition
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.commit import editing_tool
from orchestration.tools.file_edits.edit_log import EditLog, RevertRefused
from orchestration.tools.tool import ToolContext
from tests.support.edit_bench import EditBench


@pytest.fixture
def bench(tmp_path: Path) -> EditBench:
    return EditBench(tmp_path / "root")


def test_undoing_restores_the_very_bytes_and_permissions(bench: EditBench) -> None:
    data = b"\xef\xbb\xbfa\r\nb\nc\r"
    bench.put("f", data).chmod(0o640)
    output = bench.edit("f", ("b", "B"))
    report = bench.revert(output)
    assert bench.bytes_of("f") == data
    assert (bench.root / "f").stat().st_mode & 0o777 == 0o640
    assert (report.restored, report.removed, report.node_id) == (("f",), (), "n")


def test_made_files_are_removed_before_the_others_are_restored(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.put("a", "old\n")
    root = bench.root.resolve()
    changes = (
        FileChange(path=root / "a", label="a", before=b"old\n", after=None),
        FileChange(path=root / "b", label="b", before=None, after=b"new\n"),
    )

    def plan(_: dict[str, object], context: ToolContext) -> ChangePlan:
        return ChangePlan(changes)

    output = bench.run(editing_tool(ToolDefinition("x", "x", {}), plan, lambda _: []))
    assert bench.files() == {"b": b"new\n"}
    order: list[str] = []
    unlink, link = os.unlink, os.link

    def noted_unlink(name: str, **options: int) -> None:
        order.append(f"remove {name}")
        unlink(name, **options)

    def noted_link(source: str, name: str, **options: Any) -> None:
        order.append(f"restore {name}")
        link(source, name, **options)

    monkeypatch.setattr(os, "unlink", noted_unlink)
    monkeypatch.setattr(os, "link", noted_link)
    report = bench.revert(output)
    assert [step for step in order if step in ("remove b", "restore a")] == [
        "remove b",
        "restore a",
    ]
    assert bench.files() == {"a": b"old\n"}
    assert (report.restored, report.removed) == (("a",), ("b",))


def test_a_later_change_is_named_and_not_lost(bench: EditBench) -> None:
    output = bench.write("f", "one\n")
    bench.put("f", "theirs\n")
    with pytest.raises(RevertRefused, match="changed since: f") as caught:
        bench.revert(output)
    assert caught.value.labels == ("f",)
    assert bench.bytes_of("f") == b"theirs\n"
    bench.revert(output, force=True)
    assert bench.files() == {}


def test_edits_are_undone_last_one_first(bench: EditBench) -> None:
    bench.put("f", "0\n")
    first, second = bench.write("f", "1\n"), bench.write("f", "2\n")
    with pytest.raises(RevertRefused, match="changed since"):
        bench.revert(first)
    bench.revert(second)
    bench.revert(first)
    assert bench.bytes_of("f") == b"0\n"


def test_a_file_that_is_gone_is_told_and_restored_only_by_force(bench: EditBench) -> None:
    bench.put("f", "0\n")
    output = bench.write("f", "1\n")
    (bench.root / "f").unlink()
    with pytest.raises(RevertRefused, match="changed since: f"):
        bench.revert(output)
    bench.revert(output, force=True)
    assert bench.bytes_of("f") == b"0\n"


def test_a_file_that_already_is_as_before_is_left_alone(bench: EditBench) -> None:
    bench.put("f", "0\n")
    output = bench.write("f", "1\n")
    bench.put("f", "0\n")
    assert bench.revert(output).restored == ()


def test_after_undoing_the_conversation_does_not_know_the_file(bench: EditBench) -> None:
    bench.put("f", "0\n")
    bench.revert(bench.write("f", "1\n"))
    assert "changed since you last read it" in bench.write("f", "2\n").content


def test_an_unknown_or_misspelt_batch_is_refused(bench: EditBench) -> None:
    for batch_id in (str(uuid4()), "../../x", "", "nonsense"):
        with pytest.raises(RevertRefused, match="keeps no edit"):
            bench.log.revert(batch_id, bench.context.workspace)


def test_a_folder_that_is_a_link_now_is_not_followed(bench: EditBench) -> None:
    output = bench.write("src/f", "1\n")
    outside = bench.root.parent / "outside"
    (bench.root / "src").rename(outside)
    (bench.root / "src").symlink_to(outside)
    with pytest.raises(RevertRefused):
        bench.revert(output, force=True)
    assert (outside / "f").read_bytes() == b"1\n"


def test_a_failed_undoing_can_be_tried_again(
    bench: EditBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.put("f", "0\n")
    output = bench.write("f", "1\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("orchestration.workspace.jailed_files._put", full)
        with pytest.raises(RevertRefused, match="'f' cannot be written: No space"):
            bench.revert(output)
    assert bench.bytes_of("f") == b"1\n"
    bench.revert(output)
    assert bench.bytes_of("f") == b"0\n"


def test_what_is_kept_outlives_the_process_that_kept_it(bench: EditBench) -> None:
    bench.put("f", "0\n")
    output = bench.write("f", "1\n")
    assert output.batch is not None
    EditLog(bench.services.edits).revert(output.batch.batch_id, bench.context.workspace)
    assert bench.bytes_of("f") == b"0\n"


def test_a_damaged_log_is_told(bench: EditBench) -> None:
    output = bench.write("f", "1\n")
    assert output.batch is not None
    (bench.services.edits / f"{output.batch.batch_id}.edit").write_bytes(b"\x81")
    with pytest.raises(RevertRefused, match="cannot be read"):
        bench.revert(output)


def test_a_refused_call_keeps_nothing(bench: EditBench) -> None:
    bench.put("f", "0\n")
    bench.edit("f", ("zzz", "1"))
    bench.write("f", "0\n")
    assert not bench.services.edits.exists()

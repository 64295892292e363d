from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.file_changes import (
    change_as_input,
    diff_summary,
    merge_changes,
    merge_reads,
    read_as_input,
    relativise_arguments,
)
from engine.vocabulary.tools import FileChangeOp, FileChangeRecord, ReadRecord

CREATE, UPDATE = FileChangeOp.CREATE, FileChangeOp.UPDATE
DELETE, RENAME = FileChangeOp.DELETE, FileChangeOp.RENAME


def record(path: str, op: FileChangeOp, at: int, to: str | None = None) -> FileChangeRecord:
    return FileChangeRecord(path, op, at, rename_to=to)


class TestMergingChanges:
    def test_the_latest_record_of_a_path_counts(self) -> None:
        old, new = record("a", CREATE, 1), record("a", UPDATE, 2)
        assert merge_changes([old, new]) == (new,)
        assert merge_changes([new, old]) == (new,)

    def test_of_equal_times_the_later_record_counts(self) -> None:
        first, second = record("a", CREATE, 5), record("a", DELETE, 5)
        assert merge_changes([first, second]) == (second,)

    def test_a_rename_after_an_edit_leaves_one_entry_at_the_destination(self) -> None:
        renamed = record("a", RENAME, 2, "b")
        assert merge_changes([record("a", UPDATE, 1), renamed]) == (renamed,)
        assert merge_changes([renamed, record("a", UPDATE, 1)]) == (renamed,)

    def test_a_chain_of_renames_ends_at_its_last_destination(self) -> None:
        last = record("b", RENAME, 3, "c")
        chain = [record("a", CREATE, 1), record("a", RENAME, 2, "b"), last]
        assert merge_changes(chain) == (last,)
        assert merge_changes(reversed(chain)) == (last,)

    def test_a_file_made_anew_after_a_rename_stays(self) -> None:
        renamed, again = record("a", RENAME, 1, "b"), record("a", CREATE, 2)
        assert merge_changes([renamed, again]) == (again, renamed)

    def test_the_result_is_sorted_by_where_files_are_now(self) -> None:
        records = [record("z", RENAME, 1, "b"), record("c", CREATE, 2), record("a", CREATE, 3)]
        assert [r.effective_path for r in merge_changes(records)] == ["a", "b", "c"]

    @given(
        st.lists(
            st.builds(
                record,
                st.sampled_from("abc"),
                st.sampled_from(FileChangeOp),
                st.integers(0, 5),
                st.none() | st.sampled_from("abc"),
            ),
            max_size=8,
        )
    )
    def test_each_path_has_one_record_and_merging_again_changes_nothing(
        self, records: list[FileChangeRecord]
    ) -> None:
        merged = merge_changes(records)
        paths = [r.effective_path for r in merged]
        assert paths == sorted(set(paths))
        assert set(merged) <= set(records)

    def test_a_node_is_told_paths_and_what_happened(self) -> None:
        told = change_as_input(
            FileChangeRecord("a", RENAME, 1, rename_to="b", diff_summary="+1|x", tool_name="edit")
        )
        assert told == {"path": "a", "op": "rename", "renameTo": "b", "diffSummary": "+1|x"}
        assert change_as_input(record("a", CREATE, 1)) == {"path": "a", "op": "create"}


class TestReads:
    def test_a_later_record_replaces_only_with_an_outline(self) -> None:
        known = {"a": ReadRecord("a", "outline")}
        assert merge_reads(known, [ReadRecord("a")]) == known
        newer = ReadRecord("a", "other outline")
        assert merge_reads(known, [newer, ReadRecord("b")]) == {"a": newer, "b": ReadRecord("b")}

    def test_what_is_known_is_not_changed(self) -> None:
        known: dict[str, ReadRecord] = {}
        merge_reads(known, [ReadRecord("a")])
        assert known == {}

    def test_a_node_is_told_the_outline_where_there_is_one(self) -> None:
        assert read_as_input(ReadRecord("a")) == {"path": "a"}
        assert read_as_input(ReadRecord("a", "def f")) == {"path": "a", "outline": "def f"}


def test_a_diff_is_summed_up_by_its_first_lines() -> None:
    assert diff_summary("1\n2\n3", 3) == "1\n2\n3"
    assert diff_summary("1\n2\n3\n4", 3) == "1\n2\n3\n…"
    assert diff_summary("", 3) == ""


class TestRelativePaths:
    @pytest.mark.parametrize(
        ("root", "path", "expected"),
        [
            ("/home/me/app", "/home/me/app/src/a.py", "src/a.py"),
            ("/home/me/app/", "/home/me/app/src/a.py", "src/a.py"),
            ("/home/me/app", "/home/me/app", "."),
            ("/home/me/app", "/home/me/app/", "."),
            ("C:\\me\\app", "C:\\me\\app\\src\\a.py", "src/a.py"),
            ("C:/me/app", "C:\\me\\app", "."),
            ("/home/me/app", "/home/me/application/a.py", "/home/me/application/a.py"),
            ("/home/me/app", "/etc/passwd", "/etc/passwd"),
            ("/home/me/app", "/home/me/app/../b", "/home/me/app/../b"),
            ("/home/me/app", "src/a.py", "src/a.py"),
            ("/home/me/app", "", ""),
            ("/home/me/app", "  ", "  "),
            ("/home/me/app", "https://host/home/me/app", "https://host/home/me/app"),
            ("/home/me/app", "ARTIFACT:/home/me/app", "ARTIFACT:/home/me/app"),
            ("/home/me/app", "run://PLAN.md", "run://PLAN.md"),
            (None, "/home/me/app/a.py", "/home/me/app/a.py"),
            ("", "/home/me/app/a.py", "/home/me/app/a.py"),
        ],
    )
    def test_a_path_inside_becomes_relative(
        self, root: str | None, path: str, expected: str
    ) -> None:
        for key in ("path", "cwd", "paths"):
            assert relativise_arguments({key: path}, root) == {key: expected}

    def test_lists_of_paths_are_looked_through(self) -> None:
        arguments = {"paths": ["/app/a", "b", 5, "/app"], "pattern": "/app/c"}
        assert relativise_arguments(arguments, "/app") == {
            "paths": ["a", "b", 5, "."],
            "pattern": "/app/c",
        }
        assert arguments["paths"] == ["/app/a", "b", 5, "/app"]

    @pytest.mark.parametrize("value", [None, 5, {"path": "/app/a"}, [["/app/a"]]])
    def test_what_is_no_text_stays(self, value: Any) -> None:
        arguments = {"path": value}
        assert relativise_arguments(arguments, "/app") is arguments

    def test_arguments_without_such_a_path_are_the_same_object(self) -> None:
        arguments = {"path": "a", "content": "/app/x"}
        assert relativise_arguments(arguments, "/app") is arguments

"""`apply_patch` does its entries in order, keeps what it did, and shows all of it beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.vocabulary.tools import FileChangeOp
from orchestration.tools.builtin.apply_patch import APPLY_PATCH
from orchestration.tools.file_edits.edit_log import EditLog
from orchestration.tools.tool import Inspected, ToolContext, ToolFailure, ToolOutput
from orchestration.workspace import jailed_files
from tests.support.tool_bench import context_in
from tests.support.tool_calls import inspect_tool, run_tool


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def run(context: ToolContext, *lines: str) -> ToolOutput:
    return run_tool(APPLY_PATCH, context, input=patch(*lines))


def refused(context: ToolContext, *lines: str) -> str:
    output = run(context, *lines)
    assert output.is_error
    assert output.batch is None
    assert not output.effects.file_changes
    return output.content


def inspect(context: ToolContext, *lines: str) -> Inspected:
    return inspect_tool(APPLY_PATCH, context, input=patch(*lines))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


ALL_KINDS = (
    "*** Add File: new/a.txt",
    "+one",
    "*** Update File: b.txt",
    "@@",
    "-b",
    "+B",
    "*** Update File: c.txt",
    "*** Move to: moved/c.txt",
    "@@",
    "-c",
    "+C",
    "*** Delete File: d.txt",
)


def with_files(root: Path) -> None:
    for name in "bcd":
        (root / f"{name}.txt").write_bytes(f"{name}\r\nsame".encode())


def test_files_are_added_changed_moved_and_deleted(root: Path) -> None:
    with_files(root)
    output = run(context_in(root), *ALL_KINDS)
    assert not output.is_error
    assert (root / "new/a.txt").read_bytes() == b"one\n"
    assert (root / "b.txt").read_bytes() == b"B\r\nsame"
    assert (root / "moved/c.txt").read_bytes() == b"C\r\nsame"
    assert sorted(path.name for path in root.iterdir()) == ["b.txt", "moved", "new"]
    assert [(one.op, one.path, one.rename_to) for one in output.effects.file_changes] == [
        (FileChangeOp.CREATE, "new/a.txt", None),
        (FileChangeOp.UPDATE, "b.txt", None),
        (FileChangeOp.RENAME, "c.txt", "moved/c.txt"),
        (FileChangeOp.DELETE, "d.txt", None),
    ]
    assert "-1|b\n+1|B" in output.content


def test_a_patch_can_be_undone_to_the_byte(root: Path) -> None:
    with_files(root)
    context = context_in(root)
    output = run(context, *ALL_KINDS)
    assert output.batch is not None
    EditLog(context.services.edits).revert(output.batch.batch_id, context.workspace)
    assert {path.name: path.read_bytes() for path in root.iterdir()} == {
        f"{name}.txt": f"{name}\r\nsame".encode() for name in "bcd"
    }


def test_a_preview_shows_every_change_and_makes_none(root: Path) -> None:
    with_files(root)
    seen = inspect(context_in(root), *ALL_KINDS)
    assert seen.preview is not None
    assert [(file.op, file.path) for file in seen.preview.files] == [
        (FileChangeOp.CREATE, "new/a.txt"),
        (FileChangeOp.UPDATE, "b.txt"),
        (FileChangeOp.RENAME, "c.txt"),
        (FileChangeOp.DELETE, "d.txt"),
    ]
    assert len(seen.targets) == 5
    assert sorted(path.name for path in root.iterdir()) == ["b.txt", "c.txt", "d.txt"]


def test_a_here_document_is_a_patch_too(root: Path) -> None:
    text = f"apply_patch <<'EOF'\n{patch('*** Add File: a', '+x')}\nEOF"
    output = run_tool(APPLY_PATCH, context_in(root), input=text)
    assert not output.is_error
    assert (root / "a").read_bytes() == b"x\n"


def test_one_changed_line_is_one_changed_line(root: Path) -> None:
    (root / "f").write_bytes(b"line1\nline2")
    output = run(context_in(root), "*** Update File: f", "@@", "-line1", "+LINE1", " line2")
    assert (root / "f").read_bytes() == b"LINE1\nline2"
    assert output.content.endswith("-1|line1\n+1|LINE1\n 2|line2")


def test_the_end_of_a_file_tells_equal_places_apart(root: Path) -> None:
    (root / "f").write_bytes(b"b\na\nb\n")
    run(context_in(root), "*** Update File: f", "@@", " b", "+c", "*** End of File")
    assert (root / "f").read_bytes() == b"b\na\nb\nc\n"


def test_later_entries_see_what_earlier_ones_did(root: Path) -> None:
    (root / "a").write_bytes(b"1\n2\n")
    output = run(
        context_in(root),
        "*** Update File: a",
        "@@",
        "-1",
        "+one",
        "*** Update File: ./a",
        "@@",
        " one",
        "-2",
        "+two",
        "*** Update File: a",
        "*** Move to: b",
        "*** Add File: a",
        "+new",
        "*** Update File: b",
        "@@",
        "-one",
    )
    assert not output.is_error, output.content
    assert (root / "a").read_bytes() == b"new\n"
    assert (root / "b").read_bytes() == b"two\n"


def test_what_was_done_before_a_failing_entry_stays_and_is_told(root: Path) -> None:
    (root / "b").write_bytes(b"b\n")
    output = run(
        context_in(root),
        "*** Add File: a",
        "+x",
        "*** Update File: b",
        "@@",
        "-not there",
        "*** Delete File: b",
    )
    assert output.is_error
    assert (root / "a").read_bytes() == b"x\n"
    assert (root / "b").read_bytes() == b"b\n"
    assert [one.path for one in output.effects.file_changes] == ["a"]
    assert output.batch is not None
    assert output.content.startswith("Created a")
    assert "was not found in 'b'" in output.content
    assert "what the patch says after it, of 'b', was not tried" in output.content


def test_a_preview_tells_of_the_entry_that_will_fail(root: Path) -> None:
    seen = inspect(context_in(root), "*** Add File: a", "+x", "*** Delete File: b")
    assert seen.preview is not None
    assert seen.preview.problem == "[not_found] there is no 'b' to delete"
    assert [file.path for file in seen.preview.files] == ["a"]


def test_a_move_whose_source_cannot_go_is_taken_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_bytes(b"a\n")
    remove = jailed_files.remove

    def refuse_source(workspace: object, path: Path, *more: object) -> None:
        if path.name == "a":
            raise PermissionError(1, "no")
        remove(workspace, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(jailed_files, "remove", refuse_source)
    content = refused(context_in(root), "*** Update File: a", "*** Move to: sub/b")
    assert "'a' cannot be deleted" in content
    assert (root / "a").read_bytes() == b"a\n"
    assert not (root / "sub/b").exists()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((), "[invalid_args] the patch names no file"),
        (("*** Add File: there", "+x"), "[failed] 'there' is there already"),
        (("*** Delete File: gone",), "[not_found] there is no 'gone' to delete"),
        (("*** Update File: gone", "@@", "-x"), "[not_found] there is no 'gone'"),
        (("*** Update File: gone", "*** Move to: x"), "[not_found] there is no 'gone'"),
        (("*** Update File: there", "@@", "-x", "+x"), "[failed] the update of 'there' changes"),
        (("*** Update File: there", "*** Move to: ./there"), "[invalid_args] 'there' cannot be"),
        (("*** Update File: there", "*** Move to: other"), "[failed] 'there' cannot be moved to"),
        (("*** Update File: binary", "@@", "-x"), "[failed] 'binary' is not UTF-8 text"),
        (("*** Update File: folder", "@@", "-x"), "[failed] 'folder'"),
        (("*** Update File: ../out", "@@", "-x"), "[permission_denied] '../out' leads out"),
        (("*** Add File: /etc/new", "+x"), "[permission_denied] '/etc/new' leads out"),
        (("*** Update File: there", "*** Move to: ../out"), "[permission_denied] '../out'"),
        (("*** Add File: link/x", "+x"), "[permission_denied] 'link/x' leads out"),
        (("*** Update File: book.ipynb", "@@", "-x"), "[invalid_args] 'book.ipynb' is a notebook"),
        (("*** Update File: made.py", "@@", "-x"), "[permission_denied] 'made.py' is a generated"),
        (("*** Delete File: made.py",), "[permission_denied] 'made.py' is a generated"),
        (
            ("*** Update File: there", "*** Move to: a_pb2.py"),
            "[permission_denied] 'a_pb2.py' is a generated",
        ),
    ],
)
def test_what_cannot_be_done_is_told_and_not_done(
    root: Path, lines: tuple[str, ...], told: str
) -> None:
    (root / "folder").mkdir()
    (root / "link").symlink_to(root.parent)
    files = {
        "there": b"x\n",
        "other": b"o\n",
        "binary": b"x\n\xff\n",
        "book.ipynb": b"x\n",
        "made.py": b"# @generated\nx\n",
    }
    for name, data in files.items():
        (root / name).write_bytes(data)
    assert told in refused(context_in(root), *lines)
    assert {name: (root / name).read_bytes() for name in files} == files
    assert len(list(root.iterdir())) == len(files) + 2


def test_what_is_no_patch_is_refused_before_anybody_is_asked(root: Path) -> None:
    with pytest.raises(ToolFailure, match="does not start with"):
        inspect_tool(APPLY_PATCH, context_in(root), input="hello")


def test_a_file_that_others_changed_is_not_patched(root: Path) -> None:
    (root / "a").write_bytes(b"theirs\nx\n")
    context = context_in(root)
    context.services.files.saw("n", root / "a", b"mine\nx\n")
    content = refused(context, "*** Update File: a", "@@", "-x", "+y")
    assert "'a' has changed since you last read it" in content
    assert "1:theirs" in content
    # The refusal showed the text, so now the conversation knows it.
    assert not run(context, "*** Update File: a", "@@", "-x", "+y").is_error
    assert (root / "a").read_bytes() == b"theirs\ny\n"


def test_every_path_of_a_patch_is_locked() -> None:
    assert APPLY_PATCH.lock_paths is not None
    assert APPLY_PATCH.lock_paths({"input": patch(*ALL_KINDS)}) == (
        "new/a.txt",
        "b.txt",
        "c.txt",
        "d.txt",
        "moved/c.txt",
    )
    assert APPLY_PATCH.lock_paths({"input": "no patch"}) == ()

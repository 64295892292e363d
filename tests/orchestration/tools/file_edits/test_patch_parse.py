"""Patches are read as they are written, and what is none is refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.patch_parse import (
    AddFile,
    DeleteFile,
    Hunk,
    PatchLine,
    UpdateFile,
    parse_patch,
)
from orchestration.tools.tool import FailureKind, ToolFailure


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def test_every_kind_of_entry_is_read_in_its_order() -> None:
    text = patch(
        "*** Add File: new/a.txt",
        "+one",
        "+",
        "+two",
        "*** Delete File: old.txt",
        "*** Update File: src/b.py",
        "*** Move to: src/c.py",
        "@@ class A:",
        "@@ def f(self):",
        " keep",
        "-old",
        "+new",
        "@@",
        "+last",
        "*** End of File",
    )
    assert parse_patch(text) == (
        AddFile(2, "new/a.txt", ("one", "", "two")),
        DeleteFile(6, "old.txt"),
        UpdateFile(
            7,
            "src/b.py",
            "src/c.py",
            (
                Hunk(
                    9,
                    ("class A:", "def f(self):"),
                    (PatchLine(" ", "keep"), PatchLine("-", "old"), PatchLine("+", "new")),
                ),
                Hunk(14, (), (PatchLine("+", "last"),), at_end=True),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("<<EOF", "EOF"),
        ("<<'EOF'", "EOF"),
        ('<<"PATCH"', "PATCH"),
        ("apply_patch <<'EOF'", "EOF"),
        ("cat <<-END", "END"),
    ],
)
def test_a_here_document_around_the_patch_is_taken_off(first: str, last: str) -> None:
    text = f"{first}\n{patch('*** Delete File: f')}\n{last}\n"
    assert parse_patch(text) == (DeleteFile(3, "f"),)


def test_a_here_document_that_does_not_end_is_no_wrapper() -> None:
    with pytest.raises(ToolFailure, match="does not start with"):
        parse_patch(f"<<EOF\n{patch('*** Delete File: f')}\nOTHER")


def test_a_patch_of_no_entries_is_still_a_patch() -> None:
    assert parse_patch(patch()) == ()


def test_line_ends_of_windows_are_line_ends() -> None:
    text = patch("*** Update File: f", "@@", "-a", "+b").replace("\n", "\r\n")
    (entry,) = parse_patch(text)
    assert isinstance(entry, UpdateFile)
    assert entry.hunks[0].lines == (PatchLine("-", "a"), PatchLine("+", "b"))


def test_an_empty_line_is_context_within_a_hunk_and_nothing_after_it() -> None:
    (entry,) = parse_patch(patch("*** Update File: f", "@@", "-a", "", "+b", "", ""))
    assert isinstance(entry, UpdateFile)
    assert entry.hunks[0].old == ("a", "")


def test_what_unified_diffs_add_is_no_part_of_a_hunk() -> None:
    (entry,) = parse_patch(
        patch(
            "*** Update File: f",
            "@@ -1,2 +1,2 @@ def f",
            "-a",
            "+b",
            "\\ No newline at end of file",
        )
    )
    assert isinstance(entry, UpdateFile)
    assert entry.hunks == (Hunk(3, (), (PatchLine("-", "a"), PatchLine("+", "b"))),)


def test_a_file_that_only_moves_needs_no_hunk() -> None:
    (entry,) = parse_patch(patch("*** Update File: f", "*** Move to: g"))
    assert entry == UpdateFile(2, "f", "g", ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "does not start with '*** Begin Patch'"),
        ("*** Update File: f\n-a\n*** End Patch", "does not start with"),
        ("*** Begin Patch\n*** Delete File: f", "does not end with '*** End Patch'"),
        ("*** Begin Patch", "does not end with"),
        (
            patch("*** Rename File: f"),
            "line 2 of the patch is no file header: '*** Rename File: f'",
        ),
        (patch("hello"), "line 2 of the patch is no file header: 'hello'"),
        (patch("*** Delete File: f", "-gone"), "line 3 of the patch is no file header"),
        (patch("*** Delete File:   "), "line 2 of the patch names no file"),
        (patch("*** Update File: f", "*** Move to:"), "line 3 of the patch names no file"),
        (patch("*** Update File: f"), "the update of 'f' in line 2 of the patch changes nothing"),
        (patch("*** Update File: f", "@@"), "line 3 of the patch, for 'f', has no line to change"),
        (patch("*** Update File: f", "@@", " a"), "has no line to change"),
        (patch("*** Update File: f", "@@", "a"), "line 4 of the patch, in 'f', starts with none"),
        (patch("*** Add File: f", "a"), "line 3 of the patch, in the new file 'f', has no '+'"),
    ],
)
def test_what_is_no_patch_is_told_with_its_line(text: str, told: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        parse_patch(text)
    assert caught.value.kind is FailureKind.INVALID_ARGS
    assert told in str(caught.value)


def refusal(text: str) -> FailureKind | None:
    try:
        parse_patch(text)
    except ToolFailure as failure:
        return failure.kind
    return None


PIECES = st.sampled_from(
    [
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File: a",
        "*** Delete File: b",
        "*** Update File: c",
        "*** Move to: d",
        "*** End of File",
        "*** ",
        "@@",
        "@@ x",
        "+",
        "-x",
        " y",
        "",
        "<<EOF",
        "EOF",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8))).map("\n".join))
def test_any_text_is_a_patch_or_refused(text: str) -> None:
    assert refusal(text) in (None, FailureKind.INVALID_ARGS)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8))).map(lambda lines: patch(*lines)))
def test_anything_between_the_markers_is_a_patch_or_refused(text: str) -> None:
    assert refusal(text) in (None, FailureKind.INVALID_ARGS)

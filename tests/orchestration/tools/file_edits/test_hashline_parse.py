"""Hash-line edits are read as they are written; each misunderstanding gets its own answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.hashline_parse import Op, OpKind, Section, parse_hashline
from orchestration.tools.tool import FailureKind, ToolFailure


def test_every_operation_is_read_in_its_order() -> None:
    text = """
# what this does
¶src/a.py#1a2B
replace 3..5:
+one
+
+two
delete 7
delete 9..11
# between operations
insert before 13:
+x
insert after 14:
+y
insert head:
+top
insert tail:
++plus
"""
    assert parse_hashline(text) == (
        Section(
            "src/a.py",
            "1A2B",
            (
                Op(OpKind.REPLACE, 3, 5, ("one", "", "two"), "replace 3..5:", 4),
                Op(OpKind.DELETE, 7, 7, (), "delete 7", 8),
                Op(OpKind.DELETE, 9, 11, (), "delete 9..11", 9),
                Op(OpKind.BEFORE, 13, 13, ("x",), "insert before 13:", 11),
                Op(OpKind.AFTER, 14, 14, ("y",), "insert after 14:", 13),
                Op(OpKind.HEAD, 0, 0, ("top",), "insert head:", 15),
                Op(OpKind.TAIL, 0, 0, ("+plus",), "insert tail:", 17),
            ),
        ),
    )


def test_several_files_and_the_wrapper_of_patches() -> None:
    text = "*** Begin Patch\n¶a#0001\ndelete 1\n¶b c#0002\ndelete 2\n*** End Patch\n"
    assert [(one.path, one.tag) for one in parse_hashline(text)] == [("a", "0001"), ("b c", "0002")]


def test_what_follows_an_abort_is_not_read() -> None:
    (section,) = parse_hashline("¶a#0001\ndelete 1\n*** Abort\nnonsense")
    assert len(section.ops) == 1


def test_sections_of_one_file_are_one() -> None:
    first, second = parse_hashline("¶a#00ab\ndelete 1\n¶b#0001\ndelete 1\n¶a#00AB\ndelete 3")
    assert [op.first for op in first.ops] == [1, 3]
    assert second.path == "b"


def test_rows_without_a_plus_sign_are_rows_with_a_warning() -> None:
    (section,) = parse_hashline(
        "¶a#0001\nreplace 1:\n# heading\n  text\n\n  more\ninsert tail:\n+x"
    )
    assert section.ops[0].rows == ("# heading", "  text", "", "  more")
    assert len(section.ops) == 2
    assert section.warnings == (
        "line 3 of the input, under 'replace 1:', had no '+' before it and was taken as a row; put "
        "'+' before each",
    )


def test_line_ends_of_windows_are_line_ends() -> None:
    (section,) = parse_hashline("¶a#0001\r\nreplace 1:\r\n+x\r\n")
    assert section.ops[0].rows == ("x",)


def test_a_path_may_have_a_number_sign() -> None:
    (section,) = parse_hashline("¶c#/a#12#beef\ndelete 1")
    assert (section.path, section.tag) == ("c#/a#12", "BEEF")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the input names no file"),
        ("*** Begin Patch\n*** End Patch", "the input names no file"),
        ("delete 1", "line 1 of the input stands before the first file: 'delete 1'"),
        ("¶", "names no file"),
        ("¶a\ndelete 1", "line 1 of the input has no tag, or not one of four hex digits"),
        ("¶a#12\ndelete 1", "has no tag, or not one of four hex digits"),
        ("¶a#wxyz\ndelete 1", "has no tag, or not one of four hex digits"),
        ("¶a#0001", "the section of 'a' does nothing"),
        ("¶a#0001\n¶b#0001\ndelete 1", "the section of 'a' does nothing"),
        ("¶a#0001\ndelete 1\n¶a#0002\ndelete 2", "named with two tags, 0001 and 0002"),
        ("¶a#0001\nreplace block 3:\n+x", "names a block, which is not supported"),
        ("¶a#0001\ndelete block 3", "names a block, which is not supported"),
        ("¶a#0001\nreplace 0..3:\n+x", "names line 0"),
        ("¶a#0001\ninsert before 0:\n+x", "or use 'insert head:'"),
        ("¶a#0001\ndelete 5..3", "ends before it begins"),
        ("¶a#0001\nreplace 1..3:", "line 2 of the input has no rows: 'replace 1..3:'"),
        ("¶a#0001\ninsert head:\ndelete 3", "has no rows"),
        ("¶a#0001\ndelete 3\n+x", "is a row after 'delete 3'"),
        ("¶a#0001\n+x", "is a row of no operation"),
        ("¶a#0001\nreplace 1:\n+x\n-y", "marks a line as removed"),
        ("¶a#0001\n-y", "marks a line as removed"),
        ("¶a#0001\n@@ -1 +1 @@", "belongs to a unified diff"),
        ("¶a#0001\n--- a/x", "belongs to a unified diff"),
        ("¶a#0001\nreplace 1:\n+x\n@@", "belongs to a unified diff"),
        ("¶a#0001\n*** Update File: a", "belongs to apply_patch"),
        ("¶a#0001\nreplace 1:\n+x\n*** Delete File: a", "belongs to apply_patch"),
        ("¶a#0001\n3..5:\n+x", "write 'replace 3..5:' or 'delete 3..5'"),
        ("¶a#0001\nreplace 1:\n+x\n3", "does not say what to do with them"),
        ("¶a#0001\nreplace all:\n+x", "is no operation"),
        ("¶a#0001\nreplace 1:\n+x\ndelete foo:", "is no operation"),
        ("¶a#0001\nmove 1 2", "is no operation"),
    ],
)
def test_every_misunderstanding_is_told_what_to_write(text: str, told: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        parse_hashline(text)
    assert caught.value.kind is FailureKind.INVALID_ARGS
    assert told in str(caught.value)


def refusal(text: str) -> FailureKind | None:
    try:
        parse_hashline(text)
    except ToolFailure as failure:
        return failure.kind
    return None


PIECES = st.sampled_from(
    [
        "¶a#0001",
        "¶b#00ff",
        "¶",
        "replace 1..2:",
        "replace 1:",
        "delete 3",
        "insert head:",
        "insert after 2:",
        "replace block 1:",
        "+x",
        "-x",
        "bare",
        "# c",
        "",
        "@@",
        "*** Abort",
        "*** Begin Patch",
        "3..4:",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8))).map("\n".join))
def test_any_text_is_an_edit_or_refused(text: str) -> None:
    assert refusal(text) in (None, FailureKind.INVALID_ARGS)
    assert refusal(f"¶a#0001\n{text}") in (None, FailureKind.INVALID_ARGS)

"""Hunks change the place they mean and nothing else, and are refused where they mean none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.patch_apply import apply_hunks
from orchestration.tools.file_edits.patch_parse import UpdateFile, parse_patch
from orchestration.tools.tool import ToolFailure


def patched(before: bytes, *hunk_lines: str) -> bytes:
    return patched_with_notes(before, *hunk_lines)[0]


def patched_with_notes(before: bytes, *hunk_lines: str) -> tuple[bytes, tuple[str, ...]]:
    text = "\n".join(("*** Begin Patch", "*** Update File: f", *hunk_lines, "*** End Patch"))
    (entry,) = parse_patch(text)
    assert isinstance(entry, UpdateFile)
    changed, notes = apply_hunks(FileText.decode(before), entry.hunks, "f")
    return changed.encode(), notes


def test_a_missing_final_newline_stays_missing() -> None:
    assert patched(b"line1\nline2", "@@", "-line1", "+LINE1", " line2") == b"LINE1\nline2"
    assert patched(b"line1\nline2", "@@", " line2", "+line3") == b"line1\nline2\nline3"
    assert patched(b"line1\nline2", "@@", "-line2") == b"line1"


def test_the_end_of_the_file_is_an_anchor() -> None:
    after = patched(b"b\na\nb\n", "@@", " b", "+c", "*** End of File")
    assert after == b"b\na\nb\nc\n"


def test_lines_that_are_not_at_the_end_do_not_match_the_end() -> None:
    with pytest.raises(ToolFailure, match="was not found at the end of 'f'"):
        patched(b"b\na\n", "@@", " b", "+c", "*** End of File")


def test_new_lines_alone_go_to_the_end_or_after_their_anchor() -> None:
    assert patched(b"a\nb\n", "@@", "+c") == b"a\nb\nc\n"
    assert patched(b"a\nb\n", "@@ a", "+c") == b"a\nc\nb\n"
    assert patched(b"", "@@", "+c") == b"c\n"


def test_an_anchor_chooses_among_equal_places() -> None:
    before = (
        b"class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\nclass C:\n  def f():\n    x\n"
    )
    after = patched(before, "@@ class B:", "@@ def f():", "-    x", "+    y")
    assert after == before.replace(b"x\nclass C", b"y\nclass C")


def test_an_anchor_that_stands_twice_chooses_nothing() -> None:
    with pytest.raises(ToolFailure, match=r"fits 'f' in 2 places \(lines 2, 4\)"):
        patched(b"def f():\n  x\ndef f():\n  x\n", "@@ def f():", "-  x", "+  y")


def test_an_anchor_that_is_not_there_is_told() -> None:
    with pytest.raises(ToolFailure, match="has no line 'def g', which the hunk in line 3"):
        patched(b"def f():\n  x\n", "@@ def g", "-  x", "+  y")


def test_equal_places_without_an_anchor_are_refused_by_line() -> None:
    with pytest.raises(ToolFailure, match=r"fits 'f' in 2 places \(lines 1, 3\)"):
        patched(b"a\nb\na\n", "@@", "-a", "+c")
    with pytest.raises(ToolFailure, match=r"in 7 places \(lines 1, 2, 3, 4, 5, …\)"):
        patched(b"a\n" * 7, "@@", "-a", "+c")


def test_a_line_that_stands_almost_everywhere_is_no_place() -> None:
    with pytest.raises(ToolFailure, match=r"in 2000 places \(lines 1, 2, 3, 4, 5, …\)"):
        patched(b"a\n" * 2000, *["@@", "-a", "+c"] * 100)


def test_places_that_differ_only_in_line_ends_are_equal_places() -> None:
    with pytest.raises(ToolFailure, match="in 2 places"):
        patched(b"x\ny\nz\nx\r\ny\r\n", "@@", "-x", " y")


def test_the_order_of_hunks_chooses_among_equal_places() -> None:
    before = b"a\nm\na\n"
    assert patched(before, "@@", "-a", "+1", "@@", "-m", "+2", "@@", "-a", "+3") == b"1\n2\n3\n"
    assert patched(before, "@@", "-m", "+2", "@@", "-a", "+3") == b"a\n2\n3\n"


def test_hunks_may_come_in_another_order_than_in_the_file() -> None:
    assert patched(b"a\nb\nc\n", "@@", "-c", "+C", "@@", "-a", "+A") == b"A\nb\nC\n"


def test_hunks_may_share_context() -> None:
    after = patched(b"a\nb\nc\n", "@@", "-a", "+A", " b", "@@", " b", "-c", "+C")
    assert after == b"A\nb\nC\n"


def test_hunks_that_change_the_same_lines_are_refused() -> None:
    with pytest.raises(ToolFailure, match="two hunks of the patch change the same lines"):
        patched(b"a\nb\n", "@@", "-a", "+A", "@@", "-a", "+B")


def test_a_looser_match_keeps_the_context_of_the_file() -> None:
    after, notes = patched_with_notes(
        b"a  \n\xe2\x80\x9cb\xe2\x80\x9d\nc\n", "@@", " a", ' "b"', "-c", "+d"
    )
    assert after == b"a  \n\xe2\x80\x9cb\xe2\x80\x9d\nd\n"
    assert notes == (
        "the hunk in line 3 of the patch was placed at line 1 of 'f' although it differs there in "
        "blanks and kinds of quotes and dashes",
    )


def test_a_looser_match_keeps_the_characters_of_the_changed_line() -> None:
    before = "task list in\u00a0current\n".encode()
    after = patched(before, "@@", "-task list in current", "+task list in new")
    assert after == "task list in\u00a0new\n".encode()


def test_blanks_at_line_ends_are_not_worth_a_note() -> None:
    assert patched_with_notes(b"a \nb\n", "@@", " a", "-b", "+c") == (b"a \nc\n", ())


def test_new_lines_get_the_indent_of_the_file() -> None:
    before = b"class A:\n    def f():\n        x\n"
    assert patched(before, "@@", " def f():", "-    x", "+    y", "+      z") == (
        b"class A:\n    def f():\n        y\n          z\n"
    )
    assert patched(b"if a:\n\tb\n", "@@", " if a:", "-    b", "+    c:", "+        d") == (
        b"if a:\n\tc:\n\t\td\n"
    )
    assert patched(b"    if a:\n        b\n", "@@", "-    b", "+c", "+    d") == (
        b"    if a:\n    c\n        d\n"
    )


def test_comment_marks_may_differ_in_context_only() -> None:
    assert patched(b"# a\nb\n", "@@", " // a", "-b", "+c") == b"# a\nc\n"
    with pytest.raises(ToolFailure, match="was not found"):
        patched(b"# a\nb\n", "@@", "-// a", " b")


def test_a_small_slip_in_a_line_is_forgiven_where_it_is_unique() -> None:
    before = b"alpha = compute_the_value(one, two, three)\nbeta\n"
    after, notes = patched_with_notes(
        before, "@@", "-alpha = compute_the_value(one, two, tree)", "+alpha = 1"
    )
    assert after == b"alpha = 1\nbeta\n"
    assert "small differences" in notes[0]
    with pytest.raises(ToolFailure, match="in 2 places"):
        patched(before * 2, "@@", "-alpha = compute_the_value(one, two, tree)", "+alpha = 1")


def test_a_line_that_goes_is_never_only_vaguely_like_the_files() -> None:
    context = [f"line number {i} of the context" for i in range(12)]
    before = "".join(f"{line}\n" for line in [*context, "delete from the first table"]).encode()
    with pytest.raises(ToolFailure, match="was not found in 'f'"):
        patched(before, "@@", *(f" {line}" for line in context), "-something else altogether")


def test_a_hunk_that_is_not_there_is_told_with_the_closest_place() -> None:
    with pytest.raises(ToolFailure) as caught:
        patched(b"x\none\ntwo\nthree\n", "@@", " one", "-zwei", "+deux", " three")
    assert "2 of its 3 old lines are at line 2" in str(caught.value)
    assert "where it says 'zwei' the file has 'two' (line 3)" in str(caught.value)


def test_a_hunk_that_was_applied_before_is_told_so() -> None:
    with pytest.raises(ToolFailure, match="what it should become is there already"):
        patched(b"a\nc\n", "@@", " a", "-b", "+c")


TEXTS = st.sampled_from(
    [
        "",
        " ",
        "a",
        "b",
        "  a",
        "a ",
        "-",
        "+x",
        "@@",
        "*** End Patch",
        "\\ No",
        "\ta",
        "é\u00a0",
        "#",
    ]
)
LINES = st.lists(TEXTS, max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def hunks_between(before: Sequence[str], after: Sequence[str], context: int) -> list[str]:
    lines: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        lines.append("@@")
        for kind, a, b, c, d in group:
            if kind == "equal":
                lines += [f" {line}" for line in before[a:b]]
            else:
                lines += [f"-{line}" for line in before[a:b]]
                lines += [f"+{line}" for line in after[c:d]]
    return lines


def joined(lines: Sequence[str], end: str, *, is_final: bool) -> bytes:
    return (end.join(lines) + (end if is_final and lines else "")).encode()


@given(LINES, LINES, ENDS, st.booleans())
def test_a_patch_with_all_context_gives_the_other_text_byte_for_byte(
    before: list[str], after: list[str], end: str, is_final: bool
) -> None:
    # Without a final newline a last line that is empty is no line.
    if not is_final:
        before, after = [*before, "last"], [*after, "last"]
    old = joined(before, end, is_final=is_final)
    if hunks := hunks_between(before, after, 100):
        if not FileText.decode(old).ends:  # there is no line end that a new one could be like
            end, is_final = "\n", is_final or not before
        assert patched(old, *hunks) == joined(after, end, is_final=is_final)


@given(LINES, LINES, ENDS, st.booleans(), st.integers(0, 3))
def test_a_patch_with_little_context_gives_the_other_text_or_is_refused_as_ambiguous(
    before: list[str], after: list[str], end: str, is_final: bool, context: int
) -> None:
    before, after = ["first", *before, "last"], ["first", *after, "last"]
    old, new = joined(before, end, is_final=is_final), joined(after, end, is_final=is_final)
    hunks = hunks_between(before, after, context)
    if not hunks or any(
        mark == "@@" and all(line.startswith("+") for line in hunk_after(hunks, index))
        for index, mark in enumerate(hunks)
    ):
        return  # nothing to do, or new lines that do not say where they go
    try:
        result = patched(old, *hunks)
    except ToolFailure as failure:
        refusal = str(failure)
    else:
        refusal = "" if result == new else "another text"
    assert not refusal or re.search(r"fits 'f' in \d+ places", refusal)


def hunk_after(hunks: Sequence[str], index: int) -> list[str]:
    rest = list(hunks[index + 1 :])
    return rest[: rest.index("@@")] if "@@" in rest else rest


@given(st.data())
def test_lines_that_stay_keep_their_own_line_ends(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 10))
    ends = data.draw(st.lists(ENDS, min_size=count, max_size=count))
    before = [(f"line {i}", ends[i]) for i in range(count)]
    if data.draw(st.booleans()):
        before[-1] = (before[-1][0], "")
    # For each line: stays, goes, is replaced, or has new ones before it.
    fates = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    after: list[str] = []
    for i, ((text, _), fate) in enumerate(zip(before, fates, strict=True)):
        after += [f"new {i}"] * (fate == 3) + [[text], [], [f"other {i}"], [text]][fate]
    hunks = hunks_between([text for text, _ in before], after, data.draw(st.integers(1, 3)))
    if not hunks:
        return
    result = FileText.decode(patched("".join(map("".join, before)).encode(), *hunks))
    assert list(result.lines) == after
    assert result.has_final_newline == (bool(before[-1][1]) and bool(after))
    own = dict(before)
    for text, end in zip(result.lines, result.ends, strict=False):
        if own.get(text):
            assert end == own[text]

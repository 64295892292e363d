from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.line_alignment import equal_runs
from orchestration.tools.file_edits.numbered_diff import NO_NEWLINE, numbered_diff

LINES = st.lists(st.sampled_from(["a", "b", "", "c d", "-1|x"]), max_size=14)


def text_of(lines: list[str], has_newline: bool) -> str:
    return "\n".join(lines) + ("\n" if has_newline and lines else "")


def patched(before: str, diff: str) -> str:
    """What the diff says the text becomes: numbers are the only thing that is believed."""
    old = before.split("\n")
    has_newline = old[-1] == ""
    if has_newline:
        old.pop()
    added: dict[int, str] = {}
    removed: set[int] = set()
    rows = diff.split("\n") if diff else []
    for index, row in enumerate(rows):
        if row == NO_NEWLINE:
            has_newline = rows[index - 1].startswith("-")
            continue
        match = re.fullmatch(r"([ +-])(\d+)\|(.*)", row)
        assert match is not None, row
        mark, number, text = match[1], int(match[2]), match[3]
        if mark == "+":
            added[number] = text
        elif mark == "-":
            assert old[number - 1] == text
            removed.add(number)
        else:
            assert text in (old[number - 1], "...")
    kept = iter([line for number, line in enumerate(old, 1) if number not in removed])
    total = len(old) - len(removed) + len(added)
    lines = [added[n] if n in added else next(kept) for n in range(1, total + 1)]
    return text_of(lines, has_newline)


@given(LINES, LINES, st.booleans(), st.booleans())
def test_a_diff_says_completely_what_changed(
    old: list[str], new: list[str], old_ends: bool, new_ends: bool
) -> None:
    before, after = text_of(old, old_ends), text_of(new, new_ends)
    diff = numbered_diff(before, after)
    assert (diff == "") == (before == after)
    if before and after and before.endswith("\n") == after.endswith("\n"):
        assert patched(before, diff) == after


@given(LINES, LINES)
def test_runs_of_equal_lines_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    a = b = -1
    for i, j, length in equal_runs(old, new):
        assert length > 0
        assert i > a or j > b
        assert i >= a
        assert j >= b
        assert old[i : i + length] == new[j : j + length]
        a, b = i + length, j + length


def test_lines_are_numbered_with_two_around_each_change_and_gaps() -> None:
    before = "\n".join(f"l{n}" for n in range(1, 21)) + "\n"
    after = before.replace("l5\n", "five\nmore\n").replace("l15\n", "")
    assert numbered_diff(before, after).split("\n") == [
        " 1|...",
        " 3|l3",
        " 4|l4",
        "-5|l5",
        "+5|five",
        "+6|more",
        " 6|l6",
        " 7|l7",
        " 8|...",
        " 13|l13",
        " 14|l14",
        "-15|l15",
        " 16|l16",
        " 17|l17",
        " 18|...",
    ]


def test_a_single_line_is_shown_and_not_left_out() -> None:
    assert numbered_diff("a\nb\nc\nd\n", "a\nb\nc\nD\n").startswith(" 1|a\n 2|b\n")


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a", "a\n", ["-1|a", NO_NEWLINE, "+1|a"]),
        ("a\nb\n", "a\nb", [" 1|a", "-2|b", "+2|b", NO_NEWLINE]),
        ("", "a\n", ["+1|a"]),
        ("a\n", "", ["-1|a"]),
    ],
)
def test_the_end_of_the_file_is_told(before: str, after: str, shown: list[str]) -> None:
    assert numbered_diff(before, after).split("\n") == shown


def test_a_change_in_many_equal_lines_shows_that_change_alone() -> None:
    before = "x\n" * 5000
    after = "x\n" * 2500 + "y\n" + "x\n" * 2499
    changed = [row for row in numbered_diff(before, after).split("\n") if row[0] != " "]
    assert changed == ["-2501|x", "+2501|y"]


def test_moved_blocks_keep_their_lines_together() -> None:
    before = [f"line {n}" for n in range(300)]
    after = before[100:] + before[:100]
    assert equal_runs(before, after) == [(100, 0, 200)]

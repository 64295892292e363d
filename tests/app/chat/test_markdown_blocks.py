"""Where the finished part of a growing text ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.markdown_blocks import closed_length


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("", ""),
        ("A line", ""),
        ("A line\n", ""),
        ("A line\nand more\n\n", "A line\nand more\n\n"),
        ("One\n\nTwo", "One\n\n"),
        ("```py\na = 1\n\nb = 2\n", ""),
        ("```py\na = 1\n\nb = 2\n```\n", "```py\na = 1\n\nb = 2\n```\n"),
        ("````\n```\n````\nrest", "````\n```\n````\n"),
        ("- one\n\n- two\n\n", ""),
        ("- one\n\n- two\n\nProse goes on", "- one\n\n- two\n\n"),
        ("1. one\n2. two\n\nPro", ""),
        ("1. one\n\n   still one\n\n", ""),
        ("> quote\n\nProse\n", "> quote\n\n"),
        ("Prose\n\n- item\n", "Prose\n\n"),
    ],
)
def test_blocks_close_where_nothing_can_change_them(text: str, closed: str) -> None:
    assert text[: closed_length(text)] == closed


LINES = st.sampled_from(
    [
        "",
        "word",
        "- item",
        "  more",
        "1. one",
        "> said",
        "```",
        "~~~",
        "# Head",
        "    code",
        "| a |",
    ]
)


@given(st.lists(LINES, max_size=14))
def test_what_is_closed_stays_closed_as_the_text_grows(lines: list[str]) -> None:
    text = "\n".join(lines)
    closed = 0
    for end in range(len(text) + 1):
        length = closed_length(text[:end])
        assert closed <= length <= end
        closed = length

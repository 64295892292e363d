from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.terminal.cells import (
    BOLD,
    INVERSE,
    background_of,
    flags_of,
    foreground_of,
    palette,
    true_color,
)
from app.terminal.emulator import BRACKETED_PASTE, Emulator
from app.terminal.rendition import styled
from app.terminal.screen import SCROLLBACK
from app.terminal.selection import Place, Selection


def shown(emulator: Emulator) -> list[str]:
    return [row.string() for row in emulator.screen.rows]


def fed(text: str, columns: int = 10, lines: int = 4) -> Emulator:
    emulator = Emulator(columns, lines)
    emulator.feed(text.encode())
    return emulator


def test_text_wraps_at_the_edge_and_scrolls_into_the_history() -> None:
    emulator = fed("abcdefghijkl\r\n1\r\n2\r\n3")

    assert shown(emulator) == ["kl", "1", "2", "3"]
    assert [row.string() for row in emulator.screen.history] == ["abcdefghij"]


def test_a_pending_wrap_waits_for_the_next_character() -> None:
    assert shown(fed("abcdefghij\rX"))[0] == "Xbcdefghij"


def test_another_width_joins_and_wraps_lines_anew() -> None:
    emulator = fed("abcdefghijklmno\r\n$ ")

    emulator.screen.resize(20, 4)
    assert shown(emulator)[:2] == ["abcdefghijklmno", "$"]
    assert (emulator.screen.cursor.line, emulator.screen.cursor.column) == (1, 2)
    emulator.screen.resize(5, 4)
    assert shown(emulator) == ["abcde", "fghij", "klmno", "$"]


def test_a_program_that_has_the_screen_to_itself_leaves_what_was_there() -> None:
    emulator = fed("before\x1b[?1049h\x1b[2J\x1b[Hinside")
    assert shown(emulator)[0] == "inside"

    emulator.screen.resize(6, 3)
    emulator.feed(b"\x1b[?1049l")

    assert shown(emulator)[0] == "before"
    assert not emulator.screen.history


def test_lines_scroll_inside_a_region_alone() -> None:
    emulator = fed("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\n")

    assert shown(emulator) == ["a", "c", "", "d"]


def test_wide_characters_and_marks_keep_their_cells() -> None:
    row = fed("日e\u0301x").screen.rows[0]

    assert row.text[:4] == ["日", "", "e\u0301", "x"]


def test_half_of_a_wide_character_does_not_stay() -> None:
    assert fed("日本\x1b[1;2Hx").screen.rows[0].text[:4] == [" ", "x", "本", ""]


def test_line_drawing_and_repetition() -> None:
    assert shown(fed("\x1b(0lqk\x1b(B-\x1b[3b"))[0] == "┌─┐----"


def test_sequences_that_come_in_pieces_are_put_together() -> None:
    emulator = Emulator(10, 2)
    for piece in (b"\xe6", b"\x97\xa5", b"\x1b", b"[3", b"1mx", b"\x1b]0;na", b"me\x07y"):
        emulator.feed(piece)

    assert shown(emulator)[0] == "日xy"
    assert foreground_of(emulator.screen.rows[0].styles[2]) == palette(1)
    assert emulator.title == "name"


def place(emulator: Emulator) -> tuple[int, int]:
    return emulator.screen.cursor.line, emulator.screen.cursor.column


_PIECES = st.one_of(
    st.binary(max_size=12),
    st.text(max_size=6).map(str.encode),
    st.builds(
        lambda numbers, final: f"\x1b[{numbers}{final}".encode(),
        st.from_regex(r"\??[0-9;:]{0,9}", fullmatch=True),
        st.sampled_from("ABCDEFGHJKLMPSTXZ@bcdfghlmnrsu`"),
    ),
    st.sampled_from([b"\x1bM", b"\x1bc", b"\x1b]0;t\x07", b"\x1bP+q\x1b\\", b"\r\n", b"\t"]),
)


@given(printed=st.lists(_PIECES, max_size=20).map(b"".join), cuts=st.lists(st.integers(0, 200)))
def test_it_does_not_matter_where_what_is_printed_is_cut(printed: bytes, cuts: list[int]) -> None:
    whole, pieces = Emulator(9, 4), Emulator(9, 4)
    whole.feed(printed)
    places = [0, *sorted(min(cut, len(printed)) for cut in cuts), len(printed)]
    for start, end in pairwise(places):
        pieces.feed(printed[start:end])

    assert [(row.text, row.styles) for row in pieces.screen.rows] == [
        (row.text, row.styles) for row in whole.screen.rows
    ]
    assert place(pieces) == place(whole)
    assert (pieces.title, pieces.modes) == (whole.title, whole.modes)


def test_other_strings_are_left_out() -> None:
    assert shown(fed("a\x1bP$qm\x1b\\b\x1b_x\x1b\\c\x1b[>4;2md"))[0] == "abcd"


def test_programs_are_answered_within_bounds() -> None:
    emulator = fed("ab\x1b[6n\x1b[c\x1b]11;?\x07")

    assert emulator.answers[:2] == ["\x1b[1;3R", "\x1b[?62;22c"]
    assert emulator.answers[2].startswith("\x1b]11;rgb:")
    emulator.feed(b"\x1b[c" * 100_000)
    assert sum(map(len, emulator.answers)) < 10_000


def test_the_history_is_bounded_and_lines_keep_their_numbers() -> None:
    emulator = Emulator(10, 2)
    emulator.feed(b"".join(b"%d\r\n" % number for number in range(SCROLLBACK + 100)))
    screen = emulator.screen

    assert len(screen.history) == SCROLLBACK
    assert screen.line(screen.first_line).string() == str(screen.first_line)


@pytest.mark.parametrize(
    ("parameters", "ink", "ground", "flags"),
    [
        ("1;31", palette(1), 0, BOLD),
        ("97;104", palette(15), palette(12), 0),
        ("38;5;208;7", palette(208), 0, INVERSE),
        ("38;2;1;2;3;48;5;9", true_color(1, 2, 3), palette(9), 0),
        ("38:2::1:2:3", true_color(1, 2, 3), 0, 0),
        ("38;5", 0, 0, 0),
        ("1;31;0", 0, 0, 0),
    ],
)
def test_colours(parameters: str, ink: int, ground: int, flags: int) -> None:
    style = styled(0, parameters)

    assert (foreground_of(style), background_of(style), flags_of(style)) == (ink, ground, flags)


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [
                    b"\x1b[",
                    b"\x1b[?1049h",
                    b"\x1b[?1049l",
                    b"\x1b[2;3r",
                    b"\x1b[99999999999A",
                    b"\x9b",
                    b"\x1b[L",
                    b"\x1b[M",
                    b"\x1b[P",
                    b"\x1b[@",
                    b"\xe6\x97\xa5",
                    b"\xcc\x81",
                    b"\x1b[4h",
                ]
            ),
            st.tuples(st.integers(0, 40), st.integers(0, 12)),
        ),
        max_size=30,
    )
)
def test_nothing_that_is_printed_breaks_the_screen(steps: list[bytes | tuple[int, int]]) -> None:
    emulator = Emulator(12, 5)
    for step in steps:
        if isinstance(step, bytes):
            emulator.feed(step)
        else:
            emulator.screen.resize(*step)
        screen = emulator.screen
        assert len(screen.rows) == screen.lines
        assert all(len(row.text) == len(row.styles) == screen.columns for row in screen.rows)
        assert 0 <= screen.cursor.line < screen.lines
        assert 0 <= screen.cursor.column < screen.columns


def test_what_is_marked_is_copied_as_it_was_written() -> None:
    emulator = fed("one two abcdefg\r\nlast")
    selection = Selection()

    selection.mark_line(emulator.screen, 0)
    assert selection.text(emulator.screen) == "one two abcdefg"
    selection.mark_word(emulator.screen, Place(0, 5))
    assert selection.text(emulator.screen) == "two"
    selection.anchor, selection.head = Place(2, 4), Place(1, 2)
    assert selection.text(emulator.screen) == "efg\nlast"


def test_modes_are_remembered_until_a_reset() -> None:
    emulator = fed("\x1b[?2004h")
    assert BRACKETED_PASTE in emulator.modes

    emulator.feed(b"\x1bc")
    assert BRACKETED_PASTE not in emulator.modes

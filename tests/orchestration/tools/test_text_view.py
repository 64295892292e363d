from __future__ import annotations

import re
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.selectors import Selection
from orchestration.tools.text_view import (
    MAX_LINE_BYTES,
    MAX_LINE_LENGTH,
    MAX_SHOWN,
    LineTooLong,
    TooMuch,
    show,
    tag,
)

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\ufeff"), max_size=20), max_size=12
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
# More than is gone through in one step.
REPEATS = st.sampled_from([1, 1, 1, 3000])


def plain_lines(text: str) -> list[str]:
    lines = re.split("\r\n|\n|\r", text.removeprefix("\ufeff"))
    return lines if lines[-1] else lines[:-1]


@given(LINES, ENDS, REPEATS, st.booleans(), st.booleans())
def test_lines_are_the_same_however_they_end(
    lines: list[str], end: str, repeats: int, mark: bool, final: bool
) -> None:
    text = end.join(lines * repeats) + (end if final else "")
    data = ("\ufeff" + text if mark else text).encode()
    expected = plain_lines(text)
    bare = show("f", data, Selection(((1, None),), raw=True), errors="strict").content
    assert bare == ("\n".join(expected) or bare)
    assert show("f", data, Selection(raw=True)).content.encode() == data
    last = show("f", data, Selection(((len(expected), None),), raw=True)) if expected else None
    assert last is None or last.content == expected[-1]


@given(LINES, ENDS, REPEATS, st.sampled_from(["", " ", "\t "]), st.booleans())
def test_the_tag_is_that_of_the_text_without_its_ends(
    lines: list[str], end: str, repeats: int, blanks: str, mark: bool
) -> None:
    normal = "\n".join(lines * repeats)
    written = end.join(line + blanks for line in lines * repeats)
    assert tag(("\ufeff" if mark else "") + written) == tag(normal)
    assert f"#{tag(normal)}\n" in show("f", normal.encode()).content


def test_the_tag_tells_texts_apart() -> None:
    texts = ["", "\n", "a", "a\n", "a\n\n", " a", "b", "a\nb", "b\na"]
    assert len({tag(text) for text in texts}) == len(texts)


@pytest.mark.parametrize("selection", [Selection(raw=True), Selection(((1, None),))])
def test_more_than_can_be_handed_on_is_refused(selection: Selection) -> None:
    with pytest.raises(TooMuch, match="ask for fewer lines"):
        show("f", b"x" * 99 + b"\n" * (MAX_SHOWN + 1), selection)


def test_where_the_text_does_not_decode_is_told_from_its_beginning() -> None:
    data = b"\xef\xbb\xbf" + b"line\n" * 50_000 + b"caf\xe9\n"
    with pytest.raises(UnicodeDecodeError) as caught:
        show("f", data, errors="strict")
    assert caught.value.start == len(data) - 2


@pytest.mark.parametrize("character", ["x", "ä", "€", "😀"])
@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
def test_a_very_long_line_is_shown_and_has_the_tag_of_its_text(character: str, before: str) -> None:
    text = before + character * (1 << 20)
    data = text.encode()
    shown = show("f", data, Selection(((1, 1),)))
    assert shown.content == f"¶f#{crc32(data) & 0xFFFF:04X}\n1:{text[:MAX_LINE_LENGTH]}…"
    part = text[: MAX_SHOWN // 4]
    assert show("f", part.encode(), Selection(raw=True)).content == part


def test_a_byte_that_is_no_text_is_found_in_a_very_long_line() -> None:
    for place in ((1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 7):
        data = b"x" * place + b"\xff" + b"x" * 100
        with pytest.raises(UnicodeDecodeError) as caught:
            show("f", data, errors="strict")
        assert caught.value.start == place


def test_a_line_longer_than_any_text_is_refused() -> None:
    with pytest.raises(LineTooLong, match="has a line of more than"):
        show("f", b"short\n" + b"x" * (MAX_LINE_BYTES + (1 << 17)))

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.file_text import FileText, NotText, Splice, normalise

LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
PIECES = st.one_of(
    LINE_ENDS,
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
ENCODINGS = st.sampled_from(
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ]
)


@st.composite
def text_files(draw: st.DrawFn) -> bytes:
    mark, encoding = draw(ENCODINGS)
    return mark + draw(TEXTS).encode(encoding)


@given(st.one_of(text_files(), st.binary(max_size=40)))
def test_what_decodes_is_put_together_again_byte_for_byte(data: bytes) -> None:
    try:
        text = FileText.decode(data)
    except NotText:
        return
    assert text.encode() == data
    assert "\r" not in text.text
    assert len(text.ends) == text.text.count("\n")
    assert "\n".join(text.lines) + ("\n" if text.has_final_newline else "") == text.text


@given(data=text_files(), new=TEXTS, draw=st.data())
def test_a_splice_changes_what_it_names_and_no_other_byte(
    data: bytes, new: str, draw: st.DataObject
) -> None:
    before = FileText.decode(data)
    start = draw.draw(st.integers(0, len(before.text)))
    end = draw.draw(st.integers(start, len(before.text)))
    after = before.spliced([Splice(start, end, new)])
    assert after.text == before.text[:start] + normalise(new) + before.text[end:]
    assert FileText.decode(after.encode()).text == after.text.removeprefix(
        "\ufeff" if not before.mark else ""
    )
    head, tail = before.text[:start].count("\n"), before.text[end:].count("\n")
    assert after.ends[:head] == before.ends[:head]
    kept = after.ends[len(after.ends) - tail :]
    was = before.ends[len(before.ends) - tail :]
    # An LF that would follow a CR directly becomes CRLF, or the two would be one line end.
    assert kept[1:] == was[1:]
    assert kept[:1] in (was[:1], ("\r\n",))


@given(text_files(), TEXTS)
def test_a_rewritten_file_has_the_new_text_and_the_ends_of_lines_that_stay(
    data: bytes, new: str
) -> None:
    before = FileText.decode(data)
    after = before.rewritten(new)
    assert after.text == normalise(new)
    assert len(after.ends) == after.text.count("\n")
    assert set(after.ends) <= {*before.ends, before.main_end, "\r\n"}
    assert before.rewritten(before.text) == before


def spliced(data: bytes, old: str, new: str) -> bytes:
    text = FileText.decode(data)
    start = text.text.index(old)
    return text.spliced([Splice(start, start + len(old), new)]).encode()


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"a\r\nb\nc\r\n", "b", "B", b"a\r\nB\nc\r\n"),
        (b"a\r\nb\nc\r", "a\nb\nc\n", "a\nc\n", b"a\r\nc\r"),
        (b"a\r\nb\nc", "b\nc", "b\nx\nc", b"a\r\nb\nx\nc"),
        (b"a\r\nb\r\n", "b", "b\nx\ny", b"a\r\nb\r\nx\r\ny\r\n"),
        (b"a\rb", "b", "b\nc", b"a\rb\rc"),
        (b"one", "one", "one\ntwo", b"one\ntwo"),
        (b"a\rb\nc", "b", "", b"a\r\r\nc"),
        (b"a\r\nb\nc\rd", "a\nb\nc\nd", "A\nb\nx\nc\nD", b"A\r\nb\nx\rc\rD"),
        (b"a\nb\r\nc\nd", "a\nb\nc\nd", "A\nb\nD", b"A\nb\r\nD"),
    ],
)
def test_new_line_ends_are_written_as_those_around_them(
    data: bytes, old: str, new: str, expected: bytes
) -> None:
    assert spliced(data, old, new) == expected


def test_many_splices_are_made_in_one_go() -> None:
    text = FileText.decode(b"a-b\r\na-b\na-b")
    places = [i for i, character in enumerate(text.text) if character == "-"]
    after = text.spliced([Splice(at, at + 1, "\n") for at in places])
    assert after.encode() == b"a\r\nb\r\na\nb\na\nb"


def test_splices_that_overlap_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="overlap"):
        FileText.new("abcd").spliced([Splice(0, 3, "x"), Splice(2, 4, "y")])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ab\xff\xfe", r"not UTF-8 text \(byte 2 of 4"),
        (b"\xff\xfea", "not UTF-16-LE text"),
        (b"a\0b", "a NUL at character 2"),
        ("hidden".encode("utf-16-le"), "NUL"),
        (b"\xed\xa0\x80", "does not decode"),
    ],
)
def test_what_is_no_text_is_refused_with_the_place(data: bytes, why: str) -> None:
    with pytest.raises(NotText, match=why):
        FileText.decode(data)


@pytest.mark.parametrize("new", ["\ud800", "\0"])
def test_what_no_text_file_can_hold_is_refused(new: str) -> None:
    with pytest.raises(NotText, match="cannot hold"):
        FileText.decode(b"a").spliced([Splice(0, 1, new)]).encode()

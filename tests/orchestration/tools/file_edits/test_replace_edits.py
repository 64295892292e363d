from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.replace_edits import NoPlace, Replacement, replaced
from orchestration.tools.file_edits.tolerant_tokens import token_form, tokens_of
from orchestration.tools.file_edits.transplant import transplanted


def edited(data: str | bytes, old: str, new: str, every: bool = False) -> bytes:
    file = FileText.decode(data.encode() if isinstance(data, str) else data)
    return replaced(file, Replacement(old, new, every)).text.encode()


def refused(data: str | bytes, old: str, new: str = "x", every: bool = False) -> str:
    with pytest.raises(NoPlace) as caught:
        edited(data, old, new, every)
    return f"{caught.value} - {caught.value.hint}"


# Word for word


@pytest.mark.parametrize("every", [False, True])
def test_lf_in_an_edit_matches_crlf_in_the_file(every: bool) -> None:
    assert edited(b"alpha\r\nbeta\r\ngamma", "alpha\nbeta", "A\nB", every) == b"A\r\nB\r\ngamma"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_in_an_edit_is_a_line_end(end: str) -> None:
    assert edited(b"a\r\nb\rc\n", f"a{end}b{end}c", f"A{end}b{end}C") == b"A\r\nb\rC\n"


def test_mixed_line_ends_stay_mixed() -> None:
    assert edited(b"a\r\nb\nc\r\n", "b", "B") == b"a\r\nB\nc\r\n"


def test_places_that_differ_in_line_ends_only_are_two() -> None:
    assert "2 times (lines 1, 4)" in refused(b"x\ny\nq\nx\r\ny\r\n", "x\ny")


def test_a_byte_order_mark_is_kept() -> None:
    assert edited(bytes.fromhex("efbbbf68690d0a"), "hi", "ho").hex() == "efbbbf686f0d0a"


def test_a_missing_final_newline_stays_missing() -> None:
    assert edited(b"line1\nline2", "line1", "LINE1") == b"LINE1\nline2"


def test_several_places_are_counted_and_named() -> None:
    said = refused("a\n" * 9, "a")
    assert "9 times (lines 1, 2, 3, 4, 5, ...)" in said
    assert "set all" in said


def test_places_that_overlap_are_several() -> None:
    assert "2 times" in refused("aaa", "aa")


def test_all_replaces_each() -> None:
    assert edited("a-a\na", "a", "aa", every=True) == b"aa-aa\naa"


@given(
    st.text("ab\n", max_size=30),
    st.text("ab\n", min_size=1, max_size=3),
    st.text("abc\n", max_size=3),
)
def test_all_is_plain_replacement_wherever_the_text_stands(text: str, old: str, new: str) -> None:
    if old in text:
        assert edited(text, old, new, every=True) == text.replace(old, new).encode()


# But for blanks and the like


def test_a_no_break_space_is_found_and_kept() -> None:
    before = "task list in\u00a0current\n"
    after = edited(before, "task list in current", "task list in new")
    assert after.decode() == "task list in\u00a0new\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (
            "say \u201chello\u201d now",
            'say "hello" now',
            'say "bye" now',
            "say \u201cbye\u201d now",
        ),
        ("it\u2019s 3\u20134", "it's 3-4", "it's 3-5", "it\u2019s 3\u20135"),
        ("zero\u200bwidth a", "zerowidth a", "zerowidth b", "zero\u200bwidth b"),
        ("cafe\u0301 noir", "caf\u00e9 noir", "caf\u00e9 blanc", "cafe\u0301 blanc"),
        ("\u3000x = 1", "  x = 1", "  x = 2", "\u3000x = 2"),
        ("a\u2028b c", "a b c", "a b d", "a\u2028b d"),
    ],
)
def test_characters_that_look_alike_are_found_and_kept(
    before: str, old: str, new: str, after: str
) -> None:
    assert edited(before, old, new).decode() == after


def test_inner_blanks_make_no_difference_and_stay() -> None:
    assert edited("x  =  f( a,b )\n", "x = f(a, b)", "x = f(a, c)") == b"x  =  f( a,c )\n"


def test_blanks_at_the_ends_of_lines_make_no_difference_and_stay() -> None:
    assert edited("a  \nb\t\nc\n", "a\nb\nc", "a\nB\nc") == b"a  \nB\t\nc\n"


def test_blanks_that_the_edit_names_are_changed() -> None:
    assert edited("x\u00a0= 1 ;\n", "x = 1 ;", "x = 1;") == b"x\xc2\xa0= 1;\n"


def test_tabs_are_found_for_spaces_and_new_lines_are_indented_as_the_file_is() -> None:
    before = "def f():\n\tif x:\n\t\treturn  1\n\treturn 2\n"
    old = "    if x:\n        return 1"
    new = "    if x:\n        y()\n        for z in q:\n            z()\n        return 1"
    after = "def f():\n\tif x:\n\t\ty()\n\t\tfor z in q:\n\t\t\tz()\n\t\treturn  1\n\treturn 2\n"
    assert edited(before, old, new).decode() == after


def test_another_depth_and_width_of_indentation_is_carried_over() -> None:
    before = "class A:\n  def f(self):\n    if x:\n      return 1\n"
    old = "if x:\n    return 1"
    new = "if x:\n    return 2\nelse:\n    return 3"
    after = "class A:\n  def f(self):\n    if x:\n      return 2\n    else:\n      return 3\n"
    assert edited(before, old, new).decode() == after


def test_a_line_that_the_edit_indents_is_indented_in_the_files_way() -> None:
    before = "\ta()\n\tb()\n"
    assert edited(before, "    a()\n    b()", "    if x:\n        a()\n    b()") == (
        b"\tif x:\n\t\ta()\n\tb()\n"
    )


def test_a_line_end_after_the_last_line_is_not_missed() -> None:
    assert edited("foo\nbar", "bar \n", "baz\n") == b"foo\nbaz"


def test_a_tolerant_match_must_be_the_only_one() -> None:
    said = refused("x  = 1\ny\nx   = 1\n", "x\t= 1")
    assert "2 places differ from it only in blanks, quotes or dashes (lines 1, 3)" in said


def test_of_several_the_one_with_the_same_blanks_is_meant() -> None:
    before = "f(a,\u00a0b)\nf(a,b)\n"
    assert edited(before, "f(a, b)", "f(a, c)").decode() == "f(a,\u00a0c)\nf(a,b)\n"


def test_all_replaces_each_tolerant_match_where_none_is_exact() -> None:
    assert edited("f( 1 )\nf(1  )\n", "f(1)", "f(2)", every=True) == b"f( 2 )\nf(2  )\n"


def test_all_leaves_what_is_not_word_for_word_where_something_is() -> None:
    assert edited("f(1)\nf( 1 )\n", "f(1)", "g", every=True) == b"g\nf( 1 )\n"


def test_part_of_a_word_is_not_a_tolerant_match() -> None:
    assert "not in the file" in refused("current  value", "rent value")


def test_a_blank_between_words_is_not_nothing() -> None:
    assert "not in the file" in refused("ab c", "a bc")


def test_a_fit_is_told() -> None:
    file = FileText.decode(b"a  b\n")
    assert replaced(file, Replacement("a b", "a c")).note.startswith("[line 1: matched but for")
    assert replaced(file, Replacement("a  b", "a c")).note == ""


# A word spelt otherwise

LONG = "    total = sum(item.price for item in basket if item.is_taxable)\n"


def test_a_misspelt_word_that_stands_nowhere_is_found_and_stays_as_the_file_has_it() -> None:
    old = LONG.replace("basket", "baskett")
    new = old.replace("price", "net")
    assert edited(f"a\n{LONG}b\n", old, new).decode() == f"a\n{LONG.replace('price', 'net')}b\n"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (LONG.replace("sum", "max"), "another word of the same length"),
        (LONG.replace("total", "total1"), "a digit"),
        (LONG.replace("=", "=="), "a sign"),
    ],
)
def test_what_may_be_meant_otherwise_is_not_taken_for_a_misspelling(wanted: str, why: str) -> None:
    assert "closest text is 9" in refused(f"{LONG}max\n", wanted, "x"), why


def test_an_edit_of_the_very_word_that_differs_is_refused() -> None:
    old = LONG.replace("basket", "baskett")
    assert "is another there" in refused(LONG, old, old.replace("baskett", "cart"))


def test_two_places_that_are_nearly_as_like_are_both_left_alone() -> None:
    old = LONG.replace("basket", "baskett")
    assert "not in the file" in refused(LONG + LONG.replace("price", "prize"), old, "x\n")


# What is told where nothing fits


def test_the_closest_text_is_named_with_line_and_likeness() -> None:
    said = refused("one\ndef f(a, b):\n    return a\n", "def f(a, b):\n    return b")
    assert (
        "% alike, at line 3: the file has `    return a` where old_text has `    return b`" in said
    )


def test_a_part_of_a_long_line_is_compared_with_its_part() -> None:
    said = refused("x" * 900 + " the quick brown fox " + "y" * 900, "the quack brown fox")
    assert "95% alike, at line 1" in said
    assert "quick" in said


def test_what_cannot_be_seen_is_named() -> None:
    said = refused("q\na\u00a0b", "q\na b c")
    assert "at line 2: the file has `a\u00a0b` where old_text has `a b c`" in said
    assert "column 2 has U+00A0 NO-BREAK SPACE in the file and U+0020 SPACE in old_text" in said


def test_lines_that_look_identical_get_a_hint_about_their_blanks() -> None:
    said = refused("\tfoo(1)\nbar\n\tfoo(1)\n", "    foo(1)")
    assert "line 1, where it differs only in blanks" in said
    assert "column 1 has U+0009 TAB in the file and U+0020 SPACE in old_text" in said


def test_copied_line_numbers_are_noticed() -> None:
    assert "leave out the line numbers" in refused("a\nb\n", "1:a\n2:b")


def test_an_empty_file_says_so() -> None:
    assert "the file is empty" in refused("", "a")


def test_an_edit_longer_than_the_file_is_answered() -> None:
    assert "% alike" in refused("a b\n", "a b\nc d\ne f\ng h\n")


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("ab" * 200_000, "ba" * 20_000 + "c"),
        ("a " * 200_000, "a  a"),
        ("a\n" * 200_000, "a \n" * 500),
        ("\u00e9\u0301" * 100_000, "\u00e9 \u00e9"),
        ("x y z\n" * 60_000, "x y w\n" * 399),
        ("(" * 300_000, "( " * 50_000 + "x"),
        ("".join(f"line {n}\n" for n in range(60_000)), "line 7\nlone 8\n"),
    ],
)
def test_a_hostile_text_is_answered_and_not_fought_with(text: str, old: str) -> None:
    """Anything that grows with the square of these would not come to an end."""
    assert refused(text, old)


# What holds for every change that is carried over

WORDS = st.sampled_from(["a", "b", "foo", "(", ")", "=", '"', "-"])
GAPS = st.sampled_from(["", " ", "  ", "\t", "\u00a0"])
LINES = st.lists(WORDS, max_size=5)


@st.composite
def written(draw: st.DrawFn, words: list[str]) -> str:
    """The words with any blanks that keep them apart."""
    line = draw(GAPS)
    for index, word in enumerate(words):
        gap = draw(GAPS)
        needs_gap = index > 0 and word.isalnum() and words[index - 1].isalnum()
        line += (gap or (" " if needs_gap else "")) + word
    return line + draw(GAPS)


@given(st.data(), st.lists(LINES, min_size=1, max_size=4), st.lists(LINES, min_size=1, max_size=4))
def test_a_change_carried_over_says_what_the_change_says(
    data: st.DataObject, old_words: list[list[str]], new_words: list[list[str]]
) -> None:
    own = [data.draw(written(words)) for words in old_words]
    old = [data.draw(written(words)) for words in old_words]
    new = [data.draw(written(words)) for words in new_words]
    result = transplanted(own, old, new)
    assert result is not None
    assert token_form("\n".join(result)) == token_form("\n".join(new))
    assert transplanted(own, old, old) == own
    assert transplanted(old, old, new) is not None


@given(st.data(), st.lists(LINES, min_size=1, max_size=4))
def test_a_text_is_found_whatever_its_blanks(data: st.DataObject, words: list[list[str]]) -> None:
    if not any(words[0]) or not any(words[-1]):
        return
    own = "\n".join(data.draw(written(line)) for line in words)
    old = "\n".join(data.draw(written(line)) for line in words)
    before = f"{{\n{own}\n}}\n"
    if old in before:
        return
    after = edited(before, old, f"{old} new_word").decode()
    assert token_form(after) == token_form(f"{{\n{old} new_word\n}}\n")


@given(st.text(max_size=20))
def test_tokens_and_gaps_make_up_the_line(text: str) -> None:
    line = text.replace("\n", "").replace("\r", "")
    tokens, tail = tokens_of(line)
    assert "".join(token.gap + token.text for token in tokens) + tail == line
    assert all(line[token.start : token.end] == token.text for token in tokens)

"""Operations do to lines what they say, all numbered by the lines before any of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.hashline_apply import splices_of
from orchestration.tools.file_edits.hashline_parse import Op, parse_hashline
from orchestration.tools.file_edits.hashline_rebase import Moved, rebased
from orchestration.tools.file_edits.line_splices import with_line_splices
from orchestration.tools.tool import ToolFailure


def ops_of(text: str) -> tuple[Op, ...]:
    (section,) = parse_hashline(f"¶f#0000\n{text}")
    return section.ops


def edited(before: str, text: str) -> str:
    return edited_with_warnings(before, text)[0]


def edited_with_warnings(before: str, text: str) -> tuple[str, tuple[str, ...]]:
    file = FileText.decode(before.encode())
    found = splices_of(file.lines, ops_of(text))
    return with_line_splices(file, found.splices).encode().decode(), found.warnings


def test_all_numbers_are_those_of_the_text_before() -> None:
    text = "delete 1\ninsert after 2:\n+x\nreplace 3..4:\n+C\ninsert head:\n+H\ninsert tail:\n+T"
    assert edited("a\nb\nc\nd\n", text) == "H\nb\nx\nC\nT\n"


def test_operations_may_come_in_any_order() -> None:
    assert edited("a\nb\nc\n", "delete 3\nreplace 1:\n+A") == "A\nb\n"


def test_inserts_at_one_place_keep_their_order() -> None:
    text = "insert after 1:\n+x\ninsert before 2:\n+y\ninsert after 1:\n+z"
    assert edited("a\nb\n", text) == "a\nx\ny\nz\nb\n"


def test_an_empty_file_has_a_head_and_a_tail() -> None:
    assert edited("", "insert tail:\n+t\ninsert head:\n+h") == "t\nh\n"


def test_a_missing_final_newline_and_each_line_end_stay() -> None:
    assert edited("a\r\nb\nc", "replace 2:\n+B\n+BB\ninsert tail:\n+d") == "a\r\nB\nBB\nc\nd"
    assert edited("a\r\nb\nc", "delete 3") == "a\r\nb"
    assert edited("a\r\na\n", "delete 1") == "a\n"


@pytest.mark.parametrize(
    "text",
    ["delete 4", "replace 3..4:\n+x", "insert before 4:\n+x", "insert after 4:\n+x"],
)
def test_no_operation_reaches_beyond_the_end(text: str) -> None:
    with pytest.raises(ToolFailure, match="is beyond the end: the file has 3 lines"):
        edited("a\nb\nc\n", text)


@pytest.mark.parametrize(
    "text",
    [
        "delete 1..2\ndelete 2..3",
        "delete 2\nreplace 2:\n+x",
        "replace 1..3:\n+x\ninsert after 2:\n+y",
        "replace 1..3:\n+x\ninsert before 3:\n+y",
        "delete 1..3\ninsert after 1:\n+y\ndelete 2",
    ],
)
def test_no_two_operations_touch_the_same_lines(text: str) -> None:
    with pytest.raises(ToolFailure, match="touch the same lines"):
        edited("a\nb\nc\n", text)


def test_inserts_at_the_edges_of_a_replacement_stand() -> None:
    text = "replace 2:\n+B\ninsert before 2:\n+x\ninsert after 2:\n+y"
    assert edited("a\nb\nc\n", text) == "a\nx\nB\ny\nc\n"


def test_rows_that_repeat_a_neighbour_are_left_out() -> None:
    before = "def compute(x):\n    y = x\n    return value(y)\n"
    text = "replace 2..2:\n+def compute(x):\n+    y = 2 * x\n+    return value(y)"
    after, warnings = edited_with_warnings(before, text)
    assert after == "def compute(x):\n    y = 2 * x\n    return value(y)\n"
    assert len(warnings) == 2
    assert (
        "the row at the first edge of 'replace 2..2:' only repeated what stands above"
        in (warnings[0])
    )
    assert "what stands below" in warnings[1]


def test_several_rows_that_repeat_their_neighbours_are_left_out() -> None:
    after, warnings = edited_with_warnings("abc\n{\n1\n}\nxyz\n", "replace 3:\n+abc\n+{\n+2")
    assert after == "abc\n{\n2\n}\nxyz\n"
    assert warnings[0].startswith("2 rows at the first edge")


def test_a_closing_bracket_too_many_is_left_out() -> None:
    assert edited("if (a) {\n  b();\n}\n", "replace 1..2:\n+if (c) {\n+  b();\n+}") == (
        "if (c) {\n  b();\n}\n"
    )


def test_a_closing_bracket_that_is_needed_stays() -> None:
    assert edited("if (a) {\nb();\n}\n", "replace 2:\n+if (b) {\n+c();\n+}") == (
        "if (a) {\nif (b) {\nc();\n}\n}\n"
    )


def test_lines_that_say_little_may_stand_twice() -> None:
    assert edited("a\nend\n", "replace 1:\n+b\n+end") == "b\nend\nend\n"
    assert edited("x\n\n", "replace 1:\n+y\n+") == "y\n\n\n"


def test_a_repetition_that_was_there_before_stays() -> None:
    before = "repeat_me_now\nrepeat_me_now\nx\n"
    assert (
        edited(before, "replace 2..3:\n+repeat_me_now\n+y") == "repeat_me_now\nrepeat_me_now\ny\n"
    )


def test_a_replacement_by_a_copy_of_its_neighbour_stays() -> None:
    assert edited("repeat_me_now\nx\n", "replace 2:\n+repeat_me_now") == (
        "repeat_me_now\nrepeat_me_now\n"
    )


def test_an_operation_moves_with_its_lines() -> None:
    base, live = list("abcdef"), list("xyabcdef")
    (op,) = rebased(base, live, ops_of("replace 3..4:\n+n"))
    assert (op.first, op.last) == (5, 6)
    (op,) = rebased(base, ["a", "b", "c", "d", "e"], ops_of("insert after 2:\n+n"))
    assert (op.first, op.last) == (2, 2)


@pytest.mark.parametrize(
    ("live", "op"),
    [
        ("abXdef", "replace 3:\n+n"),  # changed
        ("abdef", "replace 3:\n+n"),  # gone
        ("abcXef", "replace 3:\n+n"),  # the line after it changed
        ("aXcdef", "replace 3:\n+n"),  # the line before it changed
        ("abcXdef", "insert after 3:\n+n"),  # something else came to that place
        ("abcdefX", "delete 6"),  # it is the last line no more
        ("Xabcdef", "insert before 1:\n+n"),
        ("bcdabcdef", "delete 3"),  # two places look like it
    ],
)
def test_an_operation_whose_place_changed_does_not_move(live: str, op: str) -> None:
    with pytest.raises(Moved):
        rebased(list("abcdef"), list(live), ops_of(op))


def test_one_of_two_like_places_that_went_is_not_taken_for_the_other() -> None:
    with pytest.raises(Moved):
        rebased(list("1abc2abc3"), list("2abc3"), ops_of("delete 7"))


LINES = st.lists(st.sampled_from(["a", "b", "", " c", "}", "one two"]), max_size=8)
ROWS = st.lists(st.sampled_from(["n", "", "a"]), min_size=1, max_size=3)


@given(st.data(), LINES, st.booleans())
def test_operations_agree_with_a_list_of_lines(
    data: st.DataObject, lines: list[str], is_final: bool
) -> None:
    if lines and not is_final:
        lines = [*lines, "last"]
    before = "\n".join(lines) + ("\n" if is_final and lines else "")
    # The model: for each line what comes before it, and what it becomes; each line is used once.
    slots: list[list[str]] = [[] for _ in range(len(lines) + 1)]
    own: list[list[str]] = [[line] for line in lines]
    parts: list[str] = []
    at = 1
    while at <= len(lines):
        kind = data.draw(st.sampled_from(["keep", "delete", "replace", "before"]))
        last = data.draw(st.integers(at, min(at + 2, len(lines))))
        rows = data.draw(ROWS)
        text = "".join(f"+{row}\n" for row in rows)
        if kind == "delete":
            parts.append(f"delete {at}..{last}\n")
            own[at - 1 : last] = [[]] * (last - at + 1)
        elif kind == "replace":
            # Rows that are like no neighbour, so that none is taken for a repetition.
            parts.append(f"replace {at}..{last}:\n+new {at}\n{text}+end {at}\n")
            own[at - 1 : last] = [[f"new {at}", *rows, f"end {at}"], *[[]] * (last - at)]
        elif kind == "before":
            parts.append(f"insert before {at}:\n{text}")
            slots[at - 1] += rows
        at = last + 1
    if data.draw(st.booleans()):
        rows = data.draw(ROWS)
        parts.append("insert tail:\n" + "".join(f"+{row}\n" for row in rows))
        slots[-1] += rows
    if not parts:
        return
    expected = [line for slot, one in zip(slots, own, strict=False) for line in (*slot, *one)]
    expected += slots[-1]
    shuffled = data.draw(st.permutations(parts))
    after = edited(before, "".join(shuffled))
    ends_so = (is_final or not lines) and bool(expected)
    assert after == "\n".join(expected) + ("\n" if ends_so else "")


@given(st.data())
def test_carrying_over_never_undoes_what_others_did(data: st.DataObject) -> None:
    base = data.draw(st.lists(st.sampled_from("aabcde"), min_size=1, max_size=8))
    live = list(base)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(live)))
        live[at : data.draw(st.integers(at, min(at + 2, len(live))))] = data.draw(
            st.lists(st.sampled_from("aXYZ"), max_size=2)
        )
    first = data.draw(st.integers(1, len(base)))
    last = data.draw(st.integers(first, len(base)))
    ops = ops_of(f"replace {first}..{last}:\n+new")
    try:
        (op,) = rebased(base, live, ops)
    except Moved:
        return
    # What goes is what was meant to go, between the same neighbours, and all else stays.
    assert live[op.first - 1 : op.last] == base[first - 1 : last]
    assert live[: op.first - 1][-1:] == base[: first - 1][-1:]
    assert live[op.last :][:1] == base[last:][:1]

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.selectors import Selection, split_selector


@pytest.mark.parametrize(
    "path", ["C:\\x.txt", "C:/x.txt", "a", "a:", ":5", "a:0", "a:x", "a:1-b", "a:1,,2", "a:-3"]
)
def test_what_is_no_selector_stays_in_the_path(path: str) -> None:
    assert split_selector(path) == (path, None)


def test_a_drive_letter_and_a_selector() -> None:
    assert split_selector("C:\\x.txt:3-5") == ("C:\\x.txt", Selection(((3, 5),)))


def test_an_open_range_swallows_what_follows() -> None:
    assert split_selector("a:9,4-,7") == ("a", Selection(((4, None),)))


NUMBERS = st.integers(min_value=1, max_value=60)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_ranges_are_sorted_disjoint_and_cover_what_was_asked(pairs: list[tuple[int, int]]) -> None:
    _, selection = split_selector("f:" + ",".join(f"{a}-{b}" for a, b in pairs))
    assert selection is not None
    covered: list[int] = []
    for first, last in selection.ranges:
        assert last is not None
        covered.extend(range(first, last + 1))
    assert covered == sorted(set(covered))
    assert set(covered) == {n for a, b in pairs for n in range(a, max(a, b) + 1)}

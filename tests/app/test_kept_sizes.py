"""Sizes that are kept as words."""

from __future__ import annotations

import pytest

from app.panes import kept_sizes, size_words


def test_sizes_come_back_as_they_were_kept() -> None:
    assert kept_sizes(size_words([250, 600])) == (250, 600)


@pytest.mark.parametrize("words", ["", "250", "a b", "0 600", "-1 5", "1 2 3", "\u0661 2"])
def test_words_that_are_no_sizes_count_for_nothing(words: str) -> None:
    assert kept_sizes(words) is None

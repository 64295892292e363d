"""What was used up, as a person reads it."""

from __future__ import annotations

import pytest

from app.kit.formats import money_text, usage_texts


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0"),
        (0.00001, "< $0.0001"),
        (0.0042, "$0.0042"),
        (0.42, "$0.42"),
        (12.3, "$12.30"),
    ],
)
def test_money(dollars: float, text: str) -> None:
    assert money_text(dollars) == text


def test_what_is_unknown_is_left_out() -> None:
    assert usage_texts(34_000, 0.5) == ["34k tokens", "$0.50"]
    assert usage_texts(34_000, None) == ["34k tokens"]
    assert usage_texts(None, None) == []

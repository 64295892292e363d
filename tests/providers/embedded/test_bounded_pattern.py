"""Patterns that end and that a grammar understands."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.embedded.bounded_pattern import bounded_pattern
from tests.support.bounded_samples import sample_text

GRAMMAR = re.compile(r"\^[^$]*\$")


def atoms() -> st.SearchStrategy[str]:
    single = st.sampled_from(["a", "Z", "7", "-", "_", "é", r"\.", r"\-", r"\/", r"\\?b", "."])
    classes = st.sampled_from(
        [
            "[a-c]",
            "[^a-c]",
            r"[\w.-]",
            "[-+]",
            r"[^\s,]",
            r"\d",
            r"\w",
            r"\s",
            r"\S",
            r"\D",
            "[!-~]",
        ]
    )
    return single | classes


def patterns() -> st.SearchStrategy[str]:
    counts = st.sampled_from(["", "", "*", "+", "?", "+?", "{2}", "{1,}", "{0,3}", "{0}"])

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        groups = st.lists(inner, min_size=1, max_size=3).map("|".join)
        group = st.tuples(st.sampled_from(["(", "(?:"]), groups).map(lambda p: f"{p[0]}{p[1]})")
        counted = st.tuples(atoms() | group, counts).map("".join)
        return st.lists(counted, max_size=3).map("".join)

    bodies = st.recursive(atoms(), extend, max_leaves=6)
    ends = st.tuples(st.sampled_from(["", "^"]), bodies, st.sampled_from(["", "$"]))
    return ends.map("".join)


@given(patterns(), st.integers(0, 999))
def test_what_fits_the_bounded_pattern_fits_the_original(pattern: str, seed: int) -> None:
    bounded = bounded_pattern(pattern, 60)
    if bounded is None:
        return
    text = sample_text(bounded, Random(seed))

    assert re.fullmatch(bounded, text)
    assert re.search(pattern, text), (bounded, text)
    assert not re.search(r'["\\\x00-\x1f]', text)


@given(patterns())
def test_nothing_in_a_bounded_pattern_goes_on_for_ever(pattern: str) -> None:
    bounded = bounded_pattern(pattern, 60)
    if bounded is None:
        return
    outside_classes = re.sub(r"\[(\\.|[^\]])*\]", "", bounded)

    assert GRAMMAR.fullmatch(bounded)
    assert not re.search(r"[*+?.]|,\}", outside_classes)


@pytest.mark.parametrize(
    ("pattern", "longest"),
    [("^a+$", 24), ("^(a+b+)+$", 60), (r"^(\w+\s?)*$", 60), ("^a{50}$", 50), ("^[a-z]{0,90}$", 24)],
)
def test_a_match_stays_short_where_the_pattern_allows_it(pattern: str, longest: int) -> None:
    bounded = bounded_pattern(pattern, 60)
    assert bounded is not None

    assert re.fullmatch(bounded, "a" * longest) or longest == 60
    assert not re.fullmatch(bounded, "ab" * 60)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("abc", "abc"),
        (r"^\d{4}-\d{2}$", "2026-11"),
        ("^(Low|High)$", "High"),
        ("Low|High", "Low"),
        ("^[A-Z]{2,5}-[0-9]+$", "OF-12"),
        (r"^v\d+\.\d+(-(alpha|beta))?$", "v1.2-beta"),
        ("^(a|)b$", "b"),
    ],
)
def test_common_patterns_keep_their_sense(pattern: str, text: str) -> None:
    bounded = bounded_pattern(pattern, 60)

    assert bounded is not None
    assert re.fullmatch(bounded, text)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b",
        "(?!a)b",
        "(?<name>a)",
        r"\bword\b",
        r"(a)\1",
        "[",
        "a{",
        "a**",
        '^"$',
        "(",
        "[z-a]",
    ],
)
def test_what_cannot_be_rewritten_is_told(pattern: str) -> None:
    assert bounded_pattern(pattern, 60) is None

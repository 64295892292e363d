from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.globs import BadGlob, Glob


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "x/y/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/x/a.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/**", "src", False),
        ("src/**", "src/a", True),
        ("src/**", "src/a/b", True),
        ("**/a", "a", True),
        ("**/a", "x/y/a", True),
        ("x/**/a", "x/a", True),
        ("x/**/y/**/a", "x/1/y/2/3/a", True),
        ("x/**/y/**/a", "x/1/2/a", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[ab].txt", "b.txt", True),
        ("[!ab].txt", "b.txt", False),
        ("[^ab].txt", "c.txt", True),
        ("[]].txt", "].txt", True),
        ("{a,b/c}.txt", "b/c.txt", True),
        ("{a,{b,c}d}.txt", "cd.txt", True),
        ("{a,}b", "b", True),
        ("./src/./a*", "src/a1", True),
        ("*", ".hidden", True),
        ("A*", "a", False),
        ("*.(py)", "a.(py)", True),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected


def test_an_anchored_name_matches_only_where_it_stands() -> None:
    assert Glob("*.py", is_anchored=True).matches("a.py")
    assert not Glob("*.py", is_anchored=True).matches("x/a.py")


@pytest.mark.parametrize(
    "pattern", ["", "/", "./", "[", "a[!", "[]", "{", "a}", "{a}{", "{a,b}" * 7]
)
def test_what_means_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(BadGlob):
        Glob(pattern)


def test_a_pattern_of_many_stars_is_decided_at_once() -> None:
    assert not Glob("*a" * 60 + "b").matches("a" * 250)
    assert not Glob("**/a/" * 60 + "b").matches("/".join("a" * 120))


NAMES = st.text("ab.", min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
PARTS = st.one_of(
    st.just("**"), st.text("ab.*?", min_size=1, max_size=4).filter(lambda p: p != ".")
)


@given(PATHS, st.lists(PARTS, min_size=1, max_size=5))
def test_patterns_mean_what_the_plain_expression_means(path: str, parts: list[str]) -> None:
    pieces = []
    for at, part in enumerate(parts):
        is_last = at == len(parts) - 1
        if part == "**":
            pieces.append(".+" if is_last else "(?:[^/]+/)*")
        else:
            name = re.sub(r"\\\*+", "[^/]*", re.escape(part)).replace(r"\?", "[^/]")
            pieces.append(name + ("" if is_last else "/"))
    expected = re.fullmatch("".join(pieces), path) is not None
    assert Glob("/".join(parts), is_anchored=True).matches(path) is expected


@given(st.text(max_size=30), PATHS)
def test_any_text_is_a_pattern_or_is_refused(text: str, path: str) -> None:
    try:
        glob = Glob(text)
    except BadGlob:
        return
    assert glob.matches(path) in (True, False)

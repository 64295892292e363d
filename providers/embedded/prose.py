"""Patterns that make a small model write words.

Left alone between two quotes it falls for whatever stood between quotes in what it has read: file
names, numbers, code. A pattern of words keeps it at prose, and lets a text that has become too
long end between two words.
"""

from __future__ import annotations

_WORD = 13
"""Letters of the longest word."""

_LEAST_SENTENCE = 45
"""Below this many characters there is room for a name, not for a sentence."""


def prose_pattern(least: int, most: int) -> str | None:
    """A pattern for a short text of words, `None` where there is none.

    Args:
        least: how many characters each match must have at least.
        most: how many it may have at most.
    """
    if most < _LEAST_SENTENCE:
        return _name_pattern(least, most)
    # A capital and the rest of its word, then words with a comma or a space before, a full stop.
    words = (most - _WORD - 1) // (_WORD + 2)
    # The least that such a text can be long: a letter, then a space and a letter a word, a stop.
    fewest = max(2, -(-(least - 2) // 2))
    if fewest > words:
        return None
    return rf"^[A-Z][a-z]{{0,{_WORD - 1}}}(,? [a-z'-]{{1,{_WORD}}}){{{fewest},{words}}}\.$"


def _name_pattern(least: int, most: int) -> str | None:
    words = (most - _WORD) // (_WORD + 1)
    if least <= 1 and words >= 1:
        return rf"^[A-Z][a-z]{{0,{_WORD - 1}}}( [a-z'-]{{1,{_WORD}}}){{0,{words}}}$"
    if 1 <= least <= most <= _WORD:
        return rf"^[A-Z][a-z]{{{least - 1},{most - 1}}}$"
    if least <= _WORD <= most:
        return rf"^[A-Z][a-z]{{{max(least, 1) - 1},{_WORD - 1}}}$"
    return None

"""Patterns that make a small model write English prose.

Left alone between two quotes it falls for whatever stood between quotes in what it has read: file
names, numbers, names of people, other languages. So free text is held to words, has to begin as
English sentences do, and ends between two words where it has become too long.
"""

from __future__ import annotations

_LETTERS = 13
_LONGEST_WORD = _LETTERS + len("'ll")

# After an `i` that is not one of these letters the model loses its way in made-up words.
_WORD = rf"([a-hj-z]|i[dfmnst])[a-z]{{0,{_LETTERS - 2}}}('[a-z]{{1,2}})?"

_LEAST_SENTENCE = 60
"""Below this many characters there is room for a name, not for a sentence."""

# Few, and alike in their first letters: a letter that begins nothing else is a trap for a model
# that was about to write a name.
_OPENERS = (
    "The|A|An|This|These|It|They|We|You|People|Users|Everyone|There|When|If|With|On|For|To|First|"
    "Add|Ask|Use|Upload|Update|Test|Try|Take|Plan|Find|Fix|Write|Make|Create|Send|Show"
)
_LONGEST_OPENER = max(map(len, _OPENERS.split("|")))


def prose_pattern(least: int, most: int) -> str | None:
    """A pattern for a short text of words, `None` where there is none.

    Args:
        least: how many characters each match must have at least.
        most: how many it may have at most.
    """
    if most < _LEAST_SENTENCE:
        return _name_pattern(least, most)
    # An opener, words with a space or a comma and a space before them, a full stop.
    words = (most - _LONGEST_OPENER - 1) // (_LONGEST_WORD + 2)
    # The least that such a text can be long: a letter, then a space and a letter a word, a stop.
    fewest = max(2, -(-(least - 2) // 2))
    if fewest > words:
        return None
    return rf"^({_OPENERS}) {_WORD}(,? {_WORD}){{{fewest - 1},{words - 1}}}\.$"


def _name_pattern(least: int, most: int) -> str | None:
    words = (most - _LETTERS) // (_LONGEST_WORD + 1)
    if least <= 1 and words >= 1:
        return rf"^[A-Z][a-z]{{0,{_LETTERS - 1}}}( {_WORD}){{0,{words}}}$"
    if 1 <= least <= most <= _LETTERS:
        return rf"^[A-Z][a-z]{{{least - 1},{most - 1}}}$"
    if least <= _LETTERS <= most:
        return rf"^[A-Z][a-z]{{{max(least, 1) - 1},{_LETTERS - 1}}}$"
    return None

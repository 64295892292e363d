"""Characters beyond the basic plane that arrive in two halves.

A server that escapes its JSON may cut a stream between the halves of such a character.
"""

from __future__ import annotations

import re

_HALVES = re.compile("[\ud800-\udfff]")
_HIGH_LAST = re.compile("[\ud800-\udbff]\\Z")


def rejoined(text: str) -> str:
    """The text with halves that stand next to each other made into characters."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def without_halves(text: str) -> str:
    """The text with every half that has no other replaced by U+FFFD."""
    return _HALVES.sub("\ufffd", rejoined(text))


class HalfKeeper:
    """Passes text on and keeps a half back until the other one comes."""

    def __init__(self) -> None:
        self._kept = ""

    def pass_on(self, delta: str) -> str:
        """What can be passed on now."""
        text = self._kept + delta
        self._kept = ""
        if text.isascii():
            return text
        if _HIGH_LAST.search(text):
            self._kept, text = text[-1], text[:-1]
        return without_halves(text)

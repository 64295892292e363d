"""Keep tool calls that a model prints as text out of what people read.

Some models echo a call as `<tool_call>...</tool_call>` or as a fenced block named `tool_call`.
Such a block is never a call and never shown; a text that quotes the tag in backticks is.
"""

from __future__ import annotations

_TAG, _FENCE = "<tool_call", "```tool_call"
_CLOSER = {_TAG: "</tool_call>", _FENCE: "```"}
_OPENERS = (_TAG, _FENCE)
_LONGEST_OPENER = len(_FENCE)


class MarkupFilter:
    """Filters a text as it arrives; whatever the pieces, the same text comes out."""

    __slots__ = ("_before", "_closer", "_held")

    def __init__(self) -> None:
        self._held = ""
        self._closer = ""
        self._before = ""

    def feed(self, delta: str) -> str:
        """Give what may be shown after this piece; what might become markup is held back."""
        self._held += delta
        shown = ""
        while True:
            if self._closer:
                end = self._held.find(self._closer)
                if end < 0:
                    self._held = self._held[-(len(self._closer) - 1) :]
                    return shown
                self._release(end + len(self._closer))
                self._closer = ""
            start, opener = self._next_opener()
            if opener:
                shown += self._release(start)
                self._held = self._held[len(opener) :]
                self._closer = _CLOSER[opener]
                continue
            return shown + self._release(len(self._held) - _partial_opener(self._held))

    def close(self) -> str:
        """Give what was held back and turned out to be text, now that nothing more comes."""
        held, self._held = self._held, ""
        cut_off = self._closer or "t" in held
        return "" if cut_off else held

    def _release(self, length: int) -> str:
        released, self._held = self._held[:length], self._held[length:]
        if released:
            self._before = released[-1]
        return released

    def _next_opener(self) -> tuple[int, str]:
        found = [(self._find_tag(), _TAG), (self._held.find(_FENCE), _FENCE)]
        return min((hit for hit in found if hit[0] >= 0), default=(-1, ""))

    def _find_tag(self) -> int:
        start = self._held.find(_TAG)
        while start >= 0:
            before = self._held[start - 1] if start else self._before
            if before != "`":
                return start
            start = self._held.find(_TAG, start + 1)
        return -1


def strip_tool_markup(text: str) -> str | None:
    """Give `text` without printed tool calls and outer blanks; `None` where nothing is left.

    A block that was not closed swallows the rest, and so does one whose opening was cut off.
    """
    if _TAG[1:] in text or "t" in text[len(text) - _partial_opener(text) :]:
        markup = MarkupFilter()
        text = markup.feed(text) + markup.close()
    return text.strip() or None


def _partial_opener(text: str) -> int:
    """How long the longest end of `text` is that could go on to become an opener."""
    for length in range(min(_LONGEST_OPENER - 1, len(text)), 0, -1):
        tail = text[-length:]
        if any(opener.startswith(tail) and opener != tail for opener in _OPENERS):
            return length
    return 0

"""Valid replies of any kind, and the same replies in any other pieces."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from engine.vocabulary.tools import SUBMIT_TOOL
from providers.specs import Wire
from tests.support.sloppy_json import Draw
from tests.support.wire_scripts import Call, ChatScript, Event, MessagesScript, ResponsesScript

WHOLE = 1 << 30
WHOLE_SCRIPTS = {
    Wire.CHAT: ChatScript(WHOLE),
    Wire.RESPONSES: ResponsesScript(WHOLE),
    Wire.MESSAGES: MessagesScript(WHOLE),
}
NAMES = ("read", "write", SUBMIT_TOOL)

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)
_OBJECTS = st.dictionaries(st.text(max_size=6), _VALUES, max_size=4)


class Reply(Struct, frozen=True):
    """What a model says in one turn."""

    text: str
    thoughts: str
    calls: tuple[Call, ...]

    def events(self, wire: Wire) -> list[Event]:
        return WHOLE_SCRIPTS[wire].reply(text=self.text, thoughts=self.thoughts, calls=self.calls)


@st.composite
def replies(draw: st.DrawFn, *, least_calls: int = 0) -> Reply:
    """Any reply; its thoughts do not begin with the same words twice, as a replay would."""
    calls = []
    for number in range(draw(st.integers(least_calls, 3))):
        arguments = json.dumps(
            draw(_OBJECTS),
            ensure_ascii=draw(st.booleans()),
            indent=draw(st.sampled_from([None, 1])),
        )
        calls.append((f"call_{number}", draw(st.sampled_from(NAMES)), arguments))
    thoughts = draw(_TEXTS)
    half = len(thoughts) // 2
    if any(thoughts[: end * 2] == thoughts[:end] * 2 for end in range(1, half + 1)):
        thoughts = "x" + thoughts
    return Reply(draw(_TEXTS), thoughts, tuple(calls))


def in_pieces(events: list[Event], draw: Draw) -> list[Event]:
    """The same events with every streamed text in any number of pieces.

    A character beyond the basic plane may be cut in two halves.
    """
    found: list[Event] = []
    for event in events:
        holder, key = _streamed(event)
        if holder is None:
            found.append(event)
            continue
        units = holder[key].encode("utf-16-le", "surrogatepass")
        length = len(units) // 2
        cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
        for start, end in zip([0, *cuts], [*cuts, length], strict=True):
            part = copy.deepcopy(event)
            holder, key = _streamed(part)
            assert holder is not None
            piece = units[start * 2 : end * 2].decode("utf-16-le", "surrogatepass")
            holder[key] = piece
            found.append(part)
    return found


def _streamed(event: Event) -> tuple[Any, str]:
    """Where in an event a piece of text is, and its key there."""
    if str(event.get("type", "")).endswith(".delta"):
        return event, "delta"
    delta = event.get("delta")
    for choice in event.get("choices", ()):
        delta = choice["delta"]
    if not isinstance(delta, dict):
        return None, ""
    for call in delta.get("tool_calls", ()):
        return (call["function"], "arguments") if "id" not in call else (None, "")
    for key in ("content", "reasoning_content", "text", "thinking", "partial_json"):
        if delta.get(key):
            return delta, key
    return None, ""

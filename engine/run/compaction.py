"""Make a conversation shorter without losing anything: old results become a line that names them.

Only results of tools are ever replaced, whole turns of them, the oldest first. What a person or
the model said, calls with their arguments, the plan, and the last turns stay as they are. The
transcript itself is not changed: a request gets another view of it, and the whole result can be
read as an artifact.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from engine.run.feedback import PLAN_DRAFT_URI
from engine.run.token_estimate import estimate_item
from engine.vocabulary.effects import AsideText
from engine.vocabulary.messages import CallItem, ResultItem, TranscriptItem
from engine.vocabulary.tools import SEAL_PLAN_TOOL, ToolCall, ToolResult

LAST_TURNS = 3
"""So many turns of results stay whole if that is possible; one always does."""
TARGET_SHARE = 0.7
"""A conversation that does not fit is brought to this share of the room, not just below it.

So it is compacted seldom, and the beginnings of requests stay equal in between.
"""
SHARP_SHARE = 0.5

WORTH_IT = 40
"""So many tokens have to be saved by a line in place of a result."""

_EXCERPT_CHARS = 80


class Compacted(NamedTuple):
    """How far a conversation is compacted: all results before item `upto` that may be."""

    upto: int
    saved: int
    items: int


def room_in(window: int) -> int:
    """The tokens of a context window that a request may take, the rest being for the reply."""
    return window - min(window // 5, 16_384)


def compact(
    transcript: Sequence[TranscriptItem], sizes: Sequence[int], begun: int, surplus: int, last: int
) -> Compacted:
    """Find how far to compact so that `surplus` tokens are saved, or as many as can be.

    Args:
        transcript: the whole conversation.
        sizes: the tokens of each of its items.
        begun: how far it is compacted already.
        surplus: how many tokens are too many.
        last: how many turns of results at the end stay whole.
    """
    upto, saved, items = begun, 0, 0
    calls: dict[str, ToolCall] = {}
    for at in range(begun):
        _note_call(transcript[at], calls)
    at, end = begun, border(transcript, last)
    while at < end and saved < surplus:
        if not isinstance(transcript[at], ResultItem):
            _note_call(transcript[at], calls)
            at += 1
            continue
        # The results of one turn go together.
        before = saved
        while at < end and isinstance(item := transcript[at], ResultItem):
            gain = _gain(item, sizes[at], calls)
            saved += gain
            items += gain > 0
            at += 1
        if saved > before:
            upto = at
    return Compacted(upto, saved, items)


def border(transcript: Sequence[TranscriptItem], last: int) -> int:
    """Where the last turns begin: nothing from here on is compacted."""
    turns, at = 0, len(transcript)
    while at > 0:
        at -= 1
        if isinstance(transcript[at], ResultItem):
            turns += 1
            while at > 0 and isinstance(transcript[at - 1], ResultItem):
                at -= 1
            if turns == last:
                return at
    return 0


def _note_call(item: TranscriptItem, calls: dict[str, ToolCall]) -> None:
    if isinstance(item, CallItem):
        calls[item.call.id] = item.call


def _gain(item: ResultItem, size: int, calls: dict[str, ToolCall]) -> int:
    """What replacing a result saves; 0 where it is to stay."""
    if size < 2 * WORTH_IT or is_protected(item.result, calls.get(item.result.call_id)):
        return 0
    gain = size - estimate_item(summarised(item))
    return gain if gain >= WORTH_IT else 0


def is_protected(result: ToolResult, call: ToolCall | None) -> bool:
    """Whether a result stays whole at any age: the plan, and a person's reason for a denial."""
    if result.tool_name == SEAL_PLAN_TOOL:
        return True
    if result.content.startswith(f"{result.tool_name} was denied by the user."):
        return True
    path = None if call is None else call.arguments.get("path")
    return isinstance(path, str) and path.strip().startswith(PLAN_DRAFT_URI)


def view_of(
    transcript: Sequence[TranscriptItem], sizes: Sequence[int], upto: int
) -> list[TranscriptItem]:
    """The conversation as it is sent when it is compacted up to an item."""
    calls: dict[str, ToolCall] = {}
    seen: list[TranscriptItem] = []
    for at, item in enumerate(transcript):
        if at < upto:
            _note_call(item, calls)
            if isinstance(item, ResultItem) and _gain(item, sizes[at], calls):
                item = summarised(item)
        seen.append(item)
    return seen


def asides(
    transcript: Sequence[TranscriptItem], sizes: Sequence[int], begun: int, upto: int
) -> tuple[AsideText, ...]:
    """The results between two items that are not sent whole, to be kept by the host."""
    calls: dict[str, ToolCall] = {}
    found = []
    for at in range(upto):
        item = transcript[at]
        _note_call(item, calls)
        if at < begun or not isinstance(item, ResultItem) or not _gain(item, sizes[at], calls):
            continue
        result, kept = item.result, _artifact_of(item.result)
        content = result.content if kept is None else None
        found.append(
            AsideText(kept or artifact_id(result), result.tool_name, result.call_id, content)
        )
    return tuple(found)


def summarised(item: ResultItem) -> ResultItem:
    """One line in place of a result: what it was, how it began, and where the whole is."""
    result = item.result
    kept = _artifact_of(result) or artifact_id(result)
    text = result.content
    begins = " ".join(text[: _EXCERPT_CHARS * 2].split())[:_EXCERPT_CHARS]
    line = (
        f"[put aside to save context: {len(text)} characters of {result.tool_name}, "
        f"beginning with {begins!r}; read artifact:{kept} for the whole]"
    )
    return ResultItem(msgspec.structs.replace(result, content=line, output_meta=None))


def _artifact_of(result: ToolResult) -> str | None:
    """Where the host has put the whole output already, if it has."""
    meta = result.output_meta
    if meta is None or meta.truncation is None or not result.artifact_ids:
        return None
    return result.artifact_ids[-1]


def artifact_id(result: ToolResult) -> str:
    """The id under which a result is put aside: the same whenever it is asked for."""
    digest = blake2b(
        f"{result.call_id}\0{result.content}".encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()
    parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:])
    return "-".join(parts)

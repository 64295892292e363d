"""See to it that an actor's request fits its model, at the cost of what is new in it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.run.compaction import (
    LAST_TURNS,
    SHARP_SHARE,
    TARGET_SHARE,
    WORTH_IT,
    Compacted,
    asides,
    border,
    compact,
    room_in,
    view_of,
)
from engine.run.state import NodeState
from engine.run.token_estimate import (
    estimate_files,
    estimate_item,
    estimate_json,
    estimate_text,
    estimate_tools,
)
from engine.vocabulary.effects import AsideText
from engine.vocabulary.events import ContextCompacted
from engine.vocabulary.messages import ResultItem, TranscriptItem, TranscriptView
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ToolDefinition

_SUBMIT_TOKENS = 150


class _Conversation:
    """What is known about the transcript of one actor; it follows from the state alone.

    `sizes` has the tokens of each item of the transcript, `total` those of what is sent of it.
    `sent` is what is sent where that is not the transcript itself. `is_kept`: all that was
    replaced in it is with the host. `large` has the places of results that nobody has tried to
    replace yet.
    """

    __slots__ = (
        "fixed",
        "fixed_for",
        "is_kept",
        "large",
        "sent",
        "sizes",
        "total",
        "transcript",
        "upto",
    )

    def __init__(self, transcript: list[TranscriptItem]) -> None:
        self.transcript = transcript
        self.sizes: list[int] = []
        self.total = 0
        self.sent: list[TranscriptItem] | None = None
        self.upto = 0
        self.is_kept = True
        self.large: list[int] = []
        self.fixed = 0
        self.fixed_for: tuple[object, ...] = ()

    def catch_up(self) -> None:
        """Take in what was said since the last request."""
        transcript, sizes = self.transcript, self.sizes
        for at in range(len(sizes), len(transcript)):
            item = transcript[at]
            size = estimate_item(item)
            sizes.append(size)
            self.total += size
            if size >= 2 * WORTH_IT and type(item) is ResultItem:
                self.large.append(at)
            if self.sent is not None:
                self.sent.append(item)

    def compact_to(self, upto: int) -> None:
        """Send all before an item in its compacted form."""
        self.sent = view_of(self.transcript, self.sizes, upto)
        self.upto = upto
        changed = zip(self.transcript, self.sent, self.sizes, strict=True)
        self.total = sum(
            size if sent is item else estimate_item(sent) for item, sent, size in changed
        )


class ContextKeeper:
    """Estimates and compacts the conversations of one run.

    A conversation is measured only where its model's window is known, or where it was compacted
    because a provider said so.
    """

    __slots__ = ("_conversations", "_tools", "_tools_tokens")

    def __init__(self) -> None:
        self._conversations: dict[str, _Conversation] = {}
        self._tools: Sequence[ToolDefinition] = ()
        self._tools_tokens = 0

    def fit(
        self, node: NodeState, request: AgentRequest
    ) -> tuple[AgentRequest, tuple[AsideText, ...], ContextCompacted | None]:
        """The request as it is to be sent, what is to be put aside first, and what to tell."""
        known = self._measured(node)
        told = None
        if node.window:
            before, room = known.total + self._fixed(known, request), room_in(node.window)
            if before > room:
                told = self._compact(node, known, before, room)
        if known.sent is None:
            return request, (), None
        put_aside: tuple[AsideText, ...] = ()
        if not known.is_kept:
            put_aside = asides(known.transcript, known.sizes, 0, known.upto)
            known.is_kept = True
        view = TranscriptView(known.sent)
        return msgspec.structs.replace(request, transcript=view), put_aside, told

    def sharpen(self, node: NodeState, request: AgentRequest) -> ContextCompacted | None:
        """Compact as a provider demands it; `None` if there is nothing left to compact."""
        known = self._measured(node)
        before = known.total + self._fixed(known, request)
        surplus = before - int(before * SHARP_SHARE)
        found = compact(known.transcript, known.sizes, known.upto, surplus, 1)
        return self._take(node, known, before, found)

    def _compact(
        self, node: NodeState, known: _Conversation, before: int, room: int
    ) -> ContextCompacted | None:
        """Compact to the target with the last turns whole, and further only if it must be."""
        found = Compacted(known.upto, 0, 0)
        if not known.large or known.large[0] >= (end := border(known.transcript, 1)):
            return None
        wanted = before - int(room * TARGET_SHARE)
        for last in range(LAST_TURNS, 0, -1):
            found = compact(known.transcript, known.sizes, known.upto, wanted, last)
            if before - found.saved <= room:
                break
            wanted = before - room
        else:
            # What is left of them stays: looking at it again each turn would find the same.
            known.large = [at for at in known.large if at >= end]
        return self._take(node, known, before, found)

    def _take(
        self, node: NodeState, known: _Conversation, before: int, found: Compacted
    ) -> ContextCompacted | None:
        if not found.items:
            return None
        node.compacted = found.upto
        known.compact_to(found.upto)
        known.is_kept = False
        return ContextCompacted(node.id, before, before - found.saved, found.items)

    def _measured(self, node: NodeState) -> _Conversation:
        known = self._conversations.get(node.id)
        if known is None or known.transcript is not node.transcript:
            known = self._conversations[node.id] = _Conversation(node.transcript)
        known.catch_up()
        if known.upto != node.compacted:
            # A restored run: the host may have ended before it had put everything aside.
            known.compact_to(node.compacted)
            known.is_kept = False
        return known

    def _fixed(self, known: _Conversation, request: AgentRequest) -> int:
        """The tokens of what stands before the transcript, and of the tools."""
        parts = known.fixed_for
        if (
            parts
            and request.input is parts[1]
            and request.available_tools is parts[2]
            and request.system_messages == parts[0]
        ):
            return known.fixed
        known.fixed_for = (request.system_messages, request.input, request.available_tools)
        known.fixed = (
            sum(map(estimate_text, request.system_messages))
            + estimate_text(request.task_prompt)
            + estimate_json(request.input)
            + estimate_json(request.output_schema)
            + estimate_files(request.attachments)
            + self._tools_of(request.available_tools)
            + _SUBMIT_TOKENS
        )
        return known.fixed

    def _tools_of(self, tools: Sequence[ToolDefinition]) -> int:
        if tools is not self._tools:
            self._tools, self._tools_tokens = tools, estimate_tools(tools)
        return self._tools_tokens

"""One reply in the making: text, reasoning, calls and token counts, the same for all wires."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from engine.vocabulary.messages import ModelTurn, ReasoningPart, Usage
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.tools import JsonObject, ToolDefinition
from providers.call_assembly import CallAssembly
from providers.surrogates import HalfKeeper
from providers.text_calls import printed_calls

_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "completed": "stop",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_SHORTEST_REPLAY = 16


class TurnBuilder:
    """Collects a reply and passes what may be shown on to the sink as it arrives."""

    def __init__(self, provider_id: str, sink: StreamSink | None = None) -> None:
        self.calls = CallAssembly()
        self.finish_reason: str | None = None
        self.usage: Usage | None = None
        self._provider_id = provider_id
        self._sink = sink
        self._text: list[str] = []
        self._text_halves = HalfKeeper()
        self._thoughts: dict[Any, _Thought] = {}
        self._opaque: list[JsonObject] = []

    def text(self, delta: Any) -> None:
        """A piece of the assistant's text; anything but text is ignored."""
        if not isinstance(delta, str) or not delta:
            return
        delta = self._text_halves.pass_on(delta)
        if delta:
            self._text.append(delta)
            if self._sink is not None:
                self._sink.text(delta)

    def thinking(self, delta: Any, *, segment: Any = 0, kind: str = "text") -> None:
        """A piece of reasoning that may be shown; one part is kept for each segment."""
        if not isinstance(delta, str) or not delta:
            return
        thought = self._thoughts.get(segment)
        if thought is None:
            thought = self._thoughts[segment] = _Thought(kind)
        delta = thought.add(delta)
        if delta and self._sink is not None:
            self._sink.thinking(delta)

    def opaque(self, data: JsonObject) -> None:
        """An object of the provider's own that has to go back to it unchanged."""
        self._opaque.append(data)

    def count(self, usage: Usage | None) -> None:
        """A report of tokens; the last one that says anything counts."""
        if usage is not None and (usage.prompt_tokens or usage.completion_tokens):
            self.usage = usage

    def end(self, reason: str) -> None:
        """The reply has ended, in the wire's own word for it.

        A later word does not take back that the limit was hit.
        """
        if self.finish_reason != "length":
            self.finish_reason = _FINISH_REASONS.get(reason.lower(), reason.lower())

    @property
    def has_ended(self) -> bool:
        """Whether the wire has said that the reply is over."""
        return self.finish_reason is not None

    @property
    def is_whole(self) -> bool:
        """Whether the reply holds anything, and no call without complete arguments."""
        return bool(self._text or self.calls) and all(slot.is_whole for slot in self.calls)

    @property
    def size(self) -> int:
        """Characters of text and arguments so far."""
        return sum(map(len, self._text)) + sum(slot.size for slot in self.calls)

    def has_thought(self, segment: Any) -> bool:
        """Whether this segment of the reasoning has come in pieces already."""
        return segment in self._thoughts

    def content_kinds(self) -> tuple[str, ...]:
        """What the reply holds, in words for an error."""
        kinds = {
            "text": bool(self._text),
            "reasoning": bool(self._thoughts or self._opaque),
            "calls": bool(self.calls),
        }
        return tuple(kind for kind, present in kinds.items() if present)

    def turn(self, offered: Collection[str], tools: Sequence[ToolDefinition]) -> ModelTurn:
        """The finished turn.

        Args:
            offered: names of all tools that the request offered.
            tools: the executable ones, which may also be called by printing a call.
        """
        text = "".join(self._text)
        reason = self.finish_reason or ""
        calls, cut_off = self.calls.wire_calls(offered, tools)
        truncated = cut_off or reason == "length"
        if not calls and not truncated:
            calls = list(printed_calls(text, tools))
            text = "" if calls else text
        if calls and reason == "stop":
            reason = "tool_calls"
        return ModelTurn(
            text=text,
            calls=tuple(calls),
            reasoning=self._reasoning(),
            usage=self.usage,
            finish_reason=reason,
            truncated=truncated,
        )

    def _reasoning(self) -> tuple[ReasoningPart, ...]:
        shown = [
            ReasoningPart(thought.kind, thought.text, self._provider_id)
            for thought in self._thoughts.values()
        ]
        kept = [
            ReasoningPart("opaque", provider_id=self._provider_id, data=data)
            for data in self._opaque
        ]
        return (*shown, *kept)


class _Thought:
    """One segment of reasoning; what a server sends once more from the start is dropped."""

    __slots__ = ("_halves", "_length", "_pieces", "kind")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._pieces: list[str] = []
        self._length = 0
        self._halves = HalfKeeper()

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, delta: str) -> str:
        delta = self._halves.pass_on(delta)
        if len(delta) >= self._length >= _SHORTEST_REPLAY and delta.startswith(self.text):
            delta = delta[self._length :]
        if delta:
            self._pieces.append(delta)
            self._length += len(delta)
        return delta


def token_count(report: Any, *path: str) -> int | None:
    """A number of tokens in a report, `None` where it is not said."""
    for name in path:
        report = report.get(name) if isinstance(report, dict) else None
    return report if isinstance(report, int) and not isinstance(report, bool) else None


def objects_in(value: Any) -> list[JsonObject]:
    """The objects of a list; whatever else is in it, or is there in its place, is passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

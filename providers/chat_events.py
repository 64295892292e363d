"""Reading a Chat Completions stream, chunk by chunk, or a whole completion at once."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import JsonObject
from providers.chat_mapping import CALL_EXTRAS, REASONING_DETAILS
from providers.errors import service_error
from providers.stream_parts import TurnBuilder, objects_in, token_count


class ChatReader:
    """Feeds chunks to a turn. Pieces that are not as they should be are passed over."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._details: list[JsonObject] = []
        self._extras: JsonObject = {}
        self._index: Any = None
        self._has_begun = False

    def feed(self, chunk: JsonObject) -> None:
        """Take a chunk.

        Raises:
            ServiceError: if it reports an error.
        """
        if chunk.get("error"):
            raise service_error(chunk["error"])
        self._builder.count(_usage(chunk.get("usage")))
        groq = chunk.get("x_groq")
        if isinstance(groq, dict):
            self._builder.count(_usage(groq.get("usage")))
        for choice in objects_in(chunk.get("choices")):
            if not self._has_begun:
                self._has_begun, self._index = True, choice.get("index")
            if choice.get("index") in (None, self._index):
                self._choice(choice)

    def feed_whole(self, completion: JsonObject) -> None:
        """Take a completion that came in one piece although a stream was asked for."""
        self.feed(completion)

    def close(self) -> None:
        """Add what has to go back to the service with the next request."""
        if self._details:
            self._builder.opaque({REASONING_DETAILS: self._details})
        if self._extras:
            self._builder.opaque({CALL_EXTRAS: self._extras})

    def _choice(self, choice: JsonObject) -> None:
        if choice.get("error"):
            raise service_error(choice["error"])
        self._builder.count(_usage(choice.get("usage")))
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._delta(delta)
        message = choice.get("message")
        if isinstance(message, dict):
            self._whole_message(message)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._builder.end(reason)

    def _whole_message(self, message: JsonObject) -> None:
        """Some servers end a stream with the whole message, some send nothing else."""
        if self._builder.content_kinds():
            calls = ("tool_calls", "function_call")
            message = {} if self._builder.calls else {name: message.get(name) for name in calls}
        self._delta(message)

    def _delta(self, delta: JsonObject) -> None:
        builder = self._builder
        builder.thinking(delta.get("reasoning_content") or delta.get("reasoning"))
        self._details += objects_in(delta.get("reasoning_details"))
        content = delta.get("content")
        if isinstance(content, list):
            for part in objects_in(content):
                self._content_part(part)
        else:
            builder.text(content)
        builder.text(delta.get("refusal"))
        calls = objects_in(delta.get("tool_calls"))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            calls.append({"index": 0, "function": legacy})
        for call in calls:
            self._call(call)

    def _content_part(self, part: JsonObject) -> None:
        if part.get("type") == "thinking":
            for thought in objects_in(part.get("thinking")):
                self._builder.thinking(thought.get("text"))
        else:
            self._builder.text(part.get("text"))

    def _call(self, call: JsonObject) -> None:
        function = call.get("function")
        if not isinstance(function, dict):
            function = {}
        index = call.get("index")
        slot = self._builder.calls.add(
            index if isinstance(index, int) else None,
            _text(call.get("id")),
            _text(function.get("name")),
            function.get("arguments"),
        )
        extra = call.get("extra_content")
        if extra and slot.call_id:
            self._extras[slot.call_id] = extra


def _usage(report: Any) -> Usage | None:
    """Token counts of a report; the prompt includes what came from the cache."""
    if not isinstance(report, dict):
        return None
    cached = token_count(report, "prompt_tokens_details", "cached_tokens")
    return Usage(
        prompt_tokens=token_count(report, "prompt_tokens"),
        completion_tokens=token_count(report, "completion_tokens"),
        total_tokens=token_count(report, "total_tokens"),
        cached_input_tokens=token_count(report, "prompt_cache_hit_tokens")
        if cached is None
        else cached,
        cache_creation_input_tokens=token_count(
            report, "prompt_tokens_details", "cache_write_tokens"
        ),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None

"""Reading a Messages stream, event by event, or a whole message at once."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import JsonObject
from providers.errors import service_error
from providers.stream_parts import TurnBuilder, token_count
from providers.surrogates import rejoined


class MessagesReader:
    """Feeds events to a turn. Thinking that the service signed is kept to go back to it."""

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._usage: JsonObject = {}
        self._thinking: dict[int, JsonObject] = {}
        self._inputs: dict[int, JsonObject] = {}
        self._blocks: dict[Any, int] = {}
        self._opened = 0
        self._handlers = {
            "message_start": self._started,
            "content_block_start": self._block_started,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stopped,
            "message_delta": self._message_delta,
            "error": self._failed,
        }

    def feed(self, event: JsonObject) -> None:
        """Take an event; those of an unknown type are passed over.

        Raises:
            ServiceError: if it reports an error.
        """
        handler = self._handlers.get(str(event.get("type")))
        if handler is not None:
            handler(event)

    def feed_whole(self, message: JsonObject) -> None:
        """Take a message that came in one piece although a stream was asked for."""
        if message.get("error"):
            raise service_error(message["error"])
        self._count(message.get("usage"))
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else []):
            if isinstance(block, dict):
                self._block_started({"index": index, "content_block": block})
                self._block_stopped({"index": index})
        self._end(message)

    def close(self) -> None:
        """End the blocks whose end did not come."""
        for key in [*self._thinking, *self._inputs]:
            self._end_block(key)

    def _started(self, event: JsonObject) -> None:
        message = event.get("message")
        if isinstance(message, dict):
            self._count(message.get("usage"))

    def _block_started(self, event: JsonObject) -> None:
        block = event.get("content_block")
        if not isinstance(block, dict):
            return
        # An index may be missing, or the same for all blocks: each start is a block of its own.
        self._opened += 1
        key = self._blocks[event.get("index")] = self._opened
        kind = block.get("type")
        if kind == "text":
            self._builder.text(block.get("text"))
        elif kind == "tool_use":
            call_id = block.get("id")
            slot = self._builder.calls.at(key, call_id if isinstance(call_id, str) else None)
            slot.add_name(str(block.get("name") or ""))
            if block.get("input"):
                self._inputs[key] = block["input"]
        elif kind == "thinking":
            self._thinking[key] = {
                "type": "thinking",
                "thinking": block.get("thinking") or "",
                "signature": block.get("signature") or "",
            }
            self._builder.thinking(block.get("thinking"), segment=key)
        elif kind == "redacted_thinking":
            self._builder.opaque(block)

    def _key(self, event: JsonObject) -> int:
        """The block of a piece: the one that began last under its index, or the last of all."""
        return self._blocks.get(event.get("index"), self._opened)

    def _block_delta(self, event: JsonObject) -> None:
        delta, key = event.get("delta"), self._key(event)
        if not isinstance(delta, dict):
            return
        kind = delta.get("type")
        if kind == "text_delta":
            self._builder.text(delta.get("text"))
        elif kind == "input_json_delta":
            self._builder.calls.at(key).add_arguments(delta.get("partial_json"))
        elif kind == "thinking_delta":
            self._builder.thinking(delta.get("thinking"), segment=key)
            self._think(key, "thinking", delta.get("thinking"))
        elif kind == "signature_delta":
            self._think(key, "signature", delta.get("signature"))

    def _think(self, key: int, field: str, piece: Any) -> None:
        block = self._thinking.setdefault(
            key, {"type": "thinking", "thinking": "", "signature": ""}
        )
        if isinstance(piece, str):
            block[field] += piece

    def _block_stopped(self, event: JsonObject) -> None:
        self._end_block(self._key(event))

    def _end_block(self, key: int) -> None:
        block = self._thinking.pop(key, None)
        if block is not None and block["signature"]:
            self._builder.opaque({**block, "thinking": rejoined(block["thinking"])})
        arguments = self._inputs.pop(key, None)
        if arguments is not None and not self._builder.calls.at(key).has_arguments:
            self._builder.calls.at(key).add_arguments(arguments)

    def _message_delta(self, event: JsonObject) -> None:
        self._count(event.get("usage"))
        delta = event.get("delta")
        if isinstance(delta, dict):
            self._end(delta)

    def _end(self, report: JsonObject) -> None:
        reason = report.get("stop_reason")
        if isinstance(reason, str) and reason:
            self._builder.end(reason)

    def _count(self, report: Any) -> None:
        """Counts are cumulative, and each report holds some of them only."""
        if isinstance(report, dict):
            for name, count in report.items():
                # Some gateways fill what they do not say with zeros.
                if count or name not in self._usage:
                    self._usage[name] = count
            self._builder.count(_usage(self._usage))

    def _failed(self, event: JsonObject) -> None:
        raise service_error(event)


def _usage(report: JsonObject) -> Usage:
    """Token counts; here the input does not include what came from or went to the cache."""
    fresh = token_count(report, "input_tokens")
    read = token_count(report, "cache_read_input_tokens")
    written = token_count(report, "cache_creation_input_tokens")
    completion = token_count(report, "output_tokens")
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=None if prompt is None or completion is None else prompt + completion,
        cached_input_tokens=read,
        cache_creation_input_tokens=written,
    )

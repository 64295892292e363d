"""Reading a Responses stream, event by event, or a whole response at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import JsonObject
from providers.call_assembly import CallSlot
from providers.errors import service_error
from providers.stream_parts import TurnBuilder, objects_in, token_count

_END_REASONS = {"completed": "stop", "cancelled": "cancelled"}


class ResponsesReader:
    """Feeds events to a turn.

    Servers leave out indices and some events, and repeat others: pieces are kept by the id of
    their item, and an item that comes whole at its end counts only where its pieces did not come.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._spoken: set[Any] = set()
        self._kept: set[Any] = set()
        self._ids_by_place: dict[Any, Any] = {}
        self._handlers: dict[str, Callable[[JsonObject], None]] = {
            "response.output_text.delta": self._text,
            "response.refusal.delta": self._text,
            "response.reasoning_summary_text.delta": self._summary,
            "response.reasoning_text.delta": self._reasoning,
            "response.output_item.added": self._item_added,
            "response.function_call_arguments.delta": self._arguments,
            "response.function_call_arguments.done": self._all_arguments,
            "response.output_item.done": self._item_done,
            "response.completed": self._ended,
            "response.incomplete": self._ended,
            "response.failed": self._ended,
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

    def feed_whole(self, response: JsonObject) -> None:
        """Take a response that came in one piece although a stream was asked for."""
        if response.get("error") and "output" not in response:
            raise service_error(response["error"])
        if isinstance(response.get("output"), list):
            self._ended({"response": response})

    def close(self) -> None:
        """There is nothing left to add."""

    def _text(self, event: JsonObject) -> None:
        self._spoken.add(event.get("item_id"))
        self._builder.text(event.get("delta"))

    def _summary(self, event: JsonObject) -> None:
        segment = (event.get("item_id"), event.get("summary_index"))
        self._builder.thinking(event.get("delta"), segment=segment, kind="summary")

    def _reasoning(self, event: JsonObject) -> None:
        segment = (event.get("item_id"), "text")
        self._builder.thinking(event.get("delta"), segment=segment)

    def _slot(self, item_id: Any, call_id: Any = None) -> CallSlot:
        return self._builder.calls.at(item_id, call_id if isinstance(call_id, str) else None)

    def _item_added(self, event: JsonObject) -> None:
        item = event.get("item")
        if isinstance(item, dict) and item.get("type") == "function_call":
            key = self._key(item, event)
            self._ids_by_place[event.get("output_index")] = key
            self._open(key, item)

    def _open(self, key: Any, item: JsonObject) -> None:
        if not self._builder.calls.knows(key):
            slot = self._slot(key, item.get("call_id"))
            slot.add_name(str(item.get("name") or ""))

    def _arguments(self, event: JsonObject) -> None:
        self._slot(self._key({}, event)).add_arguments(event.get("delta"))

    def _all_arguments(self, event: JsonObject) -> None:
        if isinstance(event.get("arguments"), str):
            self._slot(self._key({}, event)).set_arguments(event["arguments"])

    def _item_done(self, event: JsonObject) -> None:
        item = event.get("item")
        if isinstance(item, dict):
            self._whole_item(item, self._key(item, event))

    def _whole_item(self, item: JsonObject, key: Any) -> None:
        kind = item.get("type")
        if kind == "function_call":
            self._open(key, item)
            arguments = item.get("arguments")
            if isinstance(arguments, str) and arguments:
                self._slot(key).set_arguments(arguments)
            elif isinstance(arguments, dict):
                self._slot(key).add_arguments(arguments)
        elif kind == "reasoning":
            self._whole_reasoning(item, key)
        elif kind == "message" and key not in self._spoken:
            self._spoken.add(key)
            for part in objects_in(item.get("content")):
                self._builder.text(part.get("text") or part.get("refusal"))

    def _whole_reasoning(self, item: JsonObject, key: Any) -> None:
        for index, part in enumerate(objects_in(item.get("summary"))):
            segment = (item.get("id"), index)
            if not self._builder.has_thought(segment):
                self._builder.thinking(part.get("text"), segment=segment, kind="summary")
        # Without its encrypted content an item means nothing to a service that keeps nothing.
        if item.get("encrypted_content") and key not in self._kept:
            self._kept.add(key)
            self._builder.opaque(item)

    def _ended(self, event: JsonObject) -> None:
        response = event.get("response")
        if not isinstance(response, dict):
            response = {}
        self._builder.count(_usage(response.get("usage")))
        if response.get("error") or response.get("status") == "failed":
            raise service_error(response.get("error") or "the response failed")
        if not self._builder.content_kinds():
            for index, item in enumerate(objects_in(response.get("output"))):
                self._whole_item(item, item.get("id") or f"output {index}")
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        status = str(response.get("status") or "completed")
        self._builder.end(str(reason or _END_REASONS.get(status, status)))

    def _key(self, item: JsonObject, event: JsonObject) -> Any:
        """What the pieces of one item have in common."""
        place = event.get("output_index")
        return item.get("id") or event.get("item_id") or self._ids_by_place.get(place, place)

    def _failed(self, event: JsonObject) -> None:
        raise service_error(event)


def _usage(report: Any) -> Usage | None:
    """Token counts of a report; the input includes what came from the cache."""
    if not isinstance(report, dict):
        return None
    return Usage(
        prompt_tokens=token_count(report, "input_tokens"),
        completion_tokens=token_count(report, "output_tokens"),
        total_tokens=token_count(report, "total_tokens"),
        cached_input_tokens=token_count(report, "input_tokens_details", "cached_tokens"),
        cache_creation_input_tokens=token_count(
            report, "input_tokens_details", "cache_write_tokens"
        ),
    )

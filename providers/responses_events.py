"""Reading a Responses stream, event by event, or a whole response at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import JsonObject
from providers.call_assembly import CallAssembly, CallSlot
from providers.errors import service_error
from providers.stream_parts import TurnBuilder, objects_in, token_count

_END_REASONS = {"completed": "stop", "cancelled": "cancelled"}


class ResponsesReader:
    """Feeds events to a turn.

    Servers leave out indices and some events, and repeat others: an item that comes whole at its
    end counts only where its pieces did not come.
    """

    def __init__(self, builder: TurnBuilder) -> None:
        self._builder = builder
        self._spoken: set[Any] = set()
        self._kept: set[Any] = set()
        self._calls = _Calls(builder.calls)
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
        self._spoken |= {event.get("item_id"), *_places(event.get("output_index"))}
        self._builder.text(event.get("delta"))

    def _summary(self, event: JsonObject) -> None:
        segment = (event.get("item_id"), event.get("summary_index"))
        self._builder.thinking(event.get("delta"), segment=segment, kind="summary")

    def _reasoning(self, event: JsonObject) -> None:
        segment = (event.get("item_id"), "text")
        self._builder.thinking(event.get("delta"), segment=segment)

    def _item_added(self, event: JsonObject) -> None:
        item = event.get("item")
        if isinstance(item, dict) and item.get("type") == "function_call":
            self._calls.announced(item, event.get("output_index"))

    def _arguments(self, event: JsonObject) -> None:
        self._calls.slot_for_piece(event).add_arguments(event.get("delta"))

    def _all_arguments(self, event: JsonObject) -> None:
        if isinstance(event.get("arguments"), str):
            self._calls.slot_for_piece(event).set_arguments(event["arguments"])

    def _item_done(self, event: JsonObject) -> None:
        item = event.get("item")
        if isinstance(item, dict):
            self._whole_item(item, event.get("output_index"))

    def _whole_item(self, item: JsonObject, place: Any) -> None:
        kind = item.get("type")
        key = item.get("id") or place
        if kind == "function_call":
            slot = self._calls.finished(item, place)
            arguments = item.get("arguments")
            if isinstance(arguments, str) and arguments:
                slot.set_arguments(arguments)
            elif isinstance(arguments, dict) and not slot.has_arguments:
                slot.add_arguments(arguments)
        elif kind == "reasoning":
            self._whole_reasoning(item, key)
        elif kind == "message" and self._spoken.isdisjoint({None, item.get("id"), *_places(place)}):
            self._spoken |= {key, *_places(place)}
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
        self._read_output(objects_in(response.get("output")))
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        status = str(response.get("status") or "completed")
        self._builder.end(str(reason or _END_REASONS.get(status, status)))

    def _read_output(self, items: list[JsonObject]) -> None:
        """Take from the whole response what has not come in pieces."""
        kinds = self._builder.content_kinds()
        for index, item in enumerate(items):
            is_call = item.get("type") == "function_call"
            if not kinds or (is_call and "calls" not in kinds):
                self._whole_item(item, f"output {index}")

    def _failed(self, event: JsonObject) -> None:
        raise service_error(event)


def _places(place: Any) -> tuple[tuple[str, Any], ...]:
    return () if place is None else (("place", place),)


class _Calls:
    """Finds the call that an event belongs to.

    Ids of items are made up anew by some servers, missing or the same for all calls; the id of
    the call itself decides, then the item's, then its place, then what was announced last.
    """

    def __init__(self, calls: CallAssembly) -> None:
        self._calls = calls
        self._by_item: dict[Any, CallSlot] = {}
        self._by_call: dict[Any, CallSlot] = {}
        self._by_place: dict[Any, CallSlot] = {}
        self._last: CallSlot | None = None

    def announced(self, item: JsonObject, place: Any) -> CallSlot:
        """The call of an item that begins; the same one where it is announced once more."""
        slot = self._known(item)
        if slot is None and not item.get("call_id") and not item.get("id"):
            at_place = self._by_place.get(place) if place is not None else None
            slot = None if at_place is None or at_place.has_arguments else at_place
        return self._named(slot or self._opened(item, place), item)

    def finished(self, item: JsonObject, place: Any) -> CallSlot:
        """The call of an item that has come whole."""
        slot = self._known(item)
        if slot is None and not item.get("call_id"):
            slot = self._by_place.get(place) if place is not None else self._last
        return self._named(slot or self._opened(item, place), item)

    def slot_for_piece(self, event: JsonObject) -> CallSlot:
        """The call whose arguments an event carries."""
        item_id, place = event.get("item_id"), event.get("output_index")
        slot = self._by_item.get(item_id) if item_id else None
        if slot is None and place is not None:
            slot = self._by_place.get(place)
        return slot or self._last or self._opened({"id": item_id}, place)

    def _known(self, item: JsonObject) -> CallSlot | None:
        call_id, item_id = item.get("call_id"), item.get("id")
        if call_id and call_id in self._by_call:
            return self._by_call[call_id]
        slot = self._by_item.get(item_id) if item_id else None
        return None if slot is not None and call_id and slot.call_id else slot

    def _opened(self, item: JsonObject, place: Any) -> CallSlot:
        slot = self._last = self._calls.opened()
        if item.get("id"):
            self._by_item[item["id"]] = slot
        if place is not None:
            self._by_place[place] = slot
        return slot

    def _named(self, slot: CallSlot, item: JsonObject) -> CallSlot:
        call_id, name = item.get("call_id"), item.get("name")
        if isinstance(call_id, str) and call_id and not slot.call_id:
            slot.call_id = call_id
            self._by_call[call_id] = slot
        if isinstance(name, str) and not slot.has_name:
            slot.add_name(name)
        return slot


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

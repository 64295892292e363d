"""The same replies as each of the three wires streams them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from providers.specs import Wire
from tests.support.loopback import Answer, Part, json_answer, pieces, sse

Event = dict[str, Any]
Counts = tuple[int, int, int]
"""Tokens of the prompt (cached ones included), of the reply, and cached ones."""

Call = tuple[str, str, str]
"""The wire's id of a call, the tool's name and the text of the arguments."""

COUNTS: Counts = (120, 30, 20)


class WireScript(ABC):
    """Makes the replies of one wire, in pieces of so many characters."""

    wire: Wire

    def __init__(self, piece_size: int = 7) -> None:
        self._size = piece_size

    def _pieces(self, text: str) -> list[str]:
        return list(pieces(text, self._size))

    @abstractmethod
    def reply(
        self,
        *,
        text: str = "",
        calls: tuple[Call, ...] = (),
        thoughts: str = "",
        cut_by_limit: bool = False,
        counts: Counts | None = COUNTS,
    ) -> list[Event]:
        """The events of a reply, the last of which ends it."""

    @abstractmethod
    def error_event(self, message: str) -> Event:
        """An error in the middle of a stream, of the kind that passes."""

    @abstractmethod
    def asked_tools(self, body: Any) -> dict[str, Any]:
        """The schemas of the tools in a request by name."""

    @abstractmethod
    def asked_choice(self, body: Any) -> str | None:
        """The tool choice of a request: `required`, `auto` or nothing."""

    def asked_choice_word(self, body: Any) -> str:
        """The tool choice of a request, `one` where it names a tool."""
        choice = body.get("tool_choice")
        if isinstance(choice, dict) and {"name", "function"} & choice.keys():
            return "one"
        return self.asked_choice(body) or ""

    def answer(self, **reply: Any) -> Answer:
        """A whole stream."""
        return sse(*self.reply(**reply), done=self.wire is Wire.CHAT)

    def broken(self, end: Part | None, **reply: Any) -> Answer:
        """A stream without its end, and how it breaks off."""
        events: list[Any] = [e for e in self.reply(**reply) if not self.is_end(e)]
        return sse(*events, *([] if end is None else [end]))

    @abstractmethod
    def is_end(self, event: Event) -> bool:
        """Whether the event belongs to the end of a reply."""

    def refusal(self, status: int, message: str, code: str = "", **headers: str) -> Answer:
        """An error instead of a reply."""
        error = {"type": code or "some_error", "message": message, "code": code or None}
        return json_answer({"type": "error", "error": error}, status, **headers)


class ChatScript(WireScript):
    wire = Wire.CHAT

    def reply(
        self,
        *,
        text: str = "",
        calls: tuple[Call, ...] = (),
        thoughts: str = "",
        cut_by_limit: bool = False,
        counts: Counts | None = COUNTS,
    ) -> list[Event]:
        events = [self._chunk({"role": "assistant", "content": ""})]
        events += [self._chunk({"reasoning_content": piece}) for piece in self._pieces(thoughts)]
        events += [self._chunk({"content": piece}) for piece in self._pieces(text)]
        for index, (call_id, name, arguments) in enumerate(calls):
            head = {"index": index, "id": call_id, "type": "function"}
            events.append(
                self._chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
            )
            events += [
                self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
                for piece in self._pieces(arguments)
            ]
        reason = "length" if cut_by_limit else "tool_calls" if calls else "stop"
        events.append(self._chunk({}, reason))
        if counts is not None:
            prompt, reply, cached = counts
            usage = {
                "prompt_tokens": prompt,
                "completion_tokens": reply,
                "total_tokens": prompt + reply,
                "prompt_tokens_details": {"cached_tokens": cached},
            }
            events.append({"id": "c", "choices": [], "usage": usage})
        return events

    def is_end(self, event: Event) -> bool:
        choices = event["choices"]
        return not choices or choices[0]["finish_reason"] is not None

    def error_event(self, message: str) -> Event:
        return {"error": {"message": message, "code": 502}}

    def asked_tools(self, body: Any) -> dict[str, Any]:
        return {t["function"]["name"]: t["function"]["parameters"] for t in body["tools"]}

    def asked_choice(self, body: Any) -> str | None:
        choice: str | None = body.get("tool_choice")
        return choice

    @staticmethod
    def _chunk(delta: Event, reason: str | None = None) -> Event:
        return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


class ResponsesScript(WireScript):
    wire = Wire.RESPONSES

    def reply(
        self,
        *,
        text: str = "",
        calls: tuple[Call, ...] = (),
        thoughts: str = "",
        cut_by_limit: bool = False,
        counts: Counts | None = COUNTS,
    ) -> list[Event]:
        events: list[Event] = [
            {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}
        ]
        if thoughts:
            events += self._reasoning(thoughts)
        if text:
            item = {"type": "message", "id": "m1", "role": "assistant"}
            events.append({"type": "response.output_item.added", "item": {**item, "content": []}})
            events += [
                {"type": "response.output_text.delta", "item_id": "m1", "delta": piece}
                for piece in self._pieces(text)
            ]
            content = [{"type": "output_text", "text": text, "annotations": []}]
            events.append(
                {"type": "response.output_item.done", "item": {**item, "content": content}}
            )
        for index, call in enumerate(calls):
            events += self._call(index, *call)
        response: Event = {"id": "r", "status": "completed"}
        if cut_by_limit:
            response = {"id": "r", "status": "incomplete"}
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        if counts is not None:
            prompt, reply, cached = counts
            response["usage"] = {
                "input_tokens": prompt,
                "output_tokens": reply,
                "total_tokens": prompt + reply,
                "input_tokens_details": {"cached_tokens": cached},
            }
        events.append({"type": f"response.{response['status']}", "response": response})
        return events

    def is_end(self, event: Event) -> bool:
        return event["type"] in ("response.completed", "response.incomplete")

    def error_event(self, message: str) -> Event:
        return {"type": "error", "code": "server_error", "message": message}

    def asked_tools(self, body: Any) -> dict[str, Any]:
        return {tool["name"]: tool["parameters"] for tool in body["tools"]}

    def asked_choice(self, body: Any) -> str | None:
        choice: str | None = body.get("tool_choice")
        return choice

    def _reasoning(self, thoughts: str) -> list[Event]:
        item = {"type": "reasoning", "id": "rs1", "encrypted_content": "sealed"}
        summary = [{"type": "summary_text", "text": thoughts}]
        delta = {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs1",
            "summary_index": 0,
        }
        return [
            {"type": "response.output_item.added", "item": {**item, "summary": []}},
            *[{**delta, "delta": piece} for piece in self._pieces(thoughts)],
            {"type": "response.output_item.done", "item": {**item, "summary": summary}},
        ]

    def _call(self, index: int, call_id: str, name: str, arguments: str) -> list[Event]:
        item = {"type": "function_call", "id": f"fc{index}", "call_id": call_id, "name": name}
        at = {"item_id": f"fc{index}", "output_index": index}
        kind = "response.function_call_arguments.delta"
        return [
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": {**item, "arguments": ""},
            },
            *[{"type": kind, **at, "delta": piece} for piece in self._pieces(arguments)],
        ]


class MessagesScript(WireScript):
    wire = Wire.MESSAGES

    def reply(
        self,
        *,
        text: str = "",
        calls: tuple[Call, ...] = (),
        thoughts: str = "",
        cut_by_limit: bool = False,
        counts: Counts | None = COUNTS,
    ) -> list[Event]:
        usage: Event = {}
        if counts is not None:
            prompt, _, cached = counts
            usage = {"input_tokens": prompt - cached, "cache_read_input_tokens": cached}
        start = {"id": "m", "role": "assistant", "content": [], "usage": usage}
        events: list[Event] = [{"type": "message_start", "message": start}, {"type": "ping"}]
        blocks: list[tuple[Event, list[Event]]] = []
        if thoughts:
            deltas = [{"type": "thinking_delta", "thinking": p} for p in self._pieces(thoughts)]
            deltas.append({"type": "signature_delta", "signature": "signed"})
            blocks.append(({"type": "thinking", "thinking": ""}, deltas))
        if text:
            deltas = [{"type": "text_delta", "text": piece} for piece in self._pieces(text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for call_id, name, arguments in calls:
            deltas = [
                {"type": "input_json_delta", "partial_json": p} for p in self._pieces(arguments)
            ]
            head = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            blocks.append((head, deltas))
        for index, (block, deltas) in enumerate(blocks):
            at = {"index": index}
            events.append({"type": "content_block_start", **at, "content_block": block})
            events += [{"type": "content_block_delta", **at, "delta": d} for d in deltas]
            events.append({"type": "content_block_stop", **at})
        reason = "max_tokens" if cut_by_limit else "tool_use" if calls else "end_turn"
        end: Event = {"type": "message_delta", "delta": {"stop_reason": reason}}
        if counts is not None:
            end["usage"] = {"output_tokens": counts[1]}
        return [*events, end, {"type": "message_stop"}]

    def is_end(self, event: Event) -> bool:
        return event["type"] in ("message_delta", "message_stop")

    def error_event(self, message: str) -> Event:
        return {"type": "error", "error": {"type": "overloaded_error", "message": message}}

    def asked_tools(self, body: Any) -> dict[str, Any]:
        return {tool["name"]: tool["input_schema"] for tool in body["tools"]}

    def asked_choice(self, body: Any) -> str | None:
        choice = body.get("tool_choice")
        names = {"any": "required", "auto": "auto"}
        return None if choice is None else names[choice["type"]]


SCRIPTS: dict[Wire, WireScript] = {
    Wire.CHAT: ChatScript(),
    Wire.RESPONSES: ResponsesScript(),
    Wire.MESSAGES: MessagesScript(),
}


def submit_arguments(output: Any, message: str | None = None) -> str:
    """The arguments of a submit call as text."""
    return json.dumps({"output": output, "assistant_message": message})

"""A request's conversation in neutral form: who said what, each call with exactly one result."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from engine.vocabulary.messages import (
    AssistantMessage,
    Attachment,
    CallItem,
    Reasoning,
    ReasoningPart,
    ResultItem,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import JsonObject, ToolResult
from providers.wire_ids import WireIds
from providers.wire_json import encoded

CANCELLED = '{"error": "cancelled: this call was not carried out"}'
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_MAX_NAME = 64
_MAX_KEY = 64


class WireCallTurn(Struct, frozen=True):
    """A call that the model made, with the result that it got."""

    wire_id: str
    name: str
    arguments: JsonObject
    provider_call_id: str | None
    result: str
    is_error: bool

    @property
    def arguments_text(self) -> str:
        """The arguments as JSON text, never empty."""
        return encoded(self.arguments).decode()


class UserTurn(Struct, frozen=True):
    """Something that was said to the model."""

    text: str
    attachments: tuple[Attachment, ...] = ()


class AssistantTurn(Struct, frozen=True):
    """One reply of the model: what it thought, said and called, and what came back."""

    reasoning: tuple[ReasoningPart, ...] = ()
    text: str = ""
    calls: tuple[WireCallTurn, ...] = ()


Turn = UserTurn | AssistantTurn


def opening_text(request: AgentRequest) -> str:
    """The first thing that is said to the model: where it is, what to do, and with what."""
    given = request.input
    payload = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=2)
    return f"# {request.node_label}\n\n{request.task_prompt}\n\n## Input\n\n{payload}"


def system_text(request: AgentRequest) -> str:
    """All system messages as one text."""
    return "\n\n".join(request.system_messages)


def cache_key(request: AgentRequest) -> str:
    """What names the unchanging beginning of a node's requests, 64 characters at most."""
    key = f"{request.workflow_id}:{request.node_id}"
    return key if len(key) <= _MAX_KEY else hashlib.sha256(key.encode()).hexdigest()


def attachments_of(request: AgentRequest) -> tuple[Attachment, ...]:
    """Every file that the request refers to."""
    said = (item for item in request.transcript if isinstance(item, UserMessage))
    return (*request.attachments, *(file for item in said for file in item.attachments))


def conversation(request: AgentRequest, *, provider_id: str, id_length: int) -> Iterator[Turn]:
    """The turns of a request, the opening first.

    A reply's reasoning, text and calls form one turn, and the results follow their calls wherever
    they stand in the transcript. A call without a result was cancelled; a result without a call
    is dropped. Reasoning that belongs to another provider is left out.
    """
    yield UserTurn(opening_text(request), request.attachments)
    results = _results(request.transcript)
    ids = WireIds(id_length)
    for group in _groups(request.transcript):
        if isinstance(group, UserMessage):
            if group.content.strip() or group.attachments:
                yield UserTurn(group.content, group.attachments)
            continue
        turn = _assistant_turn(group, results, ids, provider_id)
        if turn.text or turn.calls:
            yield turn


def _results(items: Iterable[TranscriptItem]) -> dict[str, deque[ToolResult]]:
    results: defaultdict[str, deque[ToolResult]] = defaultdict(deque)
    for item in items:
        if isinstance(item, ResultItem):
            results[item.result.call_id].append(item.result)
    return results


def _groups(items: Iterable[TranscriptItem]) -> Iterator[UserMessage | list[TranscriptItem]]:
    """User messages, and what the model said in one go.

    A reply is over when a result follows, when something is said to the model, or when reasoning
    or text comes after calls or other text.
    """
    group: list[TranscriptItem] = []
    is_over = False
    for item in items:
        if isinstance(item, ResultItem):
            is_over = True
            continue
        if isinstance(item, UserMessage):
            if group:
                yield group
                group = []
            yield item
            continue
        if group and (is_over or _begins_reply(item, group)):
            yield group
            group = []
        is_over = False
        group.append(item)
    if group:
        yield group


def _begins_reply(item: TranscriptItem, group: list[TranscriptItem]) -> bool:
    if isinstance(item, CallItem):
        return False
    if isinstance(item, AssistantMessage):
        return any(isinstance(earlier, AssistantMessage | CallItem) for earlier in group)
    return any(not isinstance(earlier, Reasoning) for earlier in group)


def _assistant_turn(
    group: list[TranscriptItem],
    results: dict[str, deque[ToolResult]],
    ids: WireIds,
    provider_id: str,
) -> AssistantTurn:
    reasoning: list[ReasoningPart] = []
    text = ""
    calls: list[WireCallTurn] = []
    for item in group:
        if isinstance(item, Reasoning):
            reasoning += [part for part in item.parts if part.provider_id == provider_id]
        elif isinstance(item, AssistantMessage):
            text = item.content.strip()
        elif isinstance(item, CallItem):
            calls.append(_call_turn(item, results, ids))
    return AssistantTurn(tuple(reasoning), text, tuple(calls))


def _call_turn(item: CallItem, results: dict[str, deque[ToolResult]], ids: WireIds) -> WireCallTurn:
    call = item.call
    waiting = results.get(call.id)
    result = waiting.popleft() if waiting else None
    return WireCallTurn(
        wire_id=ids.new(call.id),
        name=_NOT_IN_NAMES.sub("_", call.name)[:_MAX_NAME] or "unnamed_tool",
        arguments=call.arguments,
        provider_call_id=call.provider_call_id,
        result=CANCELLED if result is None else result.content,
        is_error=result is None or result.is_error,
    )

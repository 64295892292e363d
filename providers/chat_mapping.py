"""From a request to the body of a Chat Completions request."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.messages import ReasoningPart
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import JsonObject
from providers.attachments import FilePart
from providers.conversation import (
    AssistantTurn,
    UserTurn,
    WireCallTurn,
    cache_key,
    system_text,
)
from providers.mapping import Body, MappingContext, without_nothing
from providers.quirks import Quirk
from providers.schemas import OfferedTool
from providers.specs import ReasoningStyle

CALL_EXTRAS = "call_extras"
REASONING_DETAILS = "reasoning_details"

_CHOICES = {True: "required", False: "auto", None: None}


def chat_body(request: AgentRequest, context: MappingContext) -> Body:
    """The body of a streamed request; files must have been read."""
    limit_field = context.spec.token_limit_field
    if Quirk.COMPLETION_TOKENS in context.quirks:
        limit_field = "max_completion_tokens"
    tools = [_tool(tool) for tool in context.tools(request)]
    return without_nothing(
        {
            "model": request.model,
            "messages": _messages(request, context),
            "tools": tools or None,
            "tool_choice": _CHOICES[context.requires_call(request)] if tools else None,
            "stream": context.streams,
            "stream_options": None
            if Quirk.NO_STREAM_USAGE in context.quirks or not context.streams
            else {"include_usage": True},
            limit_field: context.max_tokens(request),
            **_reasoning_options(request, context),
            "prompt_cache_key": cache_key(request) if context.sends_cache_key() else None,
            "service_tier": "priority" if context.is_fast(request) else None,
        }
    )


def _messages(request: AgentRequest, context: MappingContext) -> list[Body]:
    messages: list[Body] = []
    system = system_text(request)
    if system:
        messages.append({"role": "system", "content": system})
    for turn in context.turns(request):
        if isinstance(turn, UserTurn):
            messages.append({"role": "user", "content": _user_content(turn, context)})
            continue
        messages.append(_assistant_message(turn, context.spec.reasoning_field))
        messages += [
            {"role": "tool", "tool_call_id": call.wire_id, "content": call.result}
            for call in turn.calls
        ]
    return messages


def _user_content(turn: UserTurn, context: MappingContext) -> str | list[Body]:
    if not turn.attachments:
        return turn.text
    text = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return [*text, *(_file(part) for part in context.files_of(turn))]


def _file(part: FilePart) -> Body:
    if part.is_image:
        return {"type": "image_url", "image_url": {"url": part.data_url}}
    if part.text:
        return {"type": "text", "text": part.text}
    return {"type": "file", "file": {"filename": part.name, "file_data": part.data_url}}


def _assistant_message(turn: AssistantTurn, reasoning_field: str) -> Body:
    message: Body = {"role": "assistant", "content": turn.text or None}
    if reasoning_field and turn.calls:
        thoughts = "".join(part.text for part in turn.reasoning if part.kind == "text")
        if thoughts:
            message[reasoning_field] = thoughts
    details = [detail for data in _opaque(turn, REASONING_DETAILS) for detail in data]
    if details:
        message[REASONING_DETAILS] = details
    if turn.calls:
        extras: JsonObject = {}
        for data in _opaque(turn, CALL_EXTRAS):
            extras.update(data)
        message["tool_calls"] = [_call(call, extras) for call in turn.calls]
    return message


def _opaque(turn: AssistantTurn, key: str) -> list[Any]:
    return [part.data[key] for part in turn.reasoning if _holds(part, key) and part.data]


def _holds(part: ReasoningPart, key: str) -> bool:
    return part.kind == "opaque" and part.data is not None and key in part.data


def _call(call: WireCallTurn, extras: JsonObject) -> Body:
    body: Body = {
        "id": call.wire_id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments_text},
    }
    extra = extras.get(call.provider_call_id or "")
    if extra is not None:
        body["extra_content"] = extra
    return body


def _tool(tool: OfferedTool) -> Body:
    function: Body = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
    }
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _reasoning_options(request: AgentRequest, context: MappingContext) -> Body:
    if context.spec.reasoning is not ReasoningStyle.OPENAI or not context.takes_reasoning_options():
        return {}
    options: Body = {}
    if request.reasoning_effort and request.reasoning_effort != "adaptive":
        options["reasoning_effort"] = request.reasoning_effort
    if request.reasoning_budget_tokens:
        options["reasoning_budget_tokens"] = request.reasoning_budget_tokens
        options["reasoning"] = {"max_tokens": request.reasoning_budget_tokens}
    return options

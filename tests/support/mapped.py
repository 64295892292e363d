"""Requests and what each wire's mapping makes of them."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.messages import CallItem, ResultItem, TranscriptItem, TranscriptView
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ToolCall, ToolDefinition, ToolResult
from providers.chat_mapping import chat_body
from providers.mapping import Body, MappingContext
from providers.messages_mapping import messages_body
from providers.responses_mapping import responses_body
from providers.specs import SPECS, ProviderSpec
from tests.support.requests import request_for

OPENAI, CUSTOM = SPECS["openai"], SPECS["custom_openai_compatible"]
ANTHROPIC, EMBEDDED = SPECS["anthropic"], SPECS["embedded"]
READ = ToolDefinition("read", "Read.", {"type": "object", "properties": {}})


def call(
    call_id: str, name: str = "read", provider_id: str | None = None, **arguments: Any
) -> CallItem:
    return CallItem(ToolCall(call_id, name, arguments, provider_id))


def result(call_id: str, content: str, *, is_error: bool = False) -> ResultItem:
    return ResultItem(ToolResult(call_id, "read", content, is_error))


def told(*items: TranscriptItem, **changes: Any) -> AgentRequest:
    return request_for(transcript=TranscriptView(list(items)), **changes)


def chat(request: AgentRequest, spec: ProviderSpec = CUSTOM, **context: Any) -> Body:
    return chat_body(request, MappingContext(spec, **context))


def responses(request: AgentRequest, spec: ProviderSpec = OPENAI, **context: Any) -> Body:
    return responses_body(request, MappingContext(spec, **context))


def messages(request: AgentRequest, spec: ProviderSpec = ANTHROPIC, **context: Any) -> Body:
    return messages_body(request, MappingContext(spec, **context))

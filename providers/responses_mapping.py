"""From a request to the body of a Responses request."""

from __future__ import annotations

import re

from engine.vocabulary.requests import AgentRequest
from providers.attachments import FilePart
from providers.conversation import AssistantTurn, UserTurn, cache_key, system_text
from providers.mapping import Body, MappingContext, without_nothing
from providers.quirks import Quirk
from providers.schemas import OfferedTool
from providers.specs import ReasoningStyle

_CHOICES = {True: "required", False: "auto", None: None}
_BREAKPOINT_MODEL = re.compile(r"gpt-5\.6\b")
_REASONING_MODEL = re.compile(r"(?:^|/)(?:o\d|gpt-5(?!-chat)|gpt-oss|codex)")
_ENCRYPTED = "reasoning.encrypted_content"


def responses_body(request: AgentRequest, context: MappingContext) -> Body:
    """The body of a streamed request; files must have been read."""
    tools = [_tool(tool) for tool in context.tools(request)]
    marks_prefix = (
        _BREAKPOINT_MODEL.search(request.model) is not None
        and context.spec.id == "openai"
        and context.sends_cache_key()
    )
    system = system_text(request)
    prefix = [_marked_system(request)] if marks_prefix and system else []
    reasons = _reasons(request, context)
    return without_nothing(
        {
            "model": request.model,
            "instructions": None if prefix or not system else system,
            "input": [*prefix, *_input(request, context)],
            "tools": tools or None,
            "tool_choice": _CHOICES[context.requires_call(request)] if tools else None,
            "stream": context.streams,
            # The transcript is ours; the service keeps nothing for us.
            "store": False,
            "include": [_ENCRYPTED]
            if reasons and Quirk.NO_ENCRYPTED_REASONING not in context.quirks
            else None,
            "reasoning": _reasoning(request, context),
            "max_output_tokens": context.max_tokens(request),
            "prompt_cache_key": cache_key(request) if context.sends_cache_key() else None,
            "prompt_cache_options": {"mode": "explicit"} if prefix else None,
            "service_tier": "priority" if context.is_fast(request) else None,
        }
    )


def _marked_system(request: AgentRequest) -> Body:
    """The system messages as blocks; the cache keeps everything up to the last one."""
    blocks: list[Body] = [
        {"type": "input_text", "text": message} for message in request.system_messages
    ]
    blocks[-1]["prompt_cache_breakpoint"] = {"mode": "explicit"}
    return {"type": "message", "role": "system", "content": blocks}


def _input(request: AgentRequest, context: MappingContext) -> list[Body]:
    items: list[Body] = []
    for turn in context.turns(request):
        if isinstance(turn, UserTurn):
            content = [{"type": "input_text", "text": turn.text}] if turn.text.strip() else []
            content += [_file(part) for part in context.files_of(turn)]
            items.append({"type": "message", "role": "user", "content": content})
        else:
            items += _assistant_items(turn)
    return items


def _assistant_items(turn: AssistantTurn) -> list[Body]:
    items: list[Body] = [
        part.data
        for part in turn.reasoning
        if part.kind == "opaque" and part.data and part.data.get("type") == "reasoning"
    ]
    if turn.text:
        items.append({"type": "message", "role": "assistant", "content": turn.text})
    items += [
        {
            "type": "function_call",
            "call_id": call.wire_id,
            "name": call.name,
            "arguments": call.arguments_text,
        }
        for call in turn.calls
    ]
    items += [
        {"type": "function_call_output", "call_id": call.wire_id, "output": call.result}
        for call in turn.calls
    ]
    return items


def _file(part: FilePart) -> Body:
    if part.is_image:
        return {"type": "input_image", "image_url": part.data_url, "detail": "auto"}
    if part.text:
        return {"type": "input_text", "text": part.text}
    return {"type": "input_file", "filename": part.name, "file_data": part.data_url}


def _tool(tool: OfferedTool) -> Body:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        # Left out it would mean true, and open schemas would be refused.
        "strict": tool.strict,
    }


def _reasons(request: AgentRequest, context: MappingContext) -> bool:
    """Whether the model is one that reasons, so that its reasoning can be asked back."""
    if context.spec.reasoning is not ReasoningStyle.OPENAI:
        return False
    effort = request.reasoning_effort
    if effort is not None and context.takes_reasoning_options():
        return effort != "none"
    return _REASONING_MODEL.search(request.model) is not None


def _reasoning(request: AgentRequest, context: MappingContext) -> Body | None:
    if context.spec.reasoning is not ReasoningStyle.OPENAI or not context.takes_reasoning_options():
        return None
    options: Body = {}
    effort = request.reasoning_effort
    if effort and effort != "adaptive":
        options["effort"] = effort
        if effort != "none" and Quirk.NO_REASONING_SUMMARY not in context.quirks:
            options["summary"] = "auto"
    if request.reasoning_budget_tokens:
        options["max_tokens"] = request.reasoning_budget_tokens
    return options or None

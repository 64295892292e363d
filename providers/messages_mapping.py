"""From a request to the body of a Messages request."""

from __future__ import annotations

from engine.vocabulary.requests import AgentRequest
from providers.attachments import FilePart
from providers.claude_thinking import Thinking, max_tokens_for, thinking_for
from providers.conversation import AssistantTurn, UserTurn, system_text
from providers.mapping import Body, MappingContext, without_nothing
from providers.quirks import Quirk
from providers.schemas import OfferedTool

_THINKING_BLOCKS = ("thinking", "redacted_thinking")
_CHOICES = {True: {"type": "any"}, False: {"type": "auto"}, None: None}


def messages_body(request: AgentRequest, context: MappingContext) -> Body:
    """The body of a streamed request; files must have been read.

    Raises:
        ModelCallError: permanent, for a reasoning budget that is not allowed.
    """
    thinking = thinking_for(request, options_refused=not context.takes_reasoning_options())
    tools = [_tool(tool) for tool in context.tools(request)]
    caches = context.spec.caches_automatically and Quirk.NO_CACHE_KEY not in context.quirks
    return without_nothing(
        {
            "model": request.model,
            "max_tokens": max_tokens_for(request.model, context.max_tokens(request), thinking),
            "system": system_text(request) or None,
            "messages": _messages(request, context),
            "tools": tools or None,
            "tool_choice": _choice(request, context, thinking) if tools else None,
            "stream": context.streams,
            **thinking.fields,
            "cache_control": {"type": "ephemeral"} if caches else None,
        }
    )


def _choice(request: AgentRequest, context: MappingContext, thinking: Thinking) -> Body | None:
    required = context.requires_call(request)
    # A forced call leaves a thinking model no room to think, so the service refuses it.
    return _CHOICES[False if required and thinking.is_on else required]


def _messages(request: AgentRequest, context: MappingContext) -> list[Body]:
    messages: list[Body] = []
    for turn in context.turns(request):
        if isinstance(turn, UserTurn):
            blocks = [_text(turn.text)] if turn.text.strip() else []
            blocks += [_file(part) for part in context.files_of(turn)]
            _append(messages, "user", blocks)
            continue
        _append(messages, "assistant", _assistant_blocks(turn))
        results = [_result(call.wire_id, call.result, call.is_error) for call in turn.calls]
        _append(messages, "user", results)
    return messages


def _append(messages: list[Body], role: str, blocks: list[Body]) -> None:
    """Add blocks; two messages of one role in a row are one message."""
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": role, "content": blocks})


def _assistant_blocks(turn: AssistantTurn) -> list[Body]:
    blocks: list[Body] = [
        part.data
        for part in turn.reasoning
        if part.kind == "opaque" and part.data and part.data.get("type") in _THINKING_BLOCKS
    ]
    if turn.text:
        blocks.append(_text(turn.text))
    blocks += [
        {"type": "tool_use", "id": call.wire_id, "name": call.name, "input": call.arguments}
        for call in turn.calls
    ]
    return blocks


def _result(wire_id: str, content: str, is_error: bool) -> Body:
    block: Body = {"type": "tool_result", "tool_use_id": wire_id, "content": content}
    if is_error:
        block["is_error"] = True
    return block


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _file(part: FilePart) -> Body:
    if part.text:
        return _text(part.text)
    source = {"type": "base64", "media_type": part.mime_type, "data": part.data}
    if part.is_image:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": part.name}


def _tool(tool: OfferedTool) -> Body:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.schema,
    }

"""Model calls over Chat Completions."""

from __future__ import annotations

from engine.vocabulary.requests import AgentRequest
from providers.chat_events import ChatReader
from providers.chat_mapping import chat_body
from providers.mapping import Body, MappingContext
from providers.sdk_adapter import ReplyReader, SdkAdapter
from providers.specs import Wire
from providers.stream_parts import TurnBuilder


class ChatAdapter(SdkAdapter):
    """A model port for endpoints that speak Chat Completions."""

    wire = Wire.CHAT
    path = "/chat/completions"

    def body(self, request: AgentRequest, context: MappingContext) -> Body:
        """The request as a Chat Completions request."""
        return chat_body(request, context)

    def reader(self, builder: TurnBuilder) -> ReplyReader:
        """A reader of chunks."""
        return ChatReader(builder)

"""Model calls over the Messages API."""

from __future__ import annotations

from engine.vocabulary.requests import AgentRequest
from providers.mapping import Body, MappingContext
from providers.messages_events import MessagesReader
from providers.messages_mapping import messages_body
from providers.sdk_adapter import ReplyReader, SdkAdapter
from providers.specs import Wire
from providers.stream_parts import TurnBuilder


class MessagesAdapter(SdkAdapter):
    """A model port for endpoints that speak Messages."""

    wire = Wire.MESSAGES
    path = "/v1/messages"

    def body(self, request: AgentRequest, context: MappingContext) -> Body:
        """The request as a Messages request."""
        return messages_body(request, context)

    def reader(self, builder: TurnBuilder) -> ReplyReader:
        """A reader of message events."""
        return MessagesReader(builder)

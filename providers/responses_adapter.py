"""Model calls over the Responses API."""

from __future__ import annotations

from engine.vocabulary.requests import AgentRequest
from providers.mapping import Body, MappingContext
from providers.responses_events import ResponsesReader
from providers.responses_mapping import responses_body
from providers.sdk_adapter import ReplyReader, SdkAdapter
from providers.specs import Wire
from providers.stream_parts import TurnBuilder


class ResponsesAdapter(SdkAdapter):
    """A model port for endpoints that speak Responses."""

    wire = Wire.RESPONSES
    path = "/responses"

    def body(self, request: AgentRequest, context: MappingContext) -> Body:
        """The request as a Responses request."""
        return responses_body(request, context)

    def reader(self, builder: TurnBuilder) -> ReplyReader:
        """A reader of response events."""
        return ResponsesReader(builder)

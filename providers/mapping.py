"""What the mappings to all three wires need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from engine.vocabulary.requests import AgentRequest
from providers.attachments import FilePart, Files
from providers.conversation import Turn, UserTurn, conversation
from providers.quirks import Quirk
from providers.schemas import Bound, OfferedTool, offered_tools
from providers.specs import ProviderSpec

Body = dict[str, Any]
"""A request body: plain JSON data."""


class MappingContext(Struct, frozen=True):
    """What a request is mapped with besides itself.

    `bound` limits the schemas of a demo model; `files` are the attachments of the request.
    """

    spec: ProviderSpec
    quirks: frozenset[Quirk] = frozenset()
    bound: Bound | None = None
    files: Files = {}

    def turns(self, request: AgentRequest) -> list[Turn]:
        """The conversation with ids as the service wants them."""
        turns = conversation(request, provider_id=self.spec.id, id_length=self.spec.id_length)
        return list(turns)

    def tools(self, request: AgentRequest) -> tuple[OfferedTool, ...]:
        """The tools to offer, strict ones only where the service takes them."""
        is_plain = Quirk.PLAIN_SCHEMAS in self.quirks
        tools = offered_tools(request, self.spec, self.bound, is_plain=is_plain)
        if Quirk.NO_STRICT_TOOLS not in self.quirks:
            return tools
        return tuple(OfferedTool(t.name, t.description, t.schema) for t in tools)

    @property
    def streams(self) -> bool | None:
        """Whether the reply is to come in pieces; `None` where that has been refused."""
        return None if Quirk.NO_STREAM in self.quirks else True

    def files_of(self, turn: UserTurn) -> list[FilePart]:
        """The files of a user's turn in order."""
        return [self.files[attachment.id] for attachment in turn.attachments]

    def requires_call(self, request: AgentRequest) -> bool | None:
        """Whether a call is demanded, left to the model, or (`None`) nothing is said about it."""
        if Quirk.NO_TOOL_CHOICE in self.quirks:
            return None
        if Quirk.NO_REQUIRED_CHOICE in self.quirks:
            return False
        return not request.conversation_mode or not self.spec.offers_tools

    def max_tokens(self, request: AgentRequest) -> int | None:
        """The output limit, if there is one."""
        return request.max_output_tokens or self.spec.max_output_tokens

    def takes_reasoning_options(self) -> bool:
        """Whether reasoning options have not been refused."""
        return Quirk.NO_REASONING_OPTIONS not in self.quirks

    def sends_cache_key(self) -> bool:
        """Whether requests name a prompt-cache key."""
        return self.spec.sends_cache_key and Quirk.NO_CACHE_KEY not in self.quirks

    def is_fast(self, request: AgentRequest) -> bool:
        """Whether the faster tier is asked for."""
        return request.fast_mode and self.spec.fast_mode and Quirk.NO_FAST_MODE not in self.quirks


def without_nothing(body: Mapping[str, Any]) -> Body:
    """The body without the fields that are `None`."""
    return {name: value for name, value in body.items() if value is not None}

"""A model call over an SDK, the same for all wires."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Protocol

import msgspec
from msgspec import Struct

from engine.vocabulary.errors import (
    CallFailure,
    ContextTooLong,
    EmptyTurn,
    ModelCallError,
    PermanentFailure,
    RequestFailure,
    TransientFailure,
    TruncatedOutput,
)
from engine.vocabulary.messages import ModelTurn, Usage
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import HARNESS_TOOLS, JsonObject
from providers.attachments import AttachmentSource, read_files
from providers.config import ProviderConfig
from providers.connection import Connection
from providers.context_errors import is_too_long
from providers.conversation import attachments_of
from providers.errors import failure_of, refusal_text, status_of
from providers.mapping import Body, MappingContext
from providers.prompt_check import words_if_cut
from providers.quirks import quirk_in_refusal
from providers.schemas import Bound
from providers.sdk_client import SdkStream
from providers.specs import Wire
from providers.stream_parts import TurnBuilder
from providers.wire_json import encoded
from providers.wire_log import log_reply, log_request

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_QUICKLY_READ = 2048
"""Characters that are decoded at once; more are left to a thread, the event loop goes on."""


class ReplyReader(Protocol):
    """Reads the events of one reply into a turn."""

    def feed(self, event: JsonObject) -> None:
        """Take an event of a stream."""

    def feed_whole(self, reply: JsonObject) -> None:
        """Take a reply that came in one piece although a stream was asked for."""

    def close(self) -> None:
        """Add what can be said only at the end."""


class AdapterOptions(Struct, frozen=True):
    """What an adapter is given besides its connection.

    `attachments` is where the bytes of files are; `bound` limits the schemas of a demo model.
    """

    attachments: AttachmentSource | None = None
    bound: Bound | None = None


class SdkAdapter(ABC):
    """Makes model calls over one wire; subclasses say how requests and replies look on it."""

    wire: ClassVar[Wire]
    path: ClassVar[str]

    def __init__(
        self,
        config: ProviderConfig,
        connection: Connection,
        options: AdapterOptions,
    ) -> None:
        self._config = config
        self._connection = connection
        self._options = options

    @abstractmethod
    def body(self, request: AgentRequest, context: MappingContext) -> Body:
        """The request on this wire."""

    @abstractmethod
    def reader(self, builder: TurnBuilder) -> ReplyReader:
        """What reads a reply of this wire."""

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Make the call; cancelling the task closes the connection.

        What the endpoint refuses in the form of the request is learned, and the request is made
        again without it.

        Raises:
            ModelCallError: with any failure.
        """
        files = await read_files(attachments_of(request), self._options.attachments)
        client = await self._connection.client(self.wire)
        while True:
            context = MappingContext(
                self._config.spec, self._config.quirks.of(request.model), self._options.bound, files
            )
            body = self.body(request, context)
            content = encoded(body)
            builder = TurnBuilder(self._config.spec.id, sink)
            log_request(request, self._config.base_url + self.path, content)
            try:
                await self.exchange(await client.open(self.path, content), builder)
            except client.errors as error:
                if not builder.content_kinds() and self._learns_from(error, request, body, context):
                    continue
                raise ModelCallError(self._failure(error, builder, request)) from error
            if _hit_limit(body, builder):
                builder.end("length")
            turn = await self._finished(builder, request)
            if not files:
                self._check_prompt(body, len(content), turn.usage)
            log_reply(request, turn)
            return turn

    async def exchange(
        self,
        stream: SdkStream,
        builder: TurnBuilder,
        notice: Callable[[JsonObject], object] | None = None,
    ) -> None:
        """Read a reply to its end and close it; `notice` is shown every event.

        Raises:
            ModelCallError: if it is no reply.
            Exception: whatever the client names in its `errors`.
        """
        reader = self.reader(builder)
        try:
            kind = stream.response.headers.get("content-type", "").lower()
            if "html" in kind:
                raise ModelCallError(PermanentFailure(self._wrong_address("a web page")))
            if "json" in kind:
                self._read_whole(reader, await stream.response.aread(), notice)
                if not builder.has_ended:
                    raise ModelCallError(
                        PermanentFailure(self._wrong_address("something that is no reply"))
                    )
            else:
                async for event in stream:
                    if isinstance(event, dict):
                        if notice is not None:
                            notice(event)
                        reader.feed(event)
        finally:
            await stream.close()
        reader.close()
        if stream.has_end_mark and not builder.has_ended and builder.is_whole:
            # Some servers give no reason for the end, only its mark.
            builder.end("stop")

    def _read_whole(
        self,
        reader: ReplyReader,
        content: bytes,
        notice: Callable[[JsonObject], object] | None,
    ) -> None:
        reply = json.loads(content)
        if isinstance(reply, dict):
            if notice is not None:
                notice(reply)
            reader.feed_whole(reply)

    def _wrong_address(self, what: str) -> str:
        label, base_url = self._config.spec.label, self._config.base_url
        return f"{label} answered with {what}; check the address {base_url}"

    def _learns_from(
        self, error: Exception, request: AgentRequest, body: Body, context: MappingContext
    ) -> bool:
        """Whether the request can go again, without what the endpoint has refused.

        Another call may have learned the same meanwhile.
        """
        status, text = status_of(error), refusal_text(error)
        if status is None or is_too_long(text):
            return False
        quirk = quirk_in_refusal(status, text, body)
        if quirk is None or quirk in context.quirks:
            return False
        self._config.quirks.learn(request.model, quirk)
        return True

    def _failure(
        self, error: Exception, builder: TurnBuilder, request: AgentRequest
    ) -> CallFailure:
        config = self._config
        failure = failure_of(
            error,
            label=config.spec.label,
            secrets=self._connection.secrets,
            address=config.base_url,
            is_local=config.is_local,
        )
        was_cut = status_of(error) is None and isinstance(failure, TransientFailure)
        if was_cut and builder.calls:
            return self._broken_off(builder, request)
        return failure if builder.usage is None else _with_usage(failure, builder.usage)

    def _broken_off(self, builder: TurnBuilder, request: AgentRequest) -> CallFailure:
        names = tuple(sorted(set(builder.calls.names(_offered(request)))))
        return TruncatedOutput("stream", names, builder.usage)

    async def _finished(self, builder: TurnBuilder, request: AgentRequest) -> ModelTurn:
        label = self._config.spec.label
        if not builder.has_ended:
            if builder.calls:
                raise ModelCallError(self._broken_off(builder, request))
            raise ModelCallError(
                TransientFailure(f"{label}: the stream ended early", usage=builder.usage)
            )
        offered, tools = _offered(request), request.available_tools
        if builder.size <= _QUICKLY_READ:
            turn = builder.turn(offered, tools)
        else:
            turn = await asyncio.to_thread(builder.turn, offered, tools)
        if not turn.calls and not turn.text.strip() and not turn.truncated:
            raise ModelCallError(
                EmptyTurn(_emptiness(label, request.model, builder, turn), turn.usage)
            )
        return turn

    def _check_prompt(self, body: Body, size: int, usage: Usage | None) -> None:
        words = words_if_cut(body, size, usage)
        if words is not None and usage is not None:
            raise ModelCallError(
                RequestFailure(
                    f"{self._config.spec.label} has cut the prompt: of about {words} words it "
                    f"read {usage.prompt_tokens} tokens, so its reply is not used; "
                    "raise the context length of the server",
                    usage,
                )
            )


def _hit_limit(body: Body, builder: TurnBuilder) -> bool:
    """Whether a reply is as long as was allowed, whatever the wire says.

    A reply that is even longer was not measured by that limit; its calls count if they are whole.
    """
    limit: int | None = next((body[name] for name in _LIMITS if name in body), None)
    if limit is None or builder.usage is None or not builder.has_ended:
        return False
    length = builder.usage.completion_tokens or 0
    return length >= limit and not (length > limit and builder.calls and builder.is_whole)


def _offered(request: AgentRequest) -> frozenset[str]:
    return HARNESS_TOOLS | {tool.name for tool in request.available_tools}


def _emptiness(label: str, model: str, builder: TurnBuilder, turn: ModelTurn) -> str:
    kinds = ", ".join(builder.content_kinds()) or "nothing"
    counts = "unknown"
    if turn.usage is not None:
        counts = f"{_said(turn.usage.prompt_tokens)} in, {_said(turn.usage.completion_tokens)} out"
    return (
        f"{label} ({model}) ended its turn with neither a call nor text "
        f"(finish reason: {turn.finish_reason or 'none'}; content: {kinds}; tokens: {counts})"
    )


def _with_usage(failure: CallFailure, usage: Usage) -> CallFailure:
    """The failure with the tokens that the service counted before it."""
    if isinstance(
        failure, TransientFailure | PermanentFailure | RequestFailure | ContextTooLong | EmptyTurn
    ):
        return msgspec.structs.replace(failure, usage=usage)
    return failure


def _said(count: int | None) -> str:
    return "?" if count is None else str(count)

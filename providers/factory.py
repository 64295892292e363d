"""Ports to models: one pool for the program, one connection for each profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.ports import ModelPort, StreamSink
from engine.vocabulary.requests import AgentRequest
from providers.attachments import AttachmentSource
from providers.chat_adapter import ChatAdapter
from providers.config import EndpointSource, ProviderConfig
from providers.connection import Connection
from providers.embedded import bounded_schema
from providers.embedded.small_prompt import Preamble, SmallPromptPort
from providers.endpoint_check import LIMIT_S, EndpointCheck
from providers.endpoint_report import EndpointReport, Finding
from providers.messages_adapter import MessagesAdapter
from providers.probe import ProbeReport, probe
from providers.responses_adapter import ResponsesAdapter
from providers.schemas import Bound
from providers.sdk_adapter import AdapterOptions, SdkAdapter
from providers.specs import EMBEDDED, Wire

__all__ = ["EndpointReport", "Finding", "ProbeReport", "ProviderPool"]

_ADAPTERS: dict[Wire, type[SdkAdapter]] = {
    Wire.CHAT: ChatAdapter,
    Wire.RESPONSES: ResponsesAdapter,
    Wire.MESSAGES: MessagesAdapter,
}


class ProviderPool:
    """Hands out ports; cheap until a port is used for the first time. Belongs to one event loop.

    Args:
        embedded: the embedded server; without it that service cannot be used.
        bound: limits the schemas that a demo model is sent.
        preamble: tells our system messages, which a demo model is spared, from the workflow's.
        attachments: where the bytes of attachments are kept.
    """

    def __init__(
        self,
        embedded: EndpointSource | None = None,
        *,
        bound: Bound = bounded_schema.bound,
        preamble: Preamble | None = None,
        attachments: AttachmentSource | None = None,
    ) -> None:
        self._embedded = embedded
        self._options = AdapterOptions(attachments)
        self._demo_options = AdapterOptions(attachments, bound)
        self._preamble = preamble
        self._connections: dict[Any, Connection] = {}

    def port(self, config: ProviderConfig) -> ModelPort:
        """A port that makes calls as the configuration says, each model over its own wire."""
        spec = config.spec
        options = self._demo_options if spec.is_demo else self._options
        port = _ProfilePort(config, self._connection(config), options, self._why_not(config))
        return SmallPromptPort(port, self._preamble) if spec.is_demo else port

    async def probe(self, config: ProviderConfig, model: str = "") -> ProbeReport:
        """Whether the service can be used, in a sentence, and which models it lists."""
        why_not = self._why_not(config)
        if why_not:
            return ProbeReport(False, why_not)
        return await probe(config, self._connection(config), model)

    async def examine(
        self,
        config: ProviderConfig,
        model: str = "",
        *,
        limit_s: float = LIMIT_S,
        on_found: Callable[[Finding], None] | None = None,
    ) -> EndpointReport:
        """Try out what the service can do with a model, and note it in the record of quirks.

        Args:
            config: the service.
            model: the model to ask; empty for the default one, or the first that is listed.
            limit_s: when to stop asking, in seconds.
            on_found: told of each finding as it is made.
        """
        why_not = self._why_not(config)
        if why_not:
            return EndpointReport(False, why_not)
        connection = self._connection(config)
        options = self._demo_options if config.spec.is_demo else self._options

        def adapter(model: str) -> SdkAdapter:
            return _ADAPTERS[config.wire_for(model)](config, connection, options)

        check = EndpointCheck(
            adapter, config, connection, model=model, bound=options.bound, on_found=on_found
        )
        return await check.run(limit_s)

    async def aclose(self) -> None:
        """Close all connections; safe to call again. The embedded server is left running."""
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            await connection.aclose()

    def _connection(self, config: ProviderConfig) -> Connection:
        key = (
            config.spec.id,
            config.base_url,
            config.api_key,
            config.timeout_s,
            tuple(sorted(config.extra_headers.items())),
        )
        connection = self._connections.get(key)
        if connection is None:
            source = self._embedded if config.spec.id == EMBEDDED else None
            connection = self._connections[key] = Connection(config, source)
        return connection

    def _why_not(self, config: ProviderConfig) -> str:
        spec = config.spec
        if spec.unavailable:
            return f"{spec.label} cannot be used: {spec.unavailable}."
        if spec.id == EMBEDDED and self._embedded is None and not config.base_url:
            return "The embedded model is not installed."
        return ""


class _ProfilePort:
    """One profile's port: picks the adapter by the model of each request."""

    def __init__(
        self, config: ProviderConfig, connection: Connection, options: AdapterOptions, why_not: str
    ) -> None:
        self._config = config
        self._connection = connection
        self._options = options
        self._why_not = why_not
        self._adapters: dict[Wire, SdkAdapter] = {}

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Make the call; see `SdkAdapter.invoke`."""
        if self._why_not:
            raise ModelCallError(PermanentFailure(self._why_not))
        wire = self._config.wire_for(request.model)
        adapter = self._adapters.get(wire)
        if adapter is None:
            adapter = _ADAPTERS[wire](self._config, self._connection, self._options)
            self._adapters[wire] = adapter
        return await adapter.invoke(request, sink)

"""One model port for a run whose nodes use several providers."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.ports import ModelPort, StreamSink
from engine.vocabulary.requests import AgentRequest


class ModelRouter:
    """Sends each request to the port of the provider that it names."""

    __slots__ = ("_ports",)

    def __init__(self, ports: Mapping[str, ModelPort]) -> None:
        self._ports = dict(ports)

    def invoke(
        self, request: AgentRequest, sink: StreamSink | None = None
    ) -> Coroutine[Any, Any, ModelTurn]:
        """Make the call at the request's provider."""
        port = self._ports.get(request.provider_id or "")
        if port is None:
            raise ModelCallError(
                PermanentFailure(
                    f"node '{request.node_label}' asks for provider '{request.provider_id}', "
                    "which this run was not prepared for; start the run again"
                )
            )
        return port.invoke(request, sink)

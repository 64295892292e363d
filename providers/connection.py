"""The one connection of a profile: its HTTP client and the SDK clients on top of it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from typing import TYPE_CHECKING

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from providers.address import problem_with_address
from providers.config import EndpointSource, ProviderConfig, api_root
from providers.sdk_client import SdkClient, http_client
from providers.specs import Wire

if TYPE_CHECKING:
    import httpx2

_SHORTEST_SECRET = 8


class Connection:
    """Makes clients when they are first needed, in a thread, and keeps them.

    A connection belongs to one event loop.

    Args:
        config: the service.
        source: gives the address where the service is a server of our own.
    """

    def __init__(self, config: ProviderConfig, source: EndpointSource | None = None) -> None:
        self._config = config
        self._source = source
        self._http: httpx2.AsyncClient | None = None
        self._clients: dict[bool, tuple[tuple[str, str], SdkClient]] = {}
        self._lock = asyncio.Lock()
        self._secret = config.api_key.reveal() if config.api_key else ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not show up in messages."""
        headers = self._config.extra_headers.values()
        return (self._secret, *(value for value in headers if len(value) >= _SHORTEST_SECRET))

    async def client(self, wire: Wire) -> SdkClient:
        """The client for a wire.

        Raises:
            ModelCallError: if the address or the key cannot be used, or the server not started.
        """
        where = await self._where(wire)
        is_messages = wire is Wire.MESSAGES
        known = self._clients.get(is_messages)
        if known is not None and known[0] == where:
            return known[1]
        async with self._lock:
            known = self._clients.get(is_messages)
            if known is None or known[0] != where:
                client = await asyncio.to_thread(self._made, is_messages, *where)
                known = self._clients[is_messages] = (where, client)
        return known[1]

    async def aclose(self) -> None:
        """Close all connections; safe to call again."""
        http, self._http = self._http, None
        self._clients.clear()
        if http is not None:
            await http.aclose()

    async def _where(self, wire: Wire) -> tuple[str, str]:
        """The root of the API and the key."""
        if self._source is not None:
            endpoint = await self._source.endpoint()
            return api_root(endpoint.base_url, wire), endpoint.api_key
        label, base_url = self._config.spec.label, self._config.base_url
        if problem := problem_with_address(base_url):
            raise _unusable(f"{label}: {problem}")
        if not self._secret.isascii() or not self._secret.isprintable():
            raise _unusable(f"{label}: the key holds characters that no key has; enter it again")
        return self._config.api_root(wire), self._secret

    def _made(self, is_messages: bool, root: str, key: str) -> SdkClient:
        if self._http is None:
            self._http = self._http_client()
        _import_what_the_first_request_would()
        if is_messages:
            from providers.anthropic_client import AnthropicClient

            return AnthropicClient(self._config, root, key, self._http)
        from providers.openai_client import OpenAiClient

        return OpenAiClient(self._config, root, key, self._http)

    def _http_client(self) -> httpx2.AsyncClient:
        import httpx2

        try:
            return http_client(self._config)
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            raise _unusable(
                f"{self._config.spec.label}: no connection can be prepared ({error}); check the "
                "proxies and certificates that the environment names "
                "(HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE)"
            ) from error


def _import_what_the_first_request_would() -> None:
    """Import in this thread what would hold up the event loop otherwise."""
    with contextlib.suppress(ImportError):
        importlib.import_module("anyio._backends._asyncio")


def _unusable(sentence: str) -> ModelCallError:
    return ModelCallError(PermanentFailure(sentence))

"""What the adapters need of an SDK, and how both SDKs are made to read nothing but our settings."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from providers.config import ProviderConfig
from providers.errors import ServiceError
from providers.reply_limit import reply_limit

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT_S = 10.0
MODELS_TIMEOUT_S = 30.0
MAX_CONNECTIONS = 100
MAX_IDLE_CONNECTIONS = 20
AUTHORIZATION = "authorization"
NO_KEY = "none"
"""What an SDK is given in place of a key: without one it would look for it in the environment."""

UNREADABLE = (ValueError, RecursionError, ServiceError)
"""What reading a reply may raise besides the errors of an SDK."""


class SdkStream(Protocol):
    """A reply that is being streamed.

    `has_end_mark`: the mark that ends a stream has come, which some wires have besides the
    events that say why the reply ends.
    """

    response: httpx2.Response
    has_end_mark: bool

    def __aiter__(self) -> AsyncIterator[object]:
        """The decoded events."""

    async def close(self) -> None:
        """Close the connection unless the reply was read to its end."""


class SdkClient(Protocol):
    """An SDK's client for one endpoint. `errors` is everything that its calls raise."""

    errors: tuple[type[Exception], ...]

    async def open(self, path: str, content: bytes) -> SdkStream:
        """Send a request and return when its reply begins."""

    async def models(self) -> object:
        """The endpoint's list of models, as it sends it."""


class PlainClient:
    """Sends and reads plain JSON through the client of an SDK.

    Attributes:
        errors: everything that its calls raise.
    """

    models_path: str

    def __init__(
        self,
        client: Any,
        stream_cls: Any,
        headers: Mapping[str, object],
        errors: tuple[type[Exception], ...],
    ) -> None:
        self._client = client
        self._stream_cls = stream_cls
        self._headers = headers
        self.errors = errors

    async def open(self, path: str, content: bytes) -> SdkStream:
        """Send a request and return when its reply begins."""
        stream: SdkStream = await self._client.post(
            path,
            cast_to=object,
            content=content,
            options={"headers": self._headers},
            stream=True,
            stream_cls=self._stream_cls,
        )
        return stream

    async def models(self) -> object:
        """The endpoint's list of models, as it sends it."""
        reply = await self._client.get(
            self.models_path,
            cast_to=object,
            options={"headers": self._headers, "timeout": MODELS_TIMEOUT_S},
        )
        return decoded(reply)


def http_client(config: ProviderConfig) -> httpx2.AsyncClient:
    """The HTTP client that all SDK clients of a profile share.

    Redirects are not followed: they would carry the key to another address.
    """
    import httpx2

    # Certificates take a while to load, and on this computer there is no use for them.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if _is_plain_local(config) else True
    idle = MAX_IDLE_CONNECTIONS if config.spec.keep_alive else 0
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(config.timeout_s, connect=min(CONNECT_TIMEOUT_S, config.timeout_s)),
        limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=idle),
        trust_env=not config.is_local,
        verify=verify,
        follow_redirects=False,
        event_hooks={"response": [reply_limit()]},
    )


def _is_plain_local(config: ProviderConfig) -> bool:
    return config.is_local and not config.base_url.startswith("https:")


def header_names_in_environment(variable: str) -> list[str]:
    """Names of headers that an SDK would add because of an environment variable."""
    lines = os.environ.get(variable, "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]


def headers_to_omit(
    config: ProviderConfig, found: Iterable[str], *, key_header: str, has_bearer: bool
) -> list[str]:
    """Names of the headers that an SDK would send although nobody has asked for them here.

    Args:
        config: the service; its own headers are sent.
        found: names of headers that the SDK finds in the environment.
        key_header: the header that carries the key, in lower case.
        has_bearer: whether the key goes out in `authorization`.
    """
    ours = {name.lower() for name in config.extra_headers}
    omitted = [name for name in found if name.lower() not in ours | {AUTHORIZATION, key_header}]
    if not has_bearer and AUTHORIZATION not in ours:
        omitted.append("Authorization")
    return omitted


def decoded(reply: object) -> object:
    """A reply as JSON data; one that is not labelled as JSON comes from the SDKs as text."""
    return json.loads(reply) if isinstance(reply, str) else reply

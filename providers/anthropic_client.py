"""The official Anthropic SDK as a client for one endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from providers.config import ProviderConfig
from providers.sdk_client import (
    MODELS_TIMEOUT_S,
    UNREADABLE,
    SdkStream,
    header_names_in_environment,
)

if TYPE_CHECKING:
    import httpx2
    from anthropic import Omit

_AUTHORIZATION = "authorization"
_NO_KEY = "none"


class AnthropicClient:
    """Speaks to one endpoint. Made in a thread: the SDK takes seconds to import.

    The key goes out in both headers, since gateways look for it in `x-api-key` and the service
    itself in `authorization`. Replies are read as plain JSON data, as in `OpenAiClient`.

    Args:
        config: the service; its headers and timeouts.
        root: the address before the version.
        key: the key, empty for none.
        http: the shared HTTP client.
    """

    def __init__(
        self, config: ProviderConfig, root: str, key: str, http: httpx2.AsyncClient
    ) -> None:
        import anthropic
        import httpx2

        own_header = {"x-api-key": key} if key else {}
        self._client = anthropic.AsyncAnthropic(
            api_key=key or _NO_KEY,
            base_url=root,
            timeout=http.timeout,
            max_retries=0,
            default_headers={**own_header, **config.extra_headers},
            http_client=http,
            open_telemetry=False,
        )
        self._stream_cls = anthropic.AsyncStream[object]
        self._headers = _request_headers(config, has_key=bool(key))
        self.errors: tuple[type[Exception], ...] = (
            anthropic.AnthropicError,
            httpx2.HTTPError,
            *UNREADABLE,
        )

    async def open(self, path: str, content: bytes) -> SdkStream:
        """Send a request and return when its reply begins."""
        return await self._client.post(
            path,
            cast_to=object,
            content=content,
            options={"headers": self._headers},
            stream=True,
            stream_cls=self._stream_cls,
        )

    async def models(self) -> object:
        """The endpoint's list of models, as it sends it."""
        reply = await self._client.get(
            "/v1/models?limit=1000",
            cast_to=object,
            options={"headers": self._headers, "timeout": MODELS_TIMEOUT_S},
        )
        # What is not labelled as JSON comes as text.
        return json.loads(reply) if isinstance(reply, str) else reply


def _request_headers(config: ProviderConfig, *, has_key: bool) -> Mapping[str, str | Omit]:
    """Headers of every request; `omit` takes out what the SDK finds in the environment."""
    from anthropic import omit

    ours = {name.lower() for name in config.extra_headers}
    headers: dict[str, str | Omit] = {
        name: omit
        for name in header_names_in_environment("ANTHROPIC_CUSTOM_HEADERS")
        if name.lower() not in ours | {_AUTHORIZATION, "x-api-key"}
    }
    if not has_key and _AUTHORIZATION not in ours:
        headers["Authorization"] = omit
    return headers

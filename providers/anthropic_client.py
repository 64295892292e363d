"""The official Anthropic SDK as a client for one endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from providers.config import ProviderConfig
from providers.sdk_client import (
    NO_KEY,
    UNREADABLE,
    PlainClient,
    header_names_in_environment,
    headers_to_omit,
)

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncStream

_KEY_HEADER = "x-api-key"


class AnthropicClient(PlainClient):
    """Speaks to one endpoint. Made in a thread: the SDK takes seconds to import.

    The key goes out in both headers, since gateways look for it in `x-api-key` and the service
    itself in `authorization`. Replies are read as plain JSON data, as in `OpenAiClient`.

    Args:
        config: the service; its headers and timeouts.
        root: the address before the version.
        key: the key, empty for none.
        http: the shared HTTP client.
    """

    models_path = "/v1/models?limit=1000"

    def __init__(
        self, config: ProviderConfig, root: str, key: str, http: httpx2.AsyncClient
    ) -> None:
        import anthropic
        import httpx2

        own_header = {_KEY_HEADER: key} if key else {}
        client = anthropic.AsyncAnthropic(
            api_key=key or NO_KEY,
            base_url=root,
            timeout=http.timeout,
            max_retries=0,
            default_headers={**own_header, **config.extra_headers},
            http_client=http,
            open_telemetry=False,
        )
        omitted = headers_to_omit(
            config,
            header_names_in_environment("ANTHROPIC_CUSTOM_HEADERS"),
            key_header=_KEY_HEADER,
            has_bearer=bool(key),
        )
        super().__init__(
            client,
            _stream_class(),
            dict.fromkeys(omitted, anthropic.omit),
            (anthropic.AnthropicError, httpx2.HTTPError, *UNREADABLE),
        )


def _stream_class() -> type[AsyncStream[object]]:
    from anthropic import AsyncStream

    class PlainStream(AsyncStream[object]):
        has_end_mark = False

    return PlainStream

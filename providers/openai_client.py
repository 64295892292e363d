"""The official OpenAI SDK as a client for one endpoint, for Chat Completions and Responses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from providers.config import ProviderConfig
from providers.sdk_client import (
    AUTHORIZATION,
    NO_KEY,
    UNREADABLE,
    PlainClient,
    header_names_in_environment,
    headers_to_omit,
)

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncStream
    from openai._streaming import ServerSentEvent

_ACCOUNT_HEADERS = ("OpenAI-Organization", "OpenAI-Project")
_END_MARK = "[DONE]"
_DRAIN_S = 0.1


class OpenAiClient(PlainClient):
    """Speaks to one endpoint. Made in a thread: the SDK takes a second to import.

    Replies are read as plain JSON data. The SDK's classes for them would make something else of
    what is not as they expect it, and take the better part of the time of a token.

    Args:
        config: the service; its headers, timeouts and whether it wants the key in its own header.
        root: the address that paths are added to.
        key: the key, empty for none.
        http: the shared HTTP client.
    """

    models_path = "/models"

    def __init__(
        self, config: ProviderConfig, root: str, key: str, http: httpx2.AsyncClient
    ) -> None:
        import httpx2
        import openai

        header = config.spec.auth.header.lower()
        own_header = {header: key} if key and header != AUTHORIZATION else {}
        client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            admin_api_key="",
            base_url=root,
            timeout=http.timeout,
            max_retries=0,
            default_headers={**own_header, **config.extra_headers},
            http_client=http,
        )
        omitted = headers_to_omit(
            config,
            (*_ACCOUNT_HEADERS, *header_names_in_environment("OPENAI_CUSTOM_HEADERS")),
            key_header=header,
            has_bearer=bool(key) and not own_header,
        )
        super().__init__(
            client,
            _stream_class(),
            dict.fromkeys(omitted, openai.omit),
            (openai.OpenAIError, httpx2.HTTPError, *UNREADABLE),
        )


def _stream_class() -> type[AsyncStream[object]]:
    """The SDK's stream, read to its real end.

    The SDK stops at the end mark and leaves its iterators to tasks that clean up after it.
    """
    from openai import AsyncStream

    class WholeStream(AsyncStream[object]):
        has_end_mark = False

        async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
            events = super()._iter_events()
            async for event in events:
                if not event.data.startswith(_END_MARK):
                    yield event
                    continue
                self.has_end_mark = True
                # A server that keeps the connection open must not hold up the reply.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_DRAIN_S):
                        async for _ in events:
                            pass
                return

    return WholeStream

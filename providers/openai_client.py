"""The official OpenAI SDK as a client for one endpoint, for Chat Completions and Responses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from providers.config import ProviderConfig
from providers.sdk_client import (
    AUTHORIZATION,
    MODELS_TIMEOUT_S,
    NO_KEY,
    UNREADABLE,
    SdkStream,
    decoded,
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


class OpenAiClient:
    """Speaks to one endpoint. Made in a thread: the SDK takes a second to import.

    Replies are read as plain JSON data. The SDK's classes for them would make something else of
    what is not as they expect it, and take the better part of the time of a token.

    Args:
        config: the service; its headers, timeouts and whether it wants the key in its own header.
        root: the address that paths are added to.
        key: the key, empty for none.
        http: the shared HTTP client.
    """

    def __init__(
        self, config: ProviderConfig, root: str, key: str, http: httpx2.AsyncClient
    ) -> None:
        import httpx2
        import openai

        header = config.spec.auth.header.lower()
        own_header = {header: key} if key and header != AUTHORIZATION else {}
        self._client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            admin_api_key="",
            base_url=root,
            timeout=http.timeout,
            max_retries=0,
            default_headers={**own_header, **config.extra_headers},
            http_client=http,
        )
        self._stream_cls: Any = _stream_class()
        omitted = headers_to_omit(
            config,
            (*_ACCOUNT_HEADERS, *header_names_in_environment("OPENAI_CUSTOM_HEADERS")),
            key_header=header,
            has_bearer=bool(key) and not own_header,
        )
        self._headers = dict.fromkeys(omitted, openai.omit)
        self.errors: tuple[type[Exception], ...] = (
            openai.OpenAIError,
            httpx2.HTTPError,
            *UNREADABLE,
        )

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
            "/models",
            cast_to=object,
            options={"headers": self._headers, "timeout": MODELS_TIMEOUT_S},
        )
        return decoded(reply)


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

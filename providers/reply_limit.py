"""Replies that do not end: a limit on what is read of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from providers.errors import ServiceError

if TYPE_CHECKING:
    import httpx2

MAX_REPLY_BYTES = 128 * 1024 * 1024
"""Several times the longest reply of any model, with all that is sent around each token."""


def reply_limit(limit: int = MAX_REPLY_BYTES) -> Callable[[httpx2.Response], Awaitable[None]]:
    """A hook for responses: reading one beyond `limit` bytes raises a `ServiceError`."""
    import httpx2

    class Limited(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = limit
            async for chunk in self._stream:
                left -= len(chunk)
                if left < 0:
                    raise ServiceError(
                        f"its reply does not end (more than {limit // 2**20} MiB); "
                        "limit the length of replies at the server"
                    )
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def limit_reply(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Limited(response.stream)

    return limit_reply

"""Fetch a page of the web as text that a model can read."""

from __future__ import annotations

import asyncio
import functools
import importlib
import re
import ssl
import zlib
from typing import TYPE_CHECKING

from msgspec import Struct

from orchestration.tools.readable_html import readable
from orchestration.tools.selectors import Selection, split_selector
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.tools.web_addresses import addresses_of

if TYPE_CHECKING:
    import httpx2

_WEB = re.compile(r"(?P<host>https?://[^/?#]*)(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = re.compile(
    r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|x-ndjson|x-sh|sql)"
    r"|application/x-(?:yaml|javascript|sh|tex|httpd-php)|image/svg\+xml"
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_HEADERS = {
    "User-Agent": "OpenFlow",
    "Accept": "text/html, text/plain, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip",
}


class PageLimits(Struct, frozen=True):
    """What a page may cost: seconds in all, bytes as sent and as unpacked, redirects followed."""

    seconds: float = 30.0
    bytes: int = 5 * 1024 * 1024
    redirects: int = 5


DEFAULT_LIMITS = PageLimits()


class WebPage(Struct, frozen=True):
    """A page's text and the address at which it was found in the end."""

    url: str
    text: str


class _Body(Struct, frozen=True):
    url: str
    data: bytes
    encoding: str
    kind: str
    charset: str | None


def is_web_address(text: str) -> bool:
    """Whether this names a page of the web and no file."""
    return text.lower().startswith(("http://", "https://"))


def split_web_selector(address: str) -> tuple[str, Selection | None]:
    """Split an address into itself and its selector; a port is never taken for one."""
    match = _WEB.fullmatch(address)
    if match is None or not match["rest"]:
        return address, None
    rest, selection = split_selector(match["rest"])
    return match["host"] + rest, selection


async def fetch(
    address: str, *, allow_private: bool, limits: PageLimits = DEFAULT_LIMITS
) -> WebPage:
    """Get a page; HTML is made readable, text comes as it is.

    Every address on the way is looked up, checked and then connected to as the number that was
    checked, so that no name can lead elsewhere a moment later. Proxies are not used, for the same
    reason. Cancelling it ends the connection.

    Args:
        address: an http or https URL.
        allow_private: whether it may lead to this computer or its network.
        limits: what it may cost.

    Raises:
        ToolFailure: there is no such page, it must not be read, or it is no text.
    """
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _follow(address, allow_private, limits)
            text = await stoppable(lambda stop: _text(body, limits, stop))
    except TimeoutError:
        raise ToolFailure(
            FailureKind.TIMEOUT, f"'{address}' took more than {limits.seconds:g} s"
        ) from None
    return WebPage(body.url, text)


async def _follow(address: str, allow_private: bool, limits: PageLimits) -> _Body:
    tls = await asyncio.to_thread(_tls)
    import httpx2

    url = _checked_url(address)
    for _ in range(limits.redirects + 1):
        numbers = await addresses_of(_name(url), _port(url), allow_private=allow_private)
        # A client for each step: cookies of one site must not reach the next by its number.
        async with httpx2.AsyncClient(
            verify=tls, trust_env=False, timeout=None, headers=_HEADERS
        ) as client:
            try:
                found = await _step(client, url, numbers, limits)
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                why = str(error) or type(error).__name__
                raise ToolFailure(FailureKind.FAILED, f"'{url}' cannot be read: {why}") from None
        if isinstance(found, _Body):
            return found
        url = found
    raise ToolFailure(
        FailureKind.FAILED, f"'{address}' redirects more than {limits.redirects} times"
    )


def _checked_url(address: str) -> httpx2.URL:
    import httpx2

    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"'{address}' is no URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or not 0 < _port(url) <= 0xFFFF:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"'{address}' is no http or https URL")
    if url.userinfo:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, "a URL with a user name or password in it is not opened"
        )
    return url


async def _step(
    client: httpx2.AsyncClient, url: httpx2.URL, numbers: tuple[str, ...], limits: PageLimits
) -> httpx2.URL | _Body:
    """What is at an address: a page, or another address."""
    import httpx2

    for number in numbers:
        request = client.build_request(
            "GET",
            url.copy_with(host=number),
            headers={"Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": _name(url).rstrip(".")},
        )
        try:
            response = await client.send(request, stream=True)
        except httpx2.ConnectError:
            if number == numbers[-1]:
                raise
            continue
        try:
            return await _received(response, url, limits)
        finally:
            await response.aclose()
    raise ToolFailure(FailureKind.NOT_FOUND, f"'{url.host}' has no address")


async def _received(
    response: httpx2.Response, url: httpx2.URL, limits: PageLimits
) -> httpx2.URL | _Body:
    location = response.headers.get("location")
    if response.status_code in _REDIRECTS and location:
        return _checked_url(str(url.join(location)))
    if response.status_code in _GONE:
        raise ToolFailure(FailureKind.NOT_FOUND, f"there is no '{url}' ({response.status_code})")
    if not response.is_success:
        raise ToolFailure(FailureKind.FAILED, f"'{url}' answered {response.status_code}")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and not (kind in _HTML or _TEXT.fullmatch(kind)):
        raise ToolFailure(
            FailureKind.FAILED,
            f"'{url}' is {kind}, and read shows text only",
            "download it with a command if you need it",
        )
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > limits.bytes:
            raise _too_large(str(url), limits)
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    return _Body(str(url), bytes(data), encoding, kind, response.charset_encoding)


def _text(body: _Body, limits: PageLimits, stop: Stop) -> str:
    data = _unpacked(body, limits)
    if body.kind in _HTML:
        return readable(data, body.charset, limits.seconds, stop)
    if b"\0" in data and body.charset is None:
        raise ToolFailure(FailureKind.FAILED, f"'{body.url}' is no text, and read shows text only")
    for charset in (body.charset, "utf-8"):
        if charset is None:
            continue
        try:
            text = data.decode(charset)
        except (LookupError, UnicodeError):  # a name that nobody knows, or the wrong one
            continue
        # Some encodings can spell half of a character, which no transcript could hold.
        return text.encode("utf-8", "replace").decode("utf-8")
    return data.decode("utf-8", "replace")


def _unpacked(body: _Body, limits: PageLimits) -> bytes:
    if body.encoding in ("", "identity"):
        return body.data
    if body.encoding not in ("gzip", "x-gzip", "deflate"):
        raise ToolFailure(
            FailureKind.FAILED, f"'{body.url}' is packed as '{body.encoding}', which was not asked"
        )
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        data = unpacking.decompress(body.data, limits.bytes + 1)
    except zlib.error as error:
        raise ToolFailure(FailureKind.FAILED, f"'{body.url}' is packed wrongly: {error}") from None
    if len(data) > limits.bytes:
        raise _too_large(body.url, limits)
    if not unpacking.eof:
        raise ToolFailure(FailureKind.FAILED, f"'{body.url}' breaks off in the middle")
    return data


def _too_large(url: str, limits: PageLimits) -> ToolFailure:
    return ToolFailure(
        FailureKind.FAILED,
        f"'{url}' has more than {limits.bytes} bytes, and read takes no larger page",
        "download it with a command if you need it",
    )


def _name(url: httpx2.URL) -> str:
    return url.raw_host.decode("ascii")


def _port(url: httpx2.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


@functools.cache
def _tls() -> ssl.SSLContext:
    """What a connection needs; the imports take time, so it belongs in a thread."""
    import httpx2

    importlib.import_module("anyio._backends._asyncio")
    return httpx2.create_ssl_context(trust_env=False)

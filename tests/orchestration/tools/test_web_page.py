from __future__ import annotations

import asyncio
import gzip
import socket
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orchestration.settings.model import ToolSettings
from orchestration.tools import web_addresses
from orchestration.tools.builtin.read import READ
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure, ToolOutput
from orchestration.tools.web_page import PageLimits, WebPage, fetch, split_web_selector
from tests.support.leak_check import child_processes
from tests.support.loopback import Answer, Hang, LoopbackServer, refused_url
from tests.support.tool_bench import context_in, services

PAGE = """<!doctype html><html><head><title>A page</title><style>p {color: red}</style></head>
<body><nav><a href="/">home</a></nav><h1>Heading</h1><p>Some <b>bold</b> text and a
<a href="/there">link</a>.</p><script>alert("no")</script><ul><li>one</li><li>two</li></ul>
</body></html>"""


def page(body: bytes | str, kind: str = "text/html; charset=utf-8", **headers: str) -> Answer:
    data = body if isinstance(body, bytes) else body.encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer((data,), 200, {"content-type": kind, **named})


def moved(location: str, status: int = 302) -> Answer:
    return Answer((), status, {"location": location})


def got(url: str, limits: PageLimits | None = None) -> WebPage:
    return asyncio.run(fetch(url, allow_private=True, limits=limits or PageLimits()))


def failed(url: str, *, private: bool = True, limits: PageLimits | None = None) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        asyncio.run(fetch(url, allow_private=private, limits=limits or PageLimits()))
    return caught.value


def reading(root: Path, **settings: Any) -> ToolContext:
    return context_in(root, services=services(root, settings=ToolSettings(**settings)))


def read(context: ToolContext, path: str) -> ToolOutput:
    return asyncio.run(READ.run({"path": path}, context))  # type: ignore[arg-type]


def resolve_as(monkeypatch: pytest.MonkeyPatch, name: str, *addresses: str) -> list[str]:
    """Let a name lead to these addresses; gives the list of times it was asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if text != name:
            return real(host, port, *arguments, **options)
        asked.append(text)
        return [
            (socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port))
            for a in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_html_is_made_readable() -> None:
    with LoopbackServer(page(PAGE)) as server:
        found = got(f"{server.url}/a")
    assert found.url == f"{server.url}/a"
    assert found.text.split("\n") == [
        "A page",
        "",
        "# Heading",
        "",
        "Some **bold** text and a",
        "[link](/there).",
        "",
        "- one",
        "- two",
    ]


def test_a_page_is_numbered_and_selected_like_a_file(tmp_path: Path) -> None:
    with LoopbackServer(page("one\ntwo\nthree\n", "text/plain"), repeats=True) as server:
        context = reading(tmp_path, private_addresses=True)
        whole = read(context, f"{server.url}/notes.txt")
        part = read(context, f"{server.url}/notes.txt:2-")
        bare = read(context, f"{server.url}/notes.txt:raw")
        assert {asked.path for asked in server.asked} == {"/notes.txt"}
    assert whole.content.split("\n")[1:] == ["1:one", "2:two", "3:three"]
    assert whole.content.startswith(f"¶{server.url}/notes.txt#")
    assert whole.meta is not None
    assert whole.meta.source_url == f"{server.url}/notes.txt"
    assert whole.effects.reads == ()
    assert part.content.split("\n")[1:] == ["2:two", "3:three"]
    assert bare.content == "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://host:8080", "http://host:8080"),
        ("http://host:8080/", "http://host:8080/"),
        ("https://host", "https://host"),
        ("https://host/a:b", "https://host/a:b"),
    ],
)
def test_a_port_is_no_selector(address: str, url: str) -> None:
    assert split_web_selector(address) == (url, None)


def test_a_selector_follows_a_path() -> None:
    url, selection = split_web_selector("http://host:8080/a:b:3-4")
    assert url == "http://host:8080/a:b"
    assert selection is not None
    assert selection.ranges == ((3, 4),)


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("application/json", b'{"a": "\xc3\xa4"}', '{"a": "ä"}'),
        ("application/problem+json", b"{}", "{}"),
        ("text/plain; charset=latin-1", b"caf\xe9", "café"),
        ("text/plain; charset=nonsense", "ä".encode(), "ä"),
        ("text/plain; charset=hex", "ä".encode(), "ä"),
        ("text/plain", b"caf\xe9", "caf�"),
        ("text/plain; charset=utf-7", b"+2AA-", "?"),
        ("text/plain; charset=unicode_escape", b"a\\ud800", "a?"),
        ("text/html; charset=utf-7", b"<p>a+2AA-</p>", "a?"),
        ("text/html", "<table><tr><td colspan='²'>a</td></tr></table>".encode(), "a"),
        ("application/xml", b"<a/>", "<a/>"),
        ("text/html", "<p>ä</p>".encode(), "ä"),
        ("text/html; charset=latin-1", b"<p>\xe9</p>", "é"),
        ("text/html", b'<meta charset="latin-1"><p>\xe9</p>', "é"),
        ("text/html", b"/just/words", "/just/words"),
        ("text/html", b"", ""),
        ("application/xhtml+xml", b'<?xml version="1.0"?><r><p>x</p></r>', "x"),
    ],
)
def test_text_comes_as_it_is(kind: str, body: bytes, text: str) -> None:
    with LoopbackServer(page(body, kind)) as server:
        assert got(server.url).text == text


def test_a_page_nested_too_deep_is_still_text() -> None:
    with LoopbackServer(page("<div>" * 5000 + "deep down")) as server:
        assert got(server.url).text == "deep down"


@pytest.mark.parametrize("kind", ["image/png", "application/octet-stream", "application/pdf"])
def test_what_is_no_text_is_refused_kindly(kind: str) -> None:
    with LoopbackServer(page(b"\x89PNG", kind)) as server:
        failure = failed(server.url)
    assert failure.kind is FailureKind.FAILED
    assert kind in str(failure)
    assert "download it" in failure.hint


def test_bytes_without_a_type_are_looked_at() -> None:
    with LoopbackServer(Answer((b"a\0b",)), Answer((b"words",))) as server:
        assert failed(server.url).kind is FailureKind.FAILED
        assert got(server.url).text == "words"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, FailureKind.NOT_FOUND),
        (410, FailureKind.NOT_FOUND),
        (403, FailureKind.FAILED),
        (503, FailureKind.FAILED),
        (304, FailureKind.FAILED),
    ],
)
def test_an_answer_that_is_no_page(status: int, kind: FailureKind) -> None:
    with LoopbackServer(Answer((b"no",), status)) as server:
        failure = failed(server.url)
    assert failure.kind is kind
    assert str(status) in str(failure)


def test_nobody_listening_is_a_failure() -> None:
    assert failed(refused_url()).kind is FailureKind.FAILED


def test_a_name_that_is_not_there_is_not_found() -> None:
    assert failed("http://nowhere.invalid/").kind is FailureKind.NOT_FOUND


@pytest.mark.parametrize(
    "address",
    [
        "http://",
        "http:///x",
        "http://h:99999/",
        "http://h:x/",
        "https://me:secret@127.0.0.1/",
        "http://127.0.0.1\r\nX-Bad: 1/",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    failure = failed(address)
    assert failure.kind is FailureKind.INVALID_ARGS
    assert "secret" not in str(failure)


def test_redirects_are_followed_and_the_last_address_is_told(tmp_path: Path) -> None:
    with LoopbackServer(moved("/b"), moved("c?x=1", 308), page("here", "text/plain")) as server:
        output = read(reading(tmp_path, private_addresses=True), f"{server.url}/a/x")
        assert [asked.path for asked in server.asked] == ["/a/x", "/b", "/c?x=1"]
    assert output.meta is not None
    assert output.meta.source_url == f"{server.url}/c?x=1"


def test_at_most_five_redirects_are_followed() -> None:
    with LoopbackServer(*[moved("/on")] * 5, page("end", "text/plain")) as server:
        assert got(server.url).text == "end"
    with LoopbackServer(moved("/on"), repeats=True) as server:
        assert "redirects more than 5 times" in str(failed(server.url))
        assert len(server.asked) == 6


@pytest.mark.parametrize(
    "location", ["file:///etc/hostname", "ftp://127.0.0.1/x", "http://me:pw@127.0.0.1/"]
)
def test_a_redirect_out_of_the_web_is_refused(location: str) -> None:
    with LoopbackServer(moved(location)) as server:
        assert failed(server.url).kind is FailureKind.INVALID_ARGS


def test_a_redirect_takes_no_cookies_along() -> None:
    first = Answer((), 302, {"location": "/b", "set-cookie": "id=1"})
    with LoopbackServer(first, page("x", "text/plain")) as server:
        got(server.url)
        assert "cookie" not in server.last.headers


def test_a_large_page_is_refused_while_it_comes() -> None:
    with LoopbackServer(Answer((b"x" * 600, b"x" * 600, Hang()), 200)) as server:
        failure = failed(server.url, limits=PageLimits(bytes=1000))
    assert failure.kind is FailureKind.FAILED
    assert "more than 1000 bytes" in str(failure)


def test_a_packed_page_is_unpacked_and_its_size_counts_unpacked() -> None:
    packed = page(gzip.compress(b"words " * 10), "text/plain", content_encoding="gzip")
    bomb = page(gzip.compress(b"\n" * 10_000_000), "text/plain", content_encoding="gzip")
    with LoopbackServer(packed, bomb) as server:
        assert got(server.url).text == "words " * 10
        assert "bytes" in str(failed(server.url))


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(b"x", "br"), (b"x", "gzip"), (gzip.compress(b"words" * 99, mtime=0)[:-12], "gzip")],
)
def test_what_cannot_be_unpacked_is_refused(body: bytes, encoding: str) -> None:
    with LoopbackServer(page(body, "text/plain", content_encoding=encoding)) as server:
        assert failed(server.url).kind is FailureKind.FAILED


def test_a_page_that_keeps_a_parser_busy_is_given_up() -> None:
    before = child_processes()
    with LoopbackServer(page("<p>x</p>" + "<!--" * 300_000)) as server:
        failure = failed(server.url, limits=PageLimits(seconds=1.0))
    assert failure.kind is FailureKind.TIMEOUT
    assert not child_processes() - before


def test_the_time_limit_counts_in_all() -> None:
    with LoopbackServer(Answer((b"slow", Hang()))) as server:
        failure = failed(server.url, limits=PageLimits(seconds=0.3))
    assert failure.kind is FailureKind.TIMEOUT


def test_stopping_the_call_ends_the_connection() -> None:
    async def stop(server: LoopbackServer) -> None:
        task = asyncio.create_task(fetch(server.url, allow_private=True))
        await asyncio.to_thread(server.was_asked.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with LoopbackServer(Answer((b"begin", Hang()))) as server:
        asyncio.run(stop(server))
        assert server.client_gone.wait(20)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_this_computer_is_refused_unless_allowed(tmp_path: Path, host: str) -> None:
    with LoopbackServer(page("secret", "text/plain")) as server:
        port = server.url.rpartition(":")[2]
        with pytest.raises(ToolFailure) as caught:
            read(reading(tmp_path), f"http://{host}:{port}/")
        assert server.connections == 0
    assert caught.value.kind is FailureKind.PERMISSION_DENIED
    assert "settings" in caught.value.hint


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("pages.invalid", ["127.0.0.1"]),
        ("pages.invalid", ["8.8.8.8", "127.0.0.1"]),
        ("pages.invalid", ["::1"]),
        ("pages.invalid", ["169.254.169.254"]),
        # As the systems that know these spellings read them.
        ("2130706433", ["127.0.0.1"]),
        ("0x7f.1", ["127.0.0.1"]),
        ("[::ffff:127.0.0.1]", ["::ffff:127.0.0.1"]),
    ],
)
def test_a_name_that_leads_to_a_private_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, host: str, addresses: list[str]
) -> None:
    with LoopbackServer(page("secret", "text/plain")) as server:
        port = server.url.rpartition(":")[2]
        resolve_as(monkeypatch, host.strip("[]"), *addresses)
        failure = failed(f"http://{host}:{port}/", private=False)
        assert server.connections == 0
    assert failure.kind is FailureKind.PERMISSION_DENIED


def test_each_redirect_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_addresses, "is_public", lambda address: address == "127.0.0.1")
    with LoopbackServer() as server:
        port = server.url.rpartition(":")[2]
        for target in ("127.0.0.2", "inner.invalid", "[::1]"):
            resolve_as(monkeypatch, "inner.invalid", "10.0.0.1")
            server.play(moved(f"http://{target}:{port}/secret"))
            failure = failed(server.url, private=False)
            assert failure.kind is FailureKind.PERMISSION_DENIED
        assert {asked.path for asked in server.asked} == {"/"}


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LoopbackServer(page("x", "text/plain")) as server:
        port = server.url.rpartition(":")[2]
        asked = resolve_as(monkeypatch, "pages.invalid", "127.0.0.1")
        assert got(f"http://pages.invalid:{port}/x").text == "x"
        assert server.last.headers["host"] == f"pages.invalid:{port}"
    assert asked == ["pages.invalid"]


def test_the_next_address_is_tried_where_one_does_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LoopbackServer(page("x", "text/plain")) as server:
        port = server.url.rpartition(":")[2]
        resolve_as(monkeypatch, "pages.invalid", "127.0.0.3", "127.0.0.1")
        assert got(f"http://pages.invalid:{port}/x").text == "x"


def test_encrypted_pages_are_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "pages.invalid", "127.0.0.1")
    hello = b""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def take_hello() -> None:
            nonlocal hello
            connection, _ = listener.accept()
            with connection:
                hello = connection.recv(65536)

        taker = threading.Thread(target=take_hello)
        taker.start()
        failure = failed(f"https://pages.invalid:{listener.getsockname()[1]}/")
        taker.join(20)
    assert b"pages.invalid" in hello
    assert failure.kind is FailureKind.FAILED


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", refused_url())
    monkeypatch.setenv("ALL_PROXY", refused_url())
    with LoopbackServer(page("x", "text/plain")) as server:
        assert got(server.url).text == "x"


def test_settings_are_those_of_the_run(tmp_path: Path) -> None:
    context = reading(tmp_path, private_addresses=True)
    strict = msgspec.structs.replace(
        context, services=services(tmp_path, settings=ToolSettings(private_addresses=False))
    )
    with LoopbackServer(page("x", "text/plain"), repeats=True) as server:
        assert read(context, server.url).content.endswith("1:x")
        with pytest.raises(ToolFailure):
            read(strict, server.url)

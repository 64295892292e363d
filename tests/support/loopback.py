"""An HTTP server on this computer that answers as it is told and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, field

STEP_TIMEOUT_S = 20.0


class Hang(Struct, frozen=True):
    """Say nothing more until the client goes away."""


class Cut(Struct, frozen=True):
    """Break the connection here, without an end."""


class Gate:
    """Say nothing more until the test opens the gate."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def open(self) -> None:
        self.opened.set()


Part = bytes | Hang | Cut | Gate


class Answer(Struct, frozen=True):
    """One reply: a status, headers and a body in parts, each sent by itself."""

    parts: tuple[Part, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Asked(Struct, frozen=True):
    """One request as it came; header names in small letters."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def sse(*events: Any, done: bool = False) -> Answer:
    """A stream of events; each is data, or a part of its own kind such as `Cut()`."""
    parts = [event if isinstance(event, Part) else sse_event(event) for event in events]
    if done:
        parts.append(b"data: [DONE]\n\n")
    return Answer(tuple(parts), headers={"content-type": "text/event-stream"})


def sse_event(data: Any) -> bytes:
    """An event in its wire form, named by its type where it has one."""
    kind = data.get("type") if isinstance(data, dict) else None
    name = f"event: {kind}\n" if isinstance(kind, str) else ""
    return f"{name}data: {json.dumps(data)}\n\n".encode()


def json_answer(data: Any, status: int = 200, **headers: str) -> Answer:
    """A whole reply in JSON; underscores in header names become dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(
        (json.dumps(data).encode(),),
        status,
        {"content-type": "application/json", **named},
    )


def html_answer(status: int = 200) -> Answer:
    """A web page, as a wrong address gives it."""
    page = b"<!doctype html><html><body>Welcome</body></html>"
    return Answer((page,), status, {"content-type": "text/html; charset=utf-8"})


def refused_url() -> str:
    """An address of this computer at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class LoopbackServer:
    """Plays answers in order, the last one again and again if `repeats`; a context manager.

    With `answer_with` each request is answered by what that makes of it.

    Runs on a thread of its own, so that it can serve code that blocks, threads and processes.
    """

    def __init__(
        self,
        *answers: Answer,
        repeats: bool = False,
        answer_with: Callable[[Asked], Answer] | None = None,
    ) -> None:
        self._answer_with = answer_with
        self.asked: list[Asked] = []
        self.was_asked = threading.Event()
        self.client_gone = threading.Event()
        self.connections = 0
        self._answers = deque(answers)
        self._repeats = repeats
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="loopback-server")
        self._port = 0
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def play(self, *answers: Answer) -> None:
        """Answer the next requests like this."""
        self._answers.extend(answers)

    def __enter__(self) -> LoopbackServer:
        self._thread.start()
        assert self._ready.wait(STEP_TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(STEP_TIMEOUT_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._stopped = asyncio.Event()
        self._ready.set()
        await self._stopped.wait()
        server.close()
        for writer in self._open.values():
            writer.transport.abort()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _stop(self) -> None:
        self._stopped.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        self.connections += 1
        try:
            while (asked := await _read_request(reader)) is not None:
                self.asked.append(asked)
                self.was_asked.set()
                if not await self._reply(reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_gone.set()
        finally:
            del self._open[task]
            writer.close()

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can be used again."""
        if self._answer_with is not None:
            answer = self._answer_with(self.asked[-1])
        elif not self._answers:
            answer = json_answer({"error": {"message": "nothing left to play"}}, status=418)
        elif self._repeats and len(self._answers) == 1:
            answer = self._answers[0]
        else:
            answer = self._answers.popleft()
        head = [f"HTTP/1.1 {answer.status} Whatever", "transfer-encoding: chunked"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write("\r\n".join([*head, "", ""]).encode())
        for part in answer.parts:
            if isinstance(part, bytes):
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
            elif isinstance(part, Gate):
                await asyncio.to_thread(part.opened.wait, STEP_TIMEOUT_S)
            elif isinstance(part, Hang):
                if await reader.read(1) == b"":
                    self.client_gone.set()
                return False
            else:
                writer.transport.abort()
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _read_request(reader: asyncio.StreamReader) -> Asked | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (header := (await reader.readline()).decode("latin-1").strip()) != "":
        name, _, value = header.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, path, headers, body)


def pieces(text: str, size: int = 7) -> Iterable[str]:
    """A text in pieces of some characters, as it would be streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]

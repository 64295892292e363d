"""How long tools keep the event loop busy in one go, while they have much to do.

    python -m benchmarks.tool_stalls

What counts is the CPU time of the loop's thread in its longest callback, so that a busy machine
does not matter. Each call is made twice, and the second time counts: what is imported late is there
by then. A thread that reads a large file keeps the loop waiting by other means: how late timers
come beside it is set against a thread that only counts. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import tempfile
import time
from asyncio import Handle
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import rmtree
from threading import Thread
from typing import Any

from benchmarks.checks import Check, verdict
from benchmarks.lateness import check as lateness_check
from benchmarks.lateness import lateness
from benchmarks.tools import batch, fill, runner_of
from engine.vocabulary.tools import JsonObject
from orchestration.fair_threads import let_threads_take_turns
from orchestration.settings.model import ToolSettings
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.runner import ToolRunner
from orchestration.tools.text_view import tag

FILES = 2000
STALL_MS = 10.0


class Longest:
    """The longest time that the event loop's thread worked in one go, in milliseconds."""

    def __init__(self) -> None:
        self.ms = 0.0
        self.what = ""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measure every callback of every loop until the end."""
        plain: Any = Handle._run

        def run(handle: Any) -> None:
            began = time.thread_time()
            plain(handle)
            took = (time.thread_time() - began) * 1000
            if took > self.ms:
                self.ms, self.what = took, repr(handle)[:120]

        Handle._run = run  # type: ignore[method-assign, assignment]
        try:
            yield
        finally:
            Handle._run = plain  # type: ignore[method-assign]


def fill_for_stalls(folder: Path) -> None:
    """Large files and a little code beside the others."""
    rows = "".join(f"{line:06} {'word ' * 12}\n" for line in range(75_000))
    for name in ("edited.txt", "tagged.txt", "patched.txt", "merged.txt"):
        (folder / name).write_text(rows)
    code = folder / "code"
    code.mkdir()
    for at in range(240):
        lines = [f"print(value_{at}_{line})" for line in range(20)]
        (code / f"part{at}.py").write_text("\n".join(lines) + "\n")


def stall_calls(folder: Path, page: str) -> tuple[tuple[str, str, JsonObject], ...]:
    """One call or more of every tool that has much to do."""
    text = (folder / "edited.txt").read_text()
    patch = (
        "*** Begin Patch\n*** Update File: patched.txt\n@@\n"
        f" 070000 {'word ' * 12}\n-070001 {'word ' * 12}\n+another\n*** End Patch"
    )
    tagged = f"¶tagged.txt#{tag(text)}\nreplace 70000:\n+another"
    last = {"old_text": "074999 word", "new_text": "last word"}
    alike = {"old_text": "070000  word word\n", "new_text": "no such words\n"}
    slow = "for i in $(seq 2000); do echo line $i; done; head -c 5000000 /dev/zero | tr '\\0' x"
    return (
        ("read of 1.3 MB", "read", {"path": "large.txt"}),
        ("read of 1.3 MB, raw", "read", {"path": "large.txt:raw"}),
        ("list", "ls", {"path": "."}),
        ("search", "search", {"pattern": "value", "paths": "."}),
        ("search of few files", "search", {"pattern": "function_7_6", "paths": "**/module*7.py"}),
        ("find", "find", {"paths": "."}),
        ("read of a page", "read", {"path": page}),
        ("ast_grep", "ast_grep", {"pat": "print($A)", "paths": ["code"]}),
        (
            "ast_edit",
            "ast_edit",
            {"ops": [{"pat": "print($A)", "out": "show($A)"}], "paths": ["code"]},
        ),
        ("write of 1.3 MB", "write", {"path": "new.txt", "content": text[: len(text) // 4]}),
        ("write of 1 M characters", "write", {"path": "wide.txt", "content": "ä" * 1_000_000}),
        ("19,000 values, refused", "edit", {"path": "edited.txt", "edits": [1] * 19_000}),
        ("edit of 5 MB", "edit", {"path": "edited.txt", "edits": [last]}),
        ("hash-line edit of 5 MB", "edit", {"input": tagged}),
        ("patch of 5 MB", "apply_patch", {"input": patch}),
        ("edit that is refused", "edit", {"path": "merged.txt", "edits": [alike]}),
        ("command, 5 MB", "bash", {"command": slow}),
    )


class _Page(BaseHTTPRequestHandler):
    """Answers every request with a large page."""

    def do_GET(self) -> None:
        body = "<p>A few words <b>in a paragraph</b>.</p>" * 20_000
        data = f"<html><title>Page</title><body>{body}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def page_server() -> Iterator[str]:
    """The address of a page of this computer."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/page"
        finally:
            server.shutdown()
            thread.join()


async def measure(folder: Path) -> list[Check]:
    """How long tools keep everything else waiting."""
    fill_for_stalls(folder)
    settings = ToolSettings(private_addresses=True)
    runner = runner_of(folder, builtin_tools(settings), settings)
    checks = []
    with page_server() as page:
        calls = stall_calls(folder, page)
        for _, tool_name, arguments in calls:  # what is imported late is imported now
            await runner.execute_batch(batch("warm", [(tool_name, arguments)]))
        for made in ("new.txt", "wide.txt"):
            (folder / made).unlink()
        rmtree(folder / "code")
        fill_for_stalls(folder)
        for name, tool_name, arguments in calls:
            longest = Longest()
            given = batch(name, [(tool_name, arguments)])
            gc.collect()
            with longest.watched():
                results, _ = await asyncio.create_task(runner.execute_batch(given))
            if results[0].is_error != name.endswith("refused"):
                sys.exit(f"{name}: {results[0].content[:300]}")
            print(f"longest in one go: {name:<23} {longest.ms:6.2f} ms  {longest.what}", flush=True)
            met = longest.ms <= STALL_MS
            target = f"<= {STALL_MS:.0f} ms"
            checks.append(Check(f"stall: {name}", f"{longest.ms:.2f}", target, met))
        checks.append(await beside_reads(folder, runner))
    runner.close()
    return checks


async def beside_reads(folder: Path, runner: ToolRunner) -> Check:
    """How late the loop comes while a file of 30 MB is read over and over, never twice alike."""
    rows = "".join(f"{line:06} {'word ' * 12}\n" for line in range(450_000))
    (folder / "huge.txt").write_text(rows)
    numbers = itertools.count(1)

    async def read() -> None:
        at = next(numbers)
        call: JsonObject = {"path": f"huge.txt:{at}-{at + 5}"}
        results, _ = await runner.execute_batch(batch(f"late-{at}", [("read", call)]))
        if results[0].is_error:
            sys.exit(results[0].content[:300])

    return lateness_check("late beside reads of 30 MB", await lateness(read), STALL_MS)


def main() -> int:
    """Measure, print, and say whether every target is met."""
    let_threads_take_turns()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "root"
        folder.mkdir()
        fill(folder, FILES)
        checks = asyncio.run(measure(folder))
    return verdict(checks)


if __name__ == "__main__":
    sys.exit(main())

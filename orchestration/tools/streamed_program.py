"""Run a program that comes with this one: its output as it comes, an end when it is enough.

What reads the output may take its time and touch the disk, so all of it happens in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread, Timer
from typing import TypeVar

from msgspec import Struct

from orchestration.tools.tool import FailureKind, ToolFailure

T = TypeVar("T")

MAX_COMPLAINT_BYTES = 8192
CHUNK_BYTES = 64 * 1024


class Streamed(Struct, frozen=True):
    """How a program ended.

    Attributes:
        status: its exit status, `None` where it was stopped.
        complaint: the beginning of what it wrote to its standard error.
        timed_out: whether it was stopped because its time was over.
    """

    status: int | None
    complaint: str
    timed_out: bool = False


@cache
def program_of(package: str, name: str) -> Path:
    """Where the program of an installed package is: beside the interpreter or among its files.

    Raises:
        ToolFailure: it is not there, so this program is not installed as it should be.
    """
    file_name = f"{name}.exe" if sys.platform == "win32" else name
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (found := folder / file_name).is_file():
            return found
    # Imported here because it is slow to load and hardly ever needed.
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files(package) or []
    except PackageNotFoundError:
        listed = []
    for file in listed:
        if file.name == file_name and (found := Path(str(file.locate()))).is_file():
            return found
    raise ToolFailure(
        FailureKind.FAILED, f"the program '{name}' is missing", "install OpenFlow's packages anew"
    )


class Stop:
    """Ends the program that runs for a call, and every one that would be started after it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.is_set = False

    def set(self) -> None:
        """End what runs; may be called from any thread."""
        with self._lock:
            self.is_set = True
            if self._process is not None:
                kill_group(self._process)

    def hold(self, process: subprocess.Popen[bytes]) -> None:
        """Take a program that has just been started."""
        with self._lock:
            self._process = process
            if self.is_set:
                kill_group(process)

    def let_go(self) -> None:
        """Wait for the program, and forget it: its number may belong to another one from now on."""
        with self._lock:
            if self._process is not None:
                kill_group(self._process)
                self._process.wait()
                self._process = None


async def stoppable(work: Callable[[Stop], T]) -> T:
    """Do work that blocks in a thread of its own.

    Where this is cancelled, the program that the work waits for is ended, and the cancellation goes
    on when the work has come to its end.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()
    stop = Stop()

    def settle(result: T | None, error: BaseException | None) -> None:
        if error is not None:
            ended.set_exception(error)
        else:
            ended.set_result(result)  # type: ignore[arg-type]  # there is a result without an error

    def do() -> None:
        result: T | None = None
        fault: BaseException | None = None
        try:
            result = work(stop)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever awaits the work
            fault = error
        with contextlib.suppress(RuntimeError):  # the loop was closed without waiting
            loop.call_soon_threadsafe(settle, result, fault)
        fault = None  # it holds this frame, and all that the work had read

    Thread(target=do, name="program", daemon=True).start()
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        stop.set()
        while not ended.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([ended])
        ended.exception()  # looked at, so that nobody misses it
        raise


def stream(
    command: Sequence[str],
    folder: Path,
    take: Callable[[bytes], bool],
    time_limit_s: float,
    stop: Stop,
) -> Streamed:
    """Run a command to its end, or until its output is enough, its time is over or it is stopped.

    It has no standard input, runs without a shell in a process group of its own, and is gone when
    this returns. Blocks.

    Args:
        command: the program and its arguments.
        folder: where it runs.
        take: is given each piece of output as it comes; `False` ends the program.
        time_limit_s: after how many seconds it is ended.
        stop: ends it from elsewhere.

    Raises:
        OSError: it cannot be started.
    """
    with TemporaryFile() as complaint:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaint,
            cwd=folder,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        stop.hold(process)
        clock = _Clock(process, time_limit_s)
        try:
            is_whole = _read(process, take)
            if is_whole:
                process.wait()
        finally:
            clock.end()
            stop.let_go()
        complaint.seek(0)
        return Streamed(
            None if not is_whole or clock.rang or stop.is_set else process.returncode,
            complaint.read(MAX_COMPLAINT_BYTES).decode("utf-8", "replace"),
            clock.rang,
        )


def _read(process: subprocess.Popen[bytes], take: Callable[[bytes], bool]) -> bool:
    """Hand the output on; whether it was wanted to its end."""
    output = process.stdout
    assert output is not None
    with output:
        while data := os.read(output.fileno(), CHUNK_BYTES):
            if not take(data):
                return False
    return True


class _Clock:
    """Kills the program when its time is over."""

    def __init__(self, process: subprocess.Popen[bytes], time_limit_s: float) -> None:
        self.rang = False
        self._process = process
        self._timer = Timer(time_limit_s, self._ring)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """No more killing from now on."""
        self._timer.cancel()
        self._timer.join()

    def _ring(self) -> None:
        if self._process.returncode is None:
            self.rang = True
            kill_group(self._process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that began a session of its own, with what it started, unless it has ended."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            # The group has the number of its first process, which has not been waited for yet.
            os.killpg(process.pid, signal.SIGKILL)

"""Follow a command on a POSIX system, with a supervisor process between it and this program."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

from orchestration.workspace.command import (
    Command,
    CommandEnd,
    CommandNotStarted,
    Ending,
    Watch,
)
from orchestration.workspace.process_supervisor import (
    LINGER_S,
    encode_spec,
    end_below,
    send_signal,
)

MARK = "OPENFLOW_COMMAND"
"""The variable by which the processes of a command are known; each command has its own value."""
HANG_S = 1.5
"""How long the supervisor may take to end a tree once it is stopped; then this program does it."""

_SUPERVISOR = Path(__file__).with_name("process_supervisor.py")
_CHUNK = 1 << 16
_LARGEST_PIPE = 1 << 20
_SWEEP_S = 5.0


def follow(command: Command, watch: Watch) -> CommandEnd:
    """Run the command; blocks until it has ended and nothing that it started is left.

    Raises:
        CommandNotStarted: it could not be started.
        OSError: there is no room for its output; what ran was ended.
    """
    mark = uuid4().hex
    with ExitStack() as held:
        control, theirs = socket.socketpair()
        held.callback(control.close)
        held.callback(theirs.close)
        output, pipe = os.pipe()
        held.callback(os.close, output)
        bell = held.enter_context(_Bell(watch))
        try:
            supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SUPERVISOR)],
                stdin=theirs.fileno(),
                stdout=pipe,
                stderr=pipe,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise CommandNotStarted(f"no process can be started: {error.strerror}") from error
        finally:
            os.close(pipe)
        theirs.close()
        following = _Following(command, watch, control, output, bell, mark)
        try:
            following.start()
            following.to_the_end()
        finally:
            following.make_sure(supervisor)
        return following.end()


class _Bell:
    """Wakes the thread that follows a command when the command is to be stopped."""

    def __init__(self, watch: Watch) -> None:
        self._guard = threading.Lock()
        self._ears, self._rope = os.pipe()
        self._is_open = True
        watch.on_stop = self._ring
        if watch.stopping.is_set():
            self._ring()

    def fileno(self) -> int:
        return self._ears

    def __enter__(self) -> _Bell:
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._is_open = False
            os.close(self._ears)
            os.close(self._rope)

    def _ring(self) -> None:
        with self._guard:
            if self._is_open:
                os.write(self._rope, b"!")


class _Following:
    """The talk with one supervisor."""

    def __init__(
        self,
        command: Command,
        watch: Watch,
        control: socket.socket,
        output: int,
        bell: _Bell,
        mark: str,
    ) -> None:
        self._command = command
        self._watch = watch
        self._control = control
        self._output = output
        self._bell = bell
        self._mark = mark
        self._began = monotonic()
        self._told = b""
        self._why_not: str | None = None
        self._exit_code: int | None = None
        self._survivors: int | None = None  # unknown until the supervisor has told
        self._ended_after: float | None = None
        self._stopped_as: Ending | None = None
        self._give_up_at: float | None = None

    def start(self) -> None:
        command = self._command
        spec = encode_spec(
            {
                "argv": list(command.argv),
                "cwd": str(command.cwd),
                "env": {**command.env, MARK: self._mark},
                "keeps_errors": command.keeps_errors,
            }
        )
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # told by the silence
            self._control.sendall(spec)

    def to_the_end(self) -> None:
        """Take what is printed and told until the supervisor hangs up, or hangs."""
        with selectors.DefaultSelector() as selector:
            for source in (self._output, self._control, self._bell):
                selector.register(source, selectors.EVENT_READ)
            while True:
                ready = selector.select(self._patience())
                for key, _ in ready:
                    if key.fileobj is self._control:
                        if not self._listen():
                            self._drain()
                            return
                    elif key.fileobj is self._bell:
                        selector.unregister(self._bell)
                        self._stop(Ending.STOPPED)
                    elif not self._take():
                        selector.unregister(self._output)
                now = monotonic()
                if self._give_up_at is not None and now >= self._give_up_at:
                    self._drain()
                    return
                if now >= self._began + self._command.timeout_s and self._ended_after is None:
                    self._stop(Ending.TIMED_OUT)

    def make_sure(self, supervisor: subprocess.Popen[bytes]) -> None:
        """See that the supervisor and everything below it are gone."""
        if self._survivors is None and self._why_not is None:
            # It does not answer: it was killed, or it was stopped by what it watches over.
            end_below(supervisor.pid)
            supervisor.kill()
            supervisor.wait()
            _sweep(f"{MARK}={self._mark}".encode())
        self._control.close()
        supervisor.wait()

    def end(self) -> CommandEnd:
        """How it ended.

        Raises:
            CommandNotStarted: it had not even begun.
        """
        if self._why_not is not None:
            raise CommandNotStarted(self._why_not)
        wall_s = monotonic() - self._began if self._ended_after is None else self._ended_after
        ending = self._stopped_as or Ending.EXITED
        if self._exit_code is None and self._stopped_as is None:
            ending = Ending.LOST
        return CommandEnd(
            ending,
            self._exit_code if ending is Ending.EXITED else None,
            wall_s,
            self._survivors or 0,
        )

    def _patience(self) -> float | None:
        """Seconds until something has to be done even if nothing comes in."""
        now = monotonic()
        waits = [self._watch.show_if_due()]
        if self._give_up_at is not None:
            waits.append(self._give_up_at - now)
        elif self._ended_after is None:
            waits.append(self._began + self._command.timeout_s - now)
        return min((max(0.0, wait) for wait in waits if wait is not None), default=None)

    def _stop(self, ending: Ending) -> None:
        if self._stopped_as is None:
            self._stopped_as = ending
            self._ended_after = self._ended_after or monotonic() - self._began
            self._give_up_at = monotonic() + HANG_S
            with contextlib.suppress(OSError):  # it has hung up already
                self._control.shutdown(socket.SHUT_WR)

    def _take(self) -> bool:
        data = os.read(self._output, _CHUNK)
        if data:
            self._watch.add(data)
        return bool(data)

    def _drain(self) -> None:
        """Take what still lies in the pipe, whoever may hold its other end."""
        os.set_blocking(self._output, False)
        left = _LARGEST_PIPE
        with contextlib.suppress(BlockingIOError):
            while left > 0 and (data := os.read(self._output, _CHUNK)):
                self._watch.add(data)
                left -= len(data)

    def _listen(self) -> bool:
        try:
            part = self._control.recv(4096)
        except ConnectionResetError:
            part = b""
        *lines, self._told = (self._told + part).split(b"\n")
        for line in lines:
            self._note(line.decode(errors="replace"))
        return bool(part)

    def _note(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        match word:
            case "failed":
                self._why_not = rest
            case "exit":
                self._exit_code = int(rest)
                if self._ended_after is None:
                    self._ended_after = monotonic() - self._began
                    self._give_up_at = monotonic() + LINGER_S + HANG_S
            case "done":
                self._survivors = 0
            case "left":
                self._survivors = int(rest)


def _sweep(mark: bytes) -> None:
    """Kill what carries the mark: the orphans of a supervisor that was killed."""
    until = monotonic() + _SWEEP_S
    while monotonic() < until:
        found = marked_processes(mark)
        for pid in found:
            send_signal(pid, signal.SIGKILL)
        if not found:
            return
        sleep(0.01)


def marked_processes(mark: bytes) -> set[int]:
    """The processes with this `NAME=value` in their environment; none where it is not told."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or it is another user's
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found

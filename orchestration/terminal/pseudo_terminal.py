"""A shell on a pseudo-terminal, and the thread that talks with it.

The shell runs below the same supervisor as the commands of models do, so whatever it has started
ends with it: when the terminal is ended, and also when this program is killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from orchestration.errors import UserError
from orchestration.workspace.process_supervisor import encode_spec, end_below

_SUPERVISOR = Path(__file__).parent.parent / "workspace" / "process_supervisor.py"
_CHUNK = 1 << 14
MOST_WAITING = 1 << 16
"""So many bytes may wait for the reader; then the shell has to wait."""
MOST_UNWRITTEN = 1 << 24
"""So many bytes may wait for a shell that does not read."""
END_S = 8.0
"""How long the supervisor may take to end a tree; then this program does it."""
_LAST_WORDS_S = 0.15
# The session has no terminal yet, so the first one that is opened becomes its own.
_TAKE_TERMINAL = 'tty=$1; shift; exec "$@" <>"$tty" >&0 2>&0'


class TerminalNotStarted(UserError):
    """No shell runs; the message says why."""


class Launch(Struct, frozen=True, kw_only=True):
    """What to run: a program with arguments, in which folder, with what environment and size."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    columns: int = 80
    lines: int = 24


class PseudoTerminal:
    """One shell. `start` blocks for a moment; the other methods never do, and fit any thread.

    Attributes:
        exit_code: that of the shell once it has ended; a negative one is a signal.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        """Take what is called, on a thread of its own, when there is something to `take`.

        It is called once until `take` is, and once when the shell has ended; never after `end`. It
        must come back at once and may not use the terminal.
        """
        self._notify = notify
        self._guard = threading.Lock()
        self._waiting = bytearray()
        self._unwritten = bytearray()
        self._is_told = False
        self._is_dropped = False
        self._is_ending = False
        self._is_over = threading.Event()
        self._master = self._slave = -1
        self._bell = self._rope = -1
        self._thread: threading.Thread | None = None
        self.exit_code: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the shell and everything that it started has ended."""
        return self._is_over.is_set()

    def start(self, launch: Launch) -> None:
        """Start the shell.

        Raises:
            TerminalNotStarted: there is no pseudo-terminal here, or no process can be started.
        """
        if sys.platform == "win32":
            raise TerminalNotStarted(
                "there is no terminal on Windows yet; use Windows Terminal beside this window"
            )
        import pty

        try:
            master, slave = pty.openpty()
        except OSError as error:
            raise TerminalNotStarted(f"no terminal can be opened: {error.strerror}") from error
        try:
            name = os.ttyname(slave)
            _set_size(master, launch.columns, launch.lines)
            supervisor, control = _supervise(launch, name)
        except OSError as error:
            os.close(master)
            os.close(slave)
            raise TerminalNotStarted(f"no shell can be started: {error.strerror}") from error
        except TerminalNotStarted:
            os.close(master)
            os.close(slave)
            raise
        os.set_blocking(master, False)
        # The other side stays open here, too: without a holder there would be an end of it before
        # the shell has opened it.
        self._master, self._slave = master, slave
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._rope, False)
        self._thread = threading.Thread(
            target=self._follow, args=(supervisor, control), name="terminal", daemon=True
        )
        self._thread.start()

    def take(self, most: int) -> bytes:
        """What the shell has printed next, at most so many bytes; nothing if there is nothing."""
        with self._guard:
            was_full = len(self._waiting) >= MOST_WAITING
            part = bytes(self._waiting[:most])
            del self._waiting[:most]
            self._is_told = bool(self._waiting)
            if was_full:
                self._ring()
            return part

    @property
    def waiting(self) -> int:
        """How many bytes `take` would give."""
        return len(self._waiting)

    def write(self, data: bytes) -> bool:
        """Type; false if the shell has not read for so long that nothing more fits."""
        with self._guard:
            if self._is_ending or len(self._unwritten) + len(data) > MOST_UNWRITTEN:
                return False
            self._unwritten += data
            self._ring()
            return True

    def resize(self, columns: int, lines: int) -> None:
        """Tell the shell how large its screen is."""
        with self._guard:
            if self._master >= 0:
                with contextlib.suppress(OSError):  # it has just ended
                    _set_size(self._master, columns, lines)

    def end(self) -> None:
        """Hang up: the shell and all that it started end soon. Nothing is told any more."""
        with self._guard:
            self._is_dropped = True
            self._is_ending = True
            self._ring()
            if self._thread is None:
                self._is_over.set()

    def wait(self, seconds: float) -> bool:
        """Wait until everything has ended; blocks. Tells whether it has."""
        if not self._is_over.wait(seconds):
            return False
        if self._thread is not None:
            self._thread.join(seconds)
        return True

    def _tell(self) -> None:
        # Held meanwhile, so that whoever is told is still there.
        with self._guard:
            if not self._is_dropped:
                self._notify()

    def _ring(self) -> None:
        """Wake the thread; the caller holds the guard."""
        if self._rope >= 0:
            with contextlib.suppress(BlockingIOError):
                os.write(self._rope, b"!")

    def _follow(self, supervisor: subprocess.Popen[bytes], control: socket.socket) -> None:
        try:
            with control:
                self._talk(control)
                self._hang_up()
                _end_all(control, supervisor)
        finally:
            with self._guard:
                os.close(self._bell)
                os.close(self._rope)
                self._bell = self._rope = -1
            self._is_over.set()
            self._tell()

    def _talk(self, control: socket.socket) -> None:
        """Until the shell has ended, or is to end."""
        told = b""
        until: float | None = None
        while True:
            with self._guard:
                if self._is_ending:
                    return
                has_room = len(self._waiting) < MOST_WAITING
                has_words = bool(self._unwritten)
            reads: list[int | socket.socket] = [self._bell]
            if has_room:
                reads.append(self._master)
            if until is None:
                reads.append(control)
            left = None if until is None else max(0.0, until - time.monotonic())
            ready, writes, _ = select.select(reads, [self._master] if has_words else [], [], left)
            if until is not None and (not ready or time.monotonic() > until):
                return
            if self._bell in ready:
                os.read(self._bell, _CHUNK)
            if writes:
                self._send()
            if self._master in ready and not self._read():
                return
            if control in ready:
                part = _received(control)
                told += part
                self.exit_code = _exit_code(told)
                if not part or self.exit_code is not None:
                    until = time.monotonic() + _LAST_WORDS_S

    def _read(self) -> bool:
        """Take what was printed; false if nobody can print any more."""
        try:
            data = os.read(self._master, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:  # how Linux says that the other side is closed
            return False
        with self._guard:
            self._waiting += data
            is_news, self._is_told = not self._is_told, True
        if is_news:
            self._tell()
        return bool(data)

    def _send(self) -> None:
        with self._guard:
            try:
                count = os.write(self._master, self._unwritten[:_CHUNK])
            except BlockingIOError:
                return
            except OSError:  # nobody reads any more
                count = len(self._unwritten)
            del self._unwritten[:count]

    def _hang_up(self) -> None:
        with self._guard:
            self._is_ending = True
            os.close(self._master)
            os.close(self._slave)
            self._master = self._slave = -1


def _supervise(launch: Launch, name: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the supervisor and have it start the shell.

    Raises:
        TerminalNotStarted: the shell cannot be started.
        OSError: no process can be.
    """
    control, theirs = socket.socketpair()
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR)],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        control.close()
        raise
    finally:
        theirs.close()
    control.sendall(
        encode_spec(
            {
                "argv": ["/bin/sh", "-c", _TAKE_TERMINAL, "sh", name, *launch.argv],
                "cwd": launch.cwd,
                "env": dict(launch.env),
                "keeps_errors": True,
            }
        )
    )
    told = b""
    while b"\n" not in told:
        part = _received(control)
        told += part
        if not part:
            break
    if not told.startswith(b"started"):
        _end_all(control, supervisor)
        control.close()
        why = told.decode(errors="replace").strip().removeprefix("failed ")
        raise TerminalNotStarted(f"the shell cannot be started: {why or 'it ended at once'}")
    return supervisor, control


def _end_all(control: socket.socket, supervisor: subprocess.Popen[bytes]) -> None:
    """Let the supervisor end everything; does it in its place where it does not."""
    with contextlib.suppress(OSError):  # it is gone already
        control.shutdown(socket.SHUT_WR)
    try:
        supervisor.wait(END_S)
    except subprocess.TimeoutExpired:
        end_below(supervisor.pid)
        supervisor.kill()
        supervisor.wait()


def _received(control: socket.socket) -> bytes:
    try:
        return control.recv(4096)
    except OSError:
        return b""


def _exit_code(told: bytes) -> int | None:
    for line in told.splitlines():
        word, _, rest = line.partition(b" ")
        if word == b"exit" and rest:
            return int(rest)
    return None


def _set_size(terminal: int, columns: int, lines: int) -> None:
    if sys.platform != "win32":
        import termios

        termios.tcsetwinsize(terminal, (lines, columns))

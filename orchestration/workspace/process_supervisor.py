"""Runs one command and ends all that it started: a program of its own, standard library only.

Its standard input is a socket to whoever started it. It reads a `CommandSpec` from there, and from
then on the end of that stream means: end everything now. So no process outlives the program that
asked for the command, however that one ends. It answers in lines: `started PID`, then `exit CODE`
as soon as the command itself has ended (a negative code is a signal), then `done`, or
`left COUNT` where the system does not let some of the processes be ended. `failed WHY` stands
alone: nothing was started.

On Linux it is a subreaper: whatever is orphaned below it, in whatever session, becomes its child,
so having no child left means that nothing is left. Elsewhere it goes by parents and by the
command's process group; what has left both is out of its reach.

It ends what goes wrong and what is forgotten, and is no prison. A process may kill it like any
other of its user; then whoever asked for the command ends what stands below it and what carries the
command's mark in its environment. What does all of it on purpose is not found: kills this, clears
its environment and begins a session of its own, or has another service start something (`at`, a
user's systemd). Nothing in Linux that needs no privileges would find it: a subreaper further up can
be killed too, the program itself could not tell these orphans from others, and control groups are
not its own. The sandbox keeps such a command in, since there everything dies with the first process
of a name space.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import TypedDict

IS_LINUX = sys.platform == "linux"
LINGER_S = 0.5
"""How long what the command left behind may take to end by itself, such as the end of a pipe."""
TERM_S = 0.8
"""How long a process may take to end after SIGTERM."""
KILL_S = 5.0
"""How long to go on with SIGKILL, which only processes of another user survive."""
ROUND_S = 0.05
"""How often to look for more of them meanwhile."""

_FREEZE_ROUNDS = 100
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36


class CommandSpec(TypedDict):
    """What to run; sent as JSON after its length, eight bytes, the highest first.

    `cwd` is a real path: nothing is started where it leads through a link by now.
    """

    argv: list[str]
    cwd: str
    env: dict[str, str]
    keeps_errors: bool


def encode_spec(spec: CommandSpec) -> bytes:
    """The bytes that tell a supervisor what to run."""
    data = json.dumps(spec).encode()
    return len(data).to_bytes(8, "big") + data


def descendants(root: int) -> list[int]:
    """The processes below `root` that run, at any depth, each after its parent.

    Those that have ended are left out.
    """
    table = _linux_table() if IS_LINUX else _ps_table()
    children: dict[int, list[int]] = {}
    for pid, parent in table.items():
        children.setdefault(parent, []).append(pid)
    found: dict[int, None] = {}
    waiting = [root]
    while waiting:
        below = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
        found |= dict.fromkeys(below)
        waiting.extend(below)
    return list(found)


def end_below(root: int) -> None:
    """Kill everything below `root`; all is stopped first, so that nothing can be born meanwhile."""
    frozen: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        new = set(descendants(root)) - frozen
        if not new:
            break
        for pid in new:
            send_signal(pid, signal.SIGSTOP)
        frozen |= new
    for pid in frozen:
        send_signal(pid, signal.SIGKILL)


def send_signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended, or may be of another user."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _linux_table() -> dict[int, int]:
    """Each process and its parent."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name stands in brackets and may hold anything.
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in b"ZX":
                    table[int(name)] = int(parent)
    return table


def _ps_table() -> dict[int, int]:
    import subprocess

    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,stat="],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=False,
    )
    return parse_ps(listing.stdout.decode(errors="replace"))


def parse_ps(listing: str) -> dict[int, int]:
    """Each process and its parent, out of lines of id, parent and state."""
    rows = (line.split() for line in listing.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 3 and row[2][0] != "Z"}


class Supervisor:
    """One command from its start to the end of the last process that it left."""

    def __init__(self, control: int) -> None:
        self._control = control
        self._stopped = False
        self._shell = 0
        self._code: int | None = None
        self._childless = False
        self._bell, ringer = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(ringer, False)
        signal.set_wakeup_fd(ringer)
        signal.signal(signal.SIGCHLD, _note)
        # What the command does to processes by name must not hit this one.
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def run(self, spec: CommandSpec) -> None:
        """Run the command to its end, or until whoever asked for it hangs up."""
        if select.select([self._control], [], [], 0)[0]:  # stopped before it was begun
            self._tell("done")
            return
        try:
            if IS_LINUX:
                _prctl(_SET_CHILD_SUBREAPER, 1)
            self._shell = _start(spec)
        except OSError as error:
            self._tell(f"failed {error.strerror}: {error.filename or spec['argv'][0]}")
            return
        try:
            self._follow()
        finally:
            if not self._is_alone():
                end_below(os.getpid())

    def _follow(self) -> None:
        _let_go_of_output()
        self._tell(f"started {self._shell}")
        self._wait(lambda: self._code is not None)
        if not self._stopped:
            self._wait(self._is_alone, LINGER_S)
        self._ask_to_end()
        give_up = time.monotonic() + KILL_S
        while not self._is_alone() and time.monotonic() < give_up:
            end_below(os.getpid())
            if not IS_LINUX:
                _kill_group(self._shell)
            self._wait(self._is_alone, ROUND_S, heed_stop=False)
        self._tell("done" if self._is_alone() else f"left {len(self._left())}")

    def _ask_to_end(self) -> None:
        asked: set[int] = set()
        kill_at = time.monotonic() + TERM_S
        while not self._is_alone() and time.monotonic() < kill_at:
            # Some were about to be born when the others were asked. Parents come first: a shell
            # that outlives its children tells of their end.
            for pid in self._left():
                if pid in asked:
                    continue
                send_signal(pid, signal.SIGTERM)
                send_signal(pid, signal.SIGCONT)  # a stopped one would not notice
                asked.add(pid)
            self._wait(self._is_alone, ROUND_S, heed_stop=False)

    def _wait(
        self, is_over: Callable[[], bool], seconds: float | None = None, heed_stop: bool = True
    ) -> None:
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            self._reap()
            left = None if until is None else until - time.monotonic()
            if is_over() or (heed_stop and self._stopped) or (left is not None and left <= 0):
                return
            watched = [self._bell] if self._stopped else [self._bell, self._control]
            if not IS_LINUX:  # an orphan's end is told to somebody else
                left = min(left or 0.05, 0.05)
            for ready in select.select(watched, [], [], left)[0]:
                if ready == self._bell:
                    os.read(self._bell, 4096)
                elif not _read(self._control):
                    self._stopped = True

    def _reap(self) -> None:
        while not self._childless:
            try:
                pid, status = os.waitpid(-1 if IS_LINUX else self._shell, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                return
            if pid == 0:
                return
            if pid == self._shell:
                self._code = os.waitstatus_to_exitcode(status)
                self._tell(f"exit {self._code}")

    def _is_alone(self) -> bool:
        return self._childless if IS_LINUX else not self._left()

    def _left(self) -> list[int]:
        left = descendants(os.getpid())
        if not IS_LINUX and _has_group(self._shell):
            left.append(-self._shell)
        return left

    def _tell(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody listens any more
            os.write(self._control, line.encode(errors="replace") + b"\n")


def _start(spec: CommandSpec) -> int:
    """Start the command in a session of its own; give its process id."""
    parent = os.getpid()
    why_read, why_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            if IS_LINUX:
                _prctl(_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(127)
            signal.set_wakeup_fd(-1)
            for number in (
                signal.SIGCHLD,
                signal.SIGTERM,
                signal.SIGINT,
                signal.SIGHUP,
                signal.SIGPIPE,
                signal.SIGXFSZ,
            ):
                signal.signal(number, signal.SIG_DFL)
            if not spec["keeps_errors"]:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            _enter(spec["cwd"])
            os.execve(spec["argv"][0], spec["argv"], spec["env"])
        except OSError as error:
            os.write(why_write, json.dumps([error.errno, error.strerror, error.filename]).encode())
        finally:
            os._exit(127)
    os.close(why_write)
    with os.fdopen(why_read, "rb") as file:
        why = file.read()
    if why:
        os.waitpid(pid, 0)
        raise OSError(*json.loads(why))
    return pid


def _enter(folder: str) -> None:
    """Go to a folder by its real path; refuse where a link has taken its place meanwhile."""
    os.chdir(folder)
    if not _is_same(os.getcwd(), folder):
        raise OSError(errno.ELOOP, "the folder leads elsewhere now", folder)


def _is_same(one: str, other: str) -> bool:
    if IS_LINUX:
        return one == other
    import unicodedata  # some file systems take these spellings for one

    spelled = (unicodedata.normalize("NFC", path).casefold() for path in (one, other))
    return len(set(spelled)) == 1


def _prctl(option: int, value: int) -> None:
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "prctl")


def _let_go_of_output() -> None:
    """Leave the pipe to the command, so that it ends with the last process that holds it."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def _has_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _note(number: int, frame: object) -> None:
    """A child has ended: the wake-up pipe says so."""


def _read(control: int) -> bytes:
    """What was sent; nothing where the other side is gone, with or without having listened."""
    try:
        return os.read(control, 1 << 16)
    except ConnectionResetError:
        return b""


def _read_spec(control: int) -> CommandSpec | None:
    data = b""
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "big"):
        part = _read(control)
        if not part:
            return None
        data += part
    spec: CommandSpec = json.loads(data[8:])
    return spec


def main() -> None:
    """Serve one command over standard input."""
    control = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    spec = _read_spec(control)
    if spec is not None:
        Supervisor(control).run(spec)


if __name__ == "__main__":
    main()

"""Follow a command where there is no supervisor for it: on Windows.

A tree of processes is ended with the system's own means for that, by parents. What a command left
behind after all of its parents had ended cannot be found there.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable

from orchestration.workspace.command import (
    Command,
    CommandEnd,
    CommandNotStarted,
    Ending,
    Watch,
)

_LOOK_EVERY_S = 0.05
_READ_ON_S = 2.0
"""How long to wait for the rest of an output whose other end somebody still holds."""
_CHUNK = 1 << 16


def command_line(argv: tuple[str, ...]) -> str | tuple[str, ...]:
    """What to start; after `cmd /S /C` a command stands in quotes as it is, nothing escaped."""
    if argv[1:-1] == ("/S", "/C"):
        return f'{subprocess.list2cmdline(argv[:-1])} "{argv[-1]}"'
    return argv


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    with contextlib.suppress(OSError):  # without the program, the process itself is ended below
        subprocess.run(
            ["taskkill", "/T", "/F", "/PID", str(process.pid)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    process.kill()


def follow(
    command: Command,
    watch: Watch,
    end: Callable[[subprocess.Popen[bytes]], None] = end_tree,
) -> CommandEnd:
    """Run the command; blocks until it has ended.

    Raises:
        CommandNotStarted: it could not be started.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            command_line(command.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if command.keeps_errors else subprocess.DEVNULL,
            cwd=command.cwd,
            env=command.env,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise CommandNotStarted(f"{error.strerror}: {command.argv[0]}") from error
    reader = _Reader(process, watch)
    reader.start()
    ending = Ending.EXITED
    try:
        while process.poll() is None:
            if watch.stopping.wait(min(watch.show_if_due() or _LOOK_EVERY_S, _LOOK_EVERY_S)):
                ending = Ending.STOPPED
                break
            if time.monotonic() - began >= command.timeout_s:
                ending = Ending.TIMED_OUT
                break
        wall_s = time.monotonic() - began
    finally:
        end(process)
        process.wait()
        reader.finish()
    return CommandEnd(ending, process.returncode if ending is Ending.EXITED else None, wall_s)


class _Reader(threading.Thread):
    """Takes the output until it ends, or until nobody waits for the rest any more."""

    def __init__(self, process: subprocess.Popen[bytes], watch: Watch) -> None:
        super().__init__(name="command-output", daemon=True)
        self._process = process
        self._watch = watch
        self._guard = threading.Lock()
        self._is_wanted = True

    def run(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        with pipe:
            while data := pipe.read1(_CHUNK):  # type: ignore[attr-defined]
                with self._guard:
                    if not self._is_wanted:
                        return
                    self._watch.add(data)

    def finish(self) -> None:
        self.join(_READ_ON_S)
        with self._guard:
            self._is_wanted = False

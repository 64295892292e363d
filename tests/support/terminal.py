"""A program at a terminal; its standard output is a pipe, or the terminal too."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class AtTerminal:
    """The program with a terminal before it; what it shows there is collected."""

    def __init__(
        self, arguments: tuple[str, ...], env: Mapping[str, str], *, shows_output: bool = False
    ) -> None:
        self._screen, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "app", *arguments],
            stdin=theirs,
            stdout=theirs if shows_output else subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "200", **env},
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""
        self.raw = ""

    def wait_for(self, words: str, timeout_s: float = 60) -> None:
        """Read the screen until it shows the words."""
        deadline = time.monotonic() + timeout_s
        while words not in self.shown:
            assert time.monotonic() < deadline, self.shown
            assert self._read(deadline), self.shown

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._screen, line.encode() + b"\n")

    def press(self, key: bytes) -> None:
        """Press a key that the terminal does not act on by itself."""
        os.write(self._screen, key)

    def interrupt(self) -> None:
        """Press Ctrl+C."""
        self._process.send_signal(2)

    def kill(self) -> None:
        """Let the program end at once, and take the terminal away."""
        self._process.kill()
        self._process.communicate()
        os.close(self._screen)

    def ended(self, timeout_s: float = 60) -> tuple[int, str]:
        """Wait for the end; gives the status and what was on standard output."""
        deadline = time.monotonic() + timeout_s
        while self._read(deadline):
            """Keep the screen from filling up."""
        out, _ = self._process.communicate(timeout=timeout_s)
        os.close(self._screen)
        return self._process.returncode, (out or b"").decode()

    def ended_without_screen(
        self, then: Callable[[], None], timeout_s: float = 60
    ) -> tuple[int, str]:
        """Take the terminal away, do something and wait for the end."""
        os.close(self._screen)
        then()
        out, _ = self._process.communicate(timeout=timeout_s)
        return self._process.returncode, (out or b"").decode()

    def _read(self, deadline: float) -> bool:
        """Take what the screen shows next; false once the program has closed it."""
        ready, _, _ = select.select([self._screen], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            self._process.kill()
            raise AssertionError(f"nothing more was shown: {self.shown}")
        try:
            data = os.read(self._screen, 65536)
        except OSError:
            return False  # how Linux says that nobody holds the other side any more
        text = data.decode(errors="replace")
        self.raw += text
        self.shown += _CONTROL.sub("", text)
        return bool(data)

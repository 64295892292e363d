"""Runs the program as a process of its own, as a person or a script does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

CHECKOUT = Path(__file__).resolve().parents[2]
GRACE_S = 3.0
_MARK = "OPENFLOW_TEST_MARK"


class Ended(Struct, frozen=True):
    """How a process ended: its status, what it wrote, and the processes that it left behind."""

    status: int
    out: str
    err: str
    left: tuple[str, ...]

    @property
    def report(self) -> dict[str, Any]:
        """Standard output as one JSON object."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    def sentence(self) -> str:
        """The only line on standard error; nothing else was written and nothing was left."""
        assert "Traceback" not in self.err
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert not self.left
        return lines[0]


class Running:
    """A program that was started; its standard streams are pipes."""

    def __init__(
        self, arguments: tuple[str, ...], env: Mapping[str, str], stdin: bytes | None = None
    ) -> None:
        self._mark = uuid.uuid4().hex
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "app", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **env, _MARK: self._mark},
            start_new_session=True,
        )
        self._stdin = stdin

    def interrupt(self) -> None:
        """Press Ctrl+C."""
        self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Let it end at once, with no chance to put anything right; wait until it has."""
        self._process.kill()
        self._process.communicate()

    def close_stdout(self) -> None:
        """Read nothing from standard output, as `head` does once it has enough."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.stdout = None

    def ended(self, timeout_s: float = 60) -> Ended:
        """Wait for its end."""
        try:
            out, err = self._process.communicate(self._stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise
        written = (out or b"").decode()
        return Ended(self._process.returncode, written, err.decode(), self._left_behind())

    def _left_behind(self) -> tuple[str, ...]:
        deadline = time.monotonic() + GRACE_S
        while (left := self._marked()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def _marked(self) -> tuple[str, ...]:
        mark = f"{_MARK}={self._mark}".encode()
        found: list[str] = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found.append(f"{folder.name}: {words.decode(errors='replace')}")
            except OSError:
                continue  # it has ended, or is somebody else's
        return tuple(found)


class CommandLine:
    """Starts `openflow` with one data folder and one environment."""

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        self.env = {"PYTHONPATH": str(CHECKOUT), "OPENFLOW_DATA_DIR": str(folder / "data"), **env}

    def start(self, *arguments: str | Path, stdin: bytes | None = None) -> Running:
        """Start it and go on."""
        return Running(tuple(map(str, arguments)), self.env, stdin)

    def run(
        self, *arguments: str | Path, stdin: bytes | None = None, timeout_s: float = 60
    ) -> Ended:
        """Start it and wait for its end."""
        return self.start(*arguments, stdin=stdin).ended(timeout_s)

"""A program in the place of `rg` that does not end, and a clock that rings when it has printed."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Timer

import pytest

from orchestration.tools import ripgrep, streamed_program


def slow_program(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    time_limit_s: float,
    started: Path | str = os.devnull,
    printed: Path | str = os.devnull,
) -> None:
    """Let searches run a script of the folder that prints something and then sleeps for long.

    It writes to `started` when it begins, and to `printed` when it has printed.
    """
    script = folder / "slow"
    script.write_text(
        f"#!/bin/sh\necho >'{started}'\nprintf '{output}'\necho >'{printed}'\nexec sleep 600\n"
    )
    script.chmod(0o755)
    monkeypatch.setattr(ripgrep, "program", lambda: script)
    monkeypatch.setattr(ripgrep, "TIME_LIMIT_S", time_limit_s)


def ring_when_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of programs be over as soon as a file is there, however long that takes."""

    class Clock(Timer):
        def run(self) -> None:
            while not path.exists():
                if self.finished.wait(0.01):
                    return
            self.function()

    monkeypatch.setattr(streamed_program, "Timer", Clock)

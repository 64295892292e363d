from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.terminal.pseudo_terminal import (
    MOST_WAITING,
    Launch,
    PseudoTerminal,
    TerminalNotStarted,
)
from orchestration.terminal.shell_choice import first_folder, shell_of, terminal_environment

PATIENCE_S = 60.0


class Desk:
    """One shell, and what it has printed so far."""

    def __init__(self) -> None:
        self._news = threading.Event()
        self.terminal = PseudoTerminal(self._news.set)
        self.printed = b""

    def start(self, folder: Path, *argv: str) -> None:
        environment = {"PATH": os.environ["PATH"], "PS1": "$ ", "TERM": "dumb"}
        launch = Launch(argv=argv or ("/bin/sh",), cwd=str(folder), env=environment)
        self.terminal.start(launch)

    def type(self, words: str) -> None:
        assert self.terminal.write(words.encode())

    def until(self, words: str) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while words.encode() not in self.printed:
            assert time.monotonic() < give_up, self.printed
            self._news.wait(0.05)
            self._news.clear()
            self.printed += self.terminal.take(1 << 20)

    def wait_for_news(self) -> None:
        self._news.wait(0.05)
        self._news.clear()

    def ended(self) -> bool:
        give_up = time.monotonic() + PATIENCE_S
        while not self.terminal.is_over and time.monotonic() < give_up:
            self.printed += self.terminal.take(1 << 20)
            self._news.wait(0.05)
        return self.terminal.wait(PATIENCE_S)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.terminal.end()
    assert desk.terminal.wait(PATIENCE_S)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_shell_has_a_terminal_a_folder_and_a_size(desk: Desk, tmp_path: Path) -> None:
    desk.start(tmp_path)
    desk.terminal.resize(101, 31)
    desk.type("tty -s && stty size && pwd -P && echo do''ne\n")

    desk.until("done\r\n")

    assert b"31 101" in desk.printed
    assert os.fsencode(tmp_path.resolve()) in desk.printed


def test_it_is_interrupted_by_a_key(desk: Desk, tmp_path: Path) -> None:
    desk.start(tmp_path)
    # What is to be interrupted says itself that it has the terminal.
    desk.type("""sh -c "echo be''gun; exec sleep 1000"\n""")
    desk.until("begun")

    desk.type("\x03")
    desk.type("echo go''es on\n")

    desk.until("goes on")


def test_its_end_and_code_are_told(desk: Desk, tmp_path: Path) -> None:
    desk.start(tmp_path)
    desk.type("echo last; exit 7\n")

    assert desk.ended()

    assert desk.terminal.exit_code == 7
    assert not desk.terminal.write(b"more")


def test_a_flood_waits_for_its_reader(desk: Desk, tmp_path: Path) -> None:
    desk.start(tmp_path)
    desk.type("yes\n")
    desk.until("y\r\ny\r\n")
    give_up = time.monotonic() + PATIENCE_S
    while desk.terminal.waiting < MOST_WAITING:
        assert time.monotonic() < give_up
        desk.wait_for_news()

    assert desk.terminal.waiting < 2 * MOST_WAITING
    desk.terminal.end()
    assert desk.terminal.wait(PATIENCE_S)


def test_nothing_that_it_started_outlives_it(desk: Desk, tmp_path: Path) -> None:
    desk.start(tmp_path)
    desk.type("setsid sleep 1000 & echo pid=$! ready; trap '' HUP TERM; echo tr''apped\n")
    desk.until("trapped")
    found = re.search(rb"pid=(\d+)", desk.printed)
    assert found is not None
    pid = int(found[1])

    desk.terminal.end()

    assert desk.terminal.wait(PATIENCE_S)
    assert not alive(pid)


def test_what_cannot_be_started_says_so(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(TerminalNotStarted, match="cannot be started"):
        desk.start(tmp_path / "gone")
    desk.terminal.end()


def test_the_shell_is_the_persons_own_or_any() -> None:
    path = os.environ["PATH"]

    assert shell_of({"SHELL": "/bin/sh", "PATH": path})[0] == "/bin/sh"
    assert shell_of({"SHELL": "/no/such/shell", "PATH": path})
    assert shell_of({"PATH": "/nowhere"}) == ()


def test_the_environment_names_our_terminal() -> None:
    made = terminal_environment({"TERM": "dumb", "LINES": "3", "HOME": "/h", "LANG": "C"})

    assert made == {
        "HOME": "/h",
        "LANG": "C",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "OpenFlow",
    }


def test_a_folder_that_is_gone_is_replaced(tmp_path: Path) -> None:
    assert first_folder(tmp_path) == str(tmp_path)
    assert Path(first_folder(tmp_path / "gone")).is_dir()

"""Commands without a supervisor, as on Windows; here with this system's way to end a group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestration.workspace.command import CommandEnd, CommandNotStarted, Ending, Watch
from orchestration.workspace.plain_process import command_line, end_tree, follow
from orchestration.workspace.process import Command
from tests.support.command_rig import PATIENCE_S, alive, shell, wait_until_gone


def end_marked(cwd: Path) -> Callable[[subprocess.Popen[bytes]], None]:
    def end(process: subprocess.Popen[bytes]) -> None:
        process.kill()  # first, for a shell tells of children that are killed
        while found := alive(cwd):  # one may be born while another is killed
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    return end


def followed(command: Command, stop_at: str = "") -> tuple[CommandEnd, str]:
    def show(tail: str) -> None:
        if stop_at and stop_at in tail:
            watch.stop()

    watch = Watch(show)
    with contextlib.closing(watch.output):
        end = follow(command, watch, end_marked(command.cwd))
        return end, watch.output.text().text


def test_a_command_that_ends_by_itself(tmp_path: Path) -> None:
    end, text = followed(shell("cat; echo out; echo err >&2; exit 3", tmp_path))
    assert (end.ending, end.exit_code, text) == (Ending.EXITED, 3, "out\nerr\n")


def test_a_command_whose_children_hold_the_output(tmp_path: Path) -> None:
    end, text = followed(shell("sleep 300 & echo done", tmp_path))
    assert (end.ending, end.exit_code, text) == (Ending.EXITED, 0, "done\n")
    wait_until_gone(tmp_path)


def test_a_command_that_is_stopped(tmp_path: Path) -> None:
    end, text = followed(shell("echo begun; sleep 300 & sleep 300", tmp_path), stop_at="begun")
    assert (end.ending, end.exit_code, text) == (Ending.STOPPED, None, "begun\n")
    wait_until_gone(tmp_path)


def test_a_command_that_takes_too_long(tmp_path: Path) -> None:
    end, _ = followed(shell("sleep 300", tmp_path, timeout_s=0.1))
    assert (end.ending, end.exit_code) == (Ending.TIMED_OUT, None)
    wait_until_gone(tmp_path)


def test_a_command_that_cannot_be_started(tmp_path: Path) -> None:
    command = Command(argv=("/no/such/program",), cwd=tmp_path, env={}, timeout_s=PATIENCE_S)
    with pytest.raises(CommandNotStarted, match="/no/such/program"):
        followed(command)


def test_a_process_is_ended_even_without_the_systems_program_for_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    process = subprocess.Popen(["/bin/sh", "-c", "exec /bin/cat"], stdin=subprocess.PIPE)
    end_tree(process)
    with process:
        assert process.wait(PATIENCE_S) == -signal.SIGKILL


def test_a_command_for_the_shell_of_windows_is_quoted_as_it_wants_it() -> None:
    argv = (r"C:\Program Files\cmd.exe", "/S", "/C", 'echo "a b" & dir')
    assert command_line(argv) == r'"C:\Program Files\cmd.exe" /S /C "echo "a b" & dir"'
    assert command_line(("git", "log")) == ("git", "log")


def test_a_stop_from_another_thread_is_heeded(tmp_path: Path) -> None:
    watch = Watch(lambda tail: None)
    stopper = threading.Timer(0.0, watch.stop)
    stopper.start()
    with contextlib.closing(watch.output):
        end = follow(shell("sleep 300", tmp_path), watch, end_marked(tmp_path))
    stopper.join()
    assert end.ending is Ending.STOPPED
    wait_until_gone(tmp_path)

"""The sandbox: how bubblewrap is called, and what a command in it can and cannot do."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestration.workspace import sandbox
from orchestration.workspace.process import Command, Finished, run_command
from orchestration.workspace.sandbox import SandboxUnavailable, sandbox_program, sandboxed
from tests.support.command_rig import alive, shell


def works_here() -> bool:
    """Whether bubblewrap is installed and the system lets it work."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    attempt = [program, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--proc", "/proc"]
    attempt += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "/bin/true"]
    return subprocess.run(attempt, capture_output=True, check=False).returncode == 0


async def run_inside(command: Command, *folders: Path) -> Finished:
    program = await sandbox_program(command.cwd, command.env, folders)
    return await run_command(sandboxed(program, command, folders))


def refusal_or_result(command: Command, *folders: Path) -> Finished | SandboxUnavailable:
    """What came of the command; on a computer without sandboxes, the reason."""
    try:
        return asyncio.run(run_inside(command, *folders))
    except SandboxUnavailable as reason:
        return reason


def judge(outcome: Finished | SandboxUnavailable, ran: Path, expected: str) -> None:
    """Either the command did what is expected, or it did not run and the reason is told."""
    if works_here():
        assert isinstance(outcome, Finished)
        assert outcome.text == expected
    else:
        assert isinstance(outcome, SandboxUnavailable)
        assert "bubblewrap" in str(outcome)
        assert not ran.exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return (tmp_path / "project").resolve()


def test_bubblewrap_is_told_what_may_be_written_and_runs_the_command_as_it_is(
    folder: Path, tmp_path: Path
) -> None:
    added = tmp_path / "added"
    command = Command(
        argv=("/bin/sh", "-c", "echo '$x'"), cwd=folder / "src", env={"A": "b"}, timeout_s=7
    )
    wrapped = sandboxed("/usr/bin/bwrap", command, (folder, added))
    options, inner = wrapped.argv[: -len(command.argv) - 1], wrapped.argv[-len(command.argv) :]
    assert wrapped.argv[0] == "/usr/bin/bwrap"
    assert inner == command.argv
    text = " ".join(options)
    for needed in ("--die-with-parent", "--unshare-net", "--unshare-pid", "--cap-drop ALL"):
        assert needed in text
    binds = [options[i + 1 : i + 3] for i, word in enumerate(options) if word == "--bind"]
    assert binds == [(str(folder), str(folder)), (str(added), str(added))]
    assert text.index("--ro-bind / /") < text.index("--tmpfs /tmp") < text.index("--bind ")
    assert options[options.index("--chdir") + 1] == str(folder / "src")
    assert (wrapped.timeout_s, wrapped.env) == (7, {"A": "b", "TMPDIR": "/tmp"})


def test_a_command_writes_in_the_folders_of_the_run_and_nowhere_else(
    folder: Path, tmp_path: Path
) -> None:
    added, other = tmp_path / "added", tmp_path / "other"
    added.mkdir()
    other.mkdir()
    script = (
        f"pwd; echo 1 > ../mine && echo wrote mine; echo 1 > {added}/theirs && echo wrote added\n"
        f"for place in {other} {Path.home()} /usr /etc; do\n"
        "  { echo 1 > $place/openflow-stray; } 2>/dev/null && echo wrote $place; done\n"
        "mount -o remount,rw / 2>/dev/null && echo mounted\n"
        "ls /etc > /dev/null && echo read"
    )
    outcome = refusal_or_result(shell(script, folder / "src"), folder, added)
    judge(outcome, folder / "mine", f"{folder}/src\nwrote mine\nwrote added\nread\n")
    assert (folder / "mine").exists() == (added / "theirs").exists() == works_here()
    assert not list(other.iterdir())
    assert not (Path.home() / "openflow-stray").exists()


def test_a_command_has_no_network_and_a_temporary_folder_of_its_own(
    folder: Path, tmp_path: Path
) -> None:
    outside = Path("/tmp") / f"openflow-outside-{os.getpid()}"
    own = f"openflow-own-{os.getpid()}"
    outside.touch()
    try:
        script = (
            f"touch ran; grep -c : /proc/net/dev; [ -e {outside} ] || echo hidden; "
            f"touch $TMPDIR/{own} && echo wrote; [ -S /run/docker.sock ] || echo no services"
        )
        outcome = refusal_or_result(shell(script, folder), folder)
    finally:
        outside.unlink()
    judge(outcome, folder / "ran", "1\nhidden\nwrote\nno services\n")
    assert not (outside.parent / own).exists()


def test_a_command_sees_no_other_process_and_leaves_none(folder: Path) -> None:
    script = (
        f"touch ran; [ -e /proc/{os.getpid()}/exe ] || echo alone; setsid sleep 300 & echo done"
    )
    outcome = refusal_or_result(shell(script, folder), folder)
    judge(outcome, folder / "ran", "alone\ndone\n")
    assert not alive(folder)


def test_without_bubblewrap_the_reason_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(SandboxUnavailable, match=r"'bwrap'.*not installed"):
        asyncio.run(run_inside(shell("touch ran", folder), folder))
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo bwrap: No permissions to create namespace >&2; exit 1", "No permissions to create"),
        ("exit 1", "no reason"),
        ("kill -KILL $$", "no reason"),
    ],
)
def test_a_system_that_permits_no_sandbox_is_found_out_before_anything_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SandboxUnavailable, match=f"does not work on this system: .*{reason}"):
        asyncio.run(run_inside(shell("touch ran", folder), folder))
    assert not (folder / "ran").exists()
    assert str(program) not in sandbox._proven

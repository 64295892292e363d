"""Commands: what they give back, and that nothing of them is left, however they end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from orchestration.workspace import captured_output
from orchestration.workspace.command import CommandNotStarted, Ending
from orchestration.workspace.process import Command, Finished, run_command
from tests.support.command_rig import (
    BASH,
    PATIENCE_S,
    alive,
    leap_when_there,
    named,
    shell,
    until_there,
)

LONG = f"300.{os.getpid()}"
IGNORING = 'trap "" TERM HUP INT;'


def run(command: Command) -> Finished:
    return asyncio.run(asyncio.wait_for(run_command(command), PATIENCE_S))


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_output_and_the_exit_code_come_back(tmp_path: Path, code: int) -> None:
    finished = run(shell(f"echo out; exit {code}", tmp_path))
    assert (finished.text, finished.end.exit_code) == ("out\n", code)
    assert finished.end.ending is Ending.EXITED


def test_output_and_errors_come_as_they_were_printed(tmp_path: Path) -> None:
    script = "for n in 1 2 3; do echo out $n; echo err $n >&2; done"
    assert run(shell(script, tmp_path)).text == "".join(f"out {n}\nerr {n}\n" for n in (1, 2, 3))


def test_errors_can_be_left_out(tmp_path: Path) -> None:
    command = shell("echo out; echo err >&2", tmp_path)
    without = Command(
        argv=command.argv, cwd=tmp_path, env=command.env, timeout_s=60, keeps_errors=False
    )
    assert run(without).text == "out\n"


def test_a_command_runs_in_its_folder_with_its_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "seen")
    finished = run(shell('pwd -P; echo "[${OURS-unset}] [$theirs]"', tmp_path, theirs="a\nb ü"))
    assert finished.text == f"{tmp_path.resolve()}\n[unset] [a\nb ü]\n"


def test_standard_input_is_closed(tmp_path: Path) -> None:
    finished = run(shell("cat; read line || echo nothing to read", tmp_path))
    assert finished.text == "nothing to read\n"


def test_a_command_is_alone_in_its_session_and_cannot_signal_its_caller(tmp_path: Path) -> None:
    finished = run(shell("kill -HUP 0; echo not reached", tmp_path))
    assert (finished.text, finished.end.exit_code) == ("", -signal.SIGHUP)


def test_signals_are_as_a_shell_expects_them(tmp_path: Path) -> None:
    finished = run(shell("yes | head -1; echo ${PIPESTATUS[0]}; trap -p", tmp_path))
    assert finished.text == f"y\n{128 + signal.SIGPIPE}\n"


@pytest.mark.parametrize(
    ("argv", "cwd"),
    [(("/no/such/program",), "."), ((BASH, "-c", "true"), "missing")],
    ids=["program", "folder"],
)
def test_what_cannot_be_started_says_so(tmp_path: Path, argv: tuple[str, ...], cwd: str) -> None:
    command = Command(argv=argv, cwd=tmp_path / cwd, env={}, timeout_s=60)
    with pytest.raises(CommandNotStarted, match=r"No such file or directory: /"):
        run(command)


@pytest.mark.parametrize("below", ["", "/inner"])
def test_nothing_runs_in_a_folder_that_a_link_has_replaced(tmp_path: Path, below: str) -> None:
    elsewhere, cwd = tmp_path / "elsewhere", tmp_path / "cwd"
    (elsewhere / "inner").mkdir(parents=True)
    cwd.symlink_to(elsewhere)

    with pytest.raises(CommandNotStarted, match="leads elsewhere now"):
        run(shell("touch ran", Path(f"{cwd}{below}")))

    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("name", ["ä b", "e\u0301", "line\nend", "-x", "\udcff"])
def test_a_folder_of_any_name_is_entered(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    assert run(shell("touch ran", folder)).end.exit_code == 0
    assert (folder / "ran").exists()


@pytest.mark.parametrize(
    "script",
    [
        "sleep 300 & echo done",
        "setsid sleep 300 & echo done",
        f"{sys.executable} -c \"import subprocess as s; s.Popen(['sleep', '300'])\"; echo done",
        "(setsid bash -c 'sleep 300 & sleep 300' &); echo done",
        "nohup sleep 300 >/dev/null 2>&1 & disown; echo done",
        f"({IGNORING} sleep 300; sleep 300) & setsid bash -c '{IGNORING} sleep 300; :' & echo done",
        "env -i setsid sleep 300 & echo done",
        "bash -c 'kill -STOP $$' & echo done",
    ],
    ids=[
        "background",
        "own session",
        "popen",
        "orphans",
        "nohup",
        "ignores",
        "no environment",
        "stopped",
    ],
)
def test_what_a_command_leaves_behind_neither_holds_the_call_nor_lives_on(
    tmp_path: Path, script: str
) -> None:
    finished = run(shell(script.replace("300", LONG), tmp_path))
    assert (finished.text, finished.end.exit_code) == ("done\n", 0)
    assert not alive(tmp_path)
    assert not named(LONG)


def test_the_end_of_a_pipe_may_finish_after_the_shell(tmp_path: Path) -> None:
    script = "echo one two > >(touch there; tr ' ' '-'); while [ ! -e there ]; do sleep 0.05; done"
    finished = run(shell(script, tmp_path))
    assert finished.text == "one-two\n"


@pytest.mark.parametrize("prelude", ["", IGNORING], ids=["plain", "ignores SIGTERM"])
def test_a_timeout_ends_everything_and_keeps_what_was_printed(
    tmp_path: Path, prelude: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    leap_when_there(tmp_path / "begun", monkeypatch)
    script = f"{prelude} setsid sleep 300 & touch begun; echo begun; while :; do sleep 300; done"
    finished = run(shell(script, tmp_path))
    assert (finished.text, finished.end.ending) == ("begun\n", Ending.TIMED_OUT)
    assert finished.end.exit_code is None
    assert not alive(tmp_path)


@pytest.mark.parametrize("prelude", ["", IGNORING], ids=["plain", "ignores SIGTERM"])
def test_cancelling_ends_everything_before_the_cancellation_goes_on(
    tmp_path: Path, prelude: str
) -> None:
    async def scenario() -> None:
        script = f"{prelude} setsid sleep 300 & sleep 300 & echo begun > begun; wait"
        task = asyncio.create_task(run_command(shell(script, tmp_path)))
        await until_there(tmp_path / "begun")
        assert alive(tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not alive(tmp_path)

    asyncio.run(scenario())


def test_cancelling_again_does_not_cut_the_end_short(tmp_path: Path) -> None:
    async def scenario() -> None:
        script = f"{IGNORING} echo begun > begun; while :; do sleep 300; done"
        task = asyncio.create_task(run_command(shell(script, tmp_path)))
        await until_there(tmp_path / "begun")
        while not task.done():
            task.cancel()
            await asyncio.sleep(0)
        assert task.cancelled()
        assert not alive(tmp_path)

    asyncio.run(scenario())


def test_a_command_can_be_cancelled_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(6)

    async def scenario() -> None:
        for _ in range(40):
            script = "setsid sleep 300 & sleep 300 & cat /proc/self/stat; wait"
            task = asyncio.create_task(run_command(shell(script, tmp_path)))
            for _ in range(chance.choice((0, 1, 2))):
                await asyncio.sleep(0)
            await asyncio.sleep(chance.choice((0, 0.04)) * chance.random())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not alive(tmp_path)

    asyncio.run(scenario())


def test_a_command_that_kills_its_supervisor_does_not_get_away(tmp_path: Path) -> None:
    script = "setsid sleep 300 & setsid sleep 300 & echo begun; kill -KILL $PPID; sleep 300"
    finished = run(shell(script, tmp_path))
    assert finished.end.ending is Ending.LOST
    assert finished.end.exit_code is None
    assert not alive(tmp_path)


def test_a_command_that_stops_its_supervisor_is_ended_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leap_when_there(tmp_path / "begun", monkeypatch)
    script = (
        "kill -STOP $PPID; setsid sleep 300 & env -i sleep 300 & touch begun; echo x; sleep 300"
    )
    finished = run(shell(f"{script}", tmp_path))
    assert (finished.text, finished.end.ending) == ("x\n", Ending.TIMED_OUT)
    assert not alive(tmp_path)


def test_fifty_children_that_ignore_signals_and_beget_more_are_ended(tmp_path: Path) -> None:
    (tmp_path / "spawn").write_text(
        f"{IGNORING}\nwhile :; do (setsid bash -c 'sleep 300; sleep 300' &); sleep 0.2; done\n"
    )
    script = "for n in {1..50}; do setsid bash spawn & done; echo done"
    finished = run(shell(script, tmp_path))
    assert finished.text == "done\n"
    assert not alive(tmp_path)


def test_the_loop_stays_free_while_a_command_floods_its_output(tmp_path: Path) -> None:
    async def scenario() -> tuple[Finished, int]:
        turns = 0

        async def tick() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        tails: list[str] = []
        seen: list[int] = []

        def show(tail: str) -> None:
            tails.append(tail)
            seen.append(turns)

        script = "head -c 60000000 /dev/zero | tr '\\0' x; echo end"
        finished = await run_command(shell(script, tmp_path), show)
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ticking
        assert tails
        assert all(0 < len(tail) <= captured_output.RECENT_BYTES for tail in tails)
        assert seen == sorted(seen)
        return finished, turns

    finished, turns = asyncio.run(scenario())
    assert finished.text.endswith("xxx" + "end\n")
    assert finished.dropped_bytes + len(finished.text.encode()) > 60_000_000
    assert turns > 100


def test_what_grows_is_shown_while_it_grows(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        tails: list[str] = []

        def show(tail: str) -> None:
            tails.append(tail)
            if "two" in tail:
                (tmp_path / "seen").touch()

        script = "echo one; sleep 0.2; echo two; while [ ! -e seen ]; do sleep 0.05; done"
        await run_command(shell(script, tmp_path), show)
        return tails

    tails = asyncio.run(scenario())
    assert tails[-1] == "one\ntwo\n"


def test_many_commands_run_beside_one_another(tmp_path: Path) -> None:
    async def scenario() -> list[Finished]:
        # Each waits for all the others.
        script = (
            "touch here-$1; while [ $(ls here-* | wc -l) -lt 12 ]; do sleep 0.05; done; echo $1"
        )
        return await asyncio.gather(
            *(
                run_command(shell(script.replace("$1", str(number)), tmp_path))
                for number in range(12)
            )
        )

    assert [finished.text for finished in asyncio.run(scenario())] == [f"{n}\n" for n in range(12)]


def test_no_file_is_left_open(tmp_path: Path) -> None:
    run(shell("true", tmp_path))
    before = sorted(os.listdir("/proc/self/fd"))
    run(shell("echo x; sleep 300 &", tmp_path))
    run(shell("sleep 300", tmp_path, timeout_s=0.1))
    with pytest.raises(CommandNotStarted):
        run(Command(argv=("/no/such",), cwd=tmp_path, env={}, timeout_s=60))
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_disk_that_is_full_fails_the_call_and_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: captured_output.CapturedOutput, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(captured_output.CapturedOutput, "add", full)
    with pytest.raises(OSError, match="No space left"):
        run(shell("echo x; setsid sleep 300 & sleep 300", tmp_path))
    assert not alive(tmp_path)

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest

from app.cli.interrupts import run_until_interrupted

STUBBORN = """
import asyncio
from app.cli.interrupts import run_until_interrupted

async def stubborn():
    while True:
        try:
            print("on", flush=True)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass

run_until_interrupted(stubborn())
"""

NEAT = """
import asyncio, sys
from app.cli.interrupts import run_until_interrupted

async def neat():
    try:
        print("on", flush=True)
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "stopped"

print(run_until_interrupted(neat()))
"""


def started(code: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_lets_the_work_end_by_itself(number: signal.Signals) -> None:
    process = started(NEAT)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_the_second_ends_the_program_whatever_it_does() -> None:
    process = started(STUBBORN)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "openflow: ended at once\n"


def test_work_that_is_not_interrupted_gives_its_result_and_signals_are_as_before() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    before = signal.getsignal(signal.SIGINT)
    assert run_until_interrupted(work()) == 7
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_until_interrupted(work())


def test_what_holds_up_the_end_can_be_interrupted_too() -> None:
    code = """
import asyncio, threading
from app.cli.interrupts import run_until_interrupted

async def work():
    asyncio.ensure_future(asyncio.to_thread(threading.Event().wait))
    await asyncio.sleep(0)
    print("on", flush=True)

run_until_interrupted(work())
"""
    process = started(code)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


def test_what_the_program_was_started_to_ignore_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    async def look() -> object:
        return signal.getsignal(signal.SIGHUP)

    try:
        assert run_until_interrupted(look()) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_late_signal_leaves_the_status_as_it_is(name: str) -> None:
    code = (
        "import atexit, os, signal, sys\n"
        "from app.__main__ import main\n"
        "sys.argv = ['openflow', 'run', 'no-such-file']\n"
        f"atexit.register(os.kill, os.getpid(), signal.{name})\n"
        "sys.exit(main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1

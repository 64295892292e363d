"""The guards that watch over every test see what they are there to see."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.leak_check import LeakCheck, TaskWatch
from tests.support.log_guard import LogGuard
from tests.support.network_guard import NetworkGuard, is_local


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("0.0.0.0", True),
        ("localhost", True),
        ("fe80::1%eth0", False),
        ("192.168.0.1", False),
        ("8.8.8.8", False),
        ("example.com", False),
    ],
)
def test_only_this_machine_is_local(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_reaching_for_another_machine_is_refused_and_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = NetworkGuard()
    guard.install(monkeypatch)

    for target in (("192.0.2.1", 80), ("host.example", 80)):
        with pytest.raises(ConnectionRefusedError, match="a test tried to reach"):
            socket.create_connection(target)

    assert guard.refused == ["192.0.2.1", "host.example"]


def test_a_name_that_exists_nowhere_fails_as_it_always_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard = NetworkGuard()
    guard.install(monkeypatch)

    with pytest.raises(socket.gaierror):
        socket.create_connection(("host.invalid", 80))

    assert guard.refused == []


def test_this_machine_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = NetworkGuard()
    guard.install(monkeypatch)

    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1])) as client,
    ):
        assert client.getpeername() == server.getsockname()

    assert guard.refused == []


def test_a_thread_that_goes_on_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.leak_check.GRACE_S", 0.0)
    may_end = threading.Event()
    check = LeakCheck()
    thread = threading.Thread(target=may_end.wait, name="left-behind")
    thread.start()

    assert check.left_over() == ["thread left-behind"]

    may_end.set()
    thread.join()
    assert check.left_over() == []


def test_a_thread_that_is_about_to_end_is_waited_for() -> None:
    may_end = threading.Event()
    check = LeakCheck()
    thread = threading.Thread(target=may_end.wait)
    thread.start()
    threading.Timer(0.1, may_end.set).start()

    assert check.left_over() == []


def test_a_child_process_is_found_until_it_was_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.leak_check.GRACE_S", 0.0)
    check = LeakCheck()
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        found = check.left_over()
        process.kill()

    expected = [f"process {process.pid}"] if Path("/proc/self/task").exists() else []
    assert [text.split(":")[0] for text in found] == expected
    assert check.left_over() == []


def test_a_task_that_nobody_waited_for_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = TaskWatch()
    watch.install(monkeypatch)

    kept = []

    async def leave_one_behind() -> None:
        kept.append(asyncio.create_task(asyncio.Event().wait(), name="left-behind"))

    async def leave_none_behind() -> None:
        await asyncio.create_task(asyncio.sleep(0))

    asyncio.run(leave_none_behind())
    assert watch.left == []

    asyncio.run(leave_one_behind())
    assert watch.left == ["left-behind running Event.wait"]


def test_logged_errors_are_collected_once() -> None:
    logger = logging.Logger("of this test")
    guard = LogGuard()
    logger.addHandler(guard)

    logger.warning("a warning")
    logger.error("an error")

    assert [record.getMessage() for record in guard.take()] == ["an error"]
    assert guard.take() == []


def test_each_test_has_a_data_folder_that_is_not_there_yet(data_dir: Path) -> None:
    assert os.environ["OPENFLOW_DATA_DIR"] == str(data_dir)
    assert not data_dir.exists()


def test_no_key_of_a_person_is_in_the_environment() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []

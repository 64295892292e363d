"""Finds what a test leaves running: tasks, threads and child processes."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

GRACE_S = 20.0
"""How long something may take to end after the test, with both cores busy."""


class TaskWatch:
    """Notes each task that is still pending when `asyncio.run` is about to cancel the rest."""

    def __init__(self) -> None:
        self.left: list[str] = []
        # Not another watch's: one that is installed later replaces the one before.
        self._run: Callable[..., Any] = inspect.unwrap(asyncio.Runner.run)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Look into every loop that a runner has finished with, until the patch is undone."""
        watch = self

        @functools.wraps(watch._run)
        def run(runner: asyncio.Runner, coroutine: Coroutine[Any, Any, Any], **options: Any) -> Any:
            try:
                return watch._run(runner, coroutine, **options)
            finally:
                watch.left.extend(map(describe, asyncio.all_tasks(runner.get_loop())))

        patch.setattr(asyncio.Runner, "run", run)


def describe(task: asyncio.Task[Any]) -> str:
    """A task's name and what it runs."""
    return f"{task.get_name()} running {getattr(task.get_coro(), '__qualname__', 'a coroutine')}"


class LeakCheck:
    """Compares the threads and child processes after a test with those before it."""

    def __init__(self, *, children: bool = True) -> None:
        self._threads = set(threading.enumerate())
        self._watches_children = children
        self._children = child_processes()

    def left_over(self) -> list[str]:
        """What the test left running and did not end within the grace period."""
        deadline = time.monotonic() + GRACE_S
        threads = [
            thread
            for thread in threading.enumerate()
            # A thread that Python did not start, such as one of Qt's, is on this list for ever
            # once it has asked for its own name.
            if thread not in self._threads and not isinstance(thread, threading._DummyThread)
        ]
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        found = [f"thread {thread.name}" for thread in threads if thread.is_alive()]
        if self._watches_children:
            while (new := child_processes() - self._children) and time.monotonic() < deadline:
                time.sleep(0.01)
            found += [f"process {pid}: {command_line(pid)}" for pid in sorted(new)]
        return found


def child_processes() -> set[int]:
    """The ids of this process's children; empty where the system does not tell (macOS)."""
    children: set[int] = set()
    for listing in Path("/proc/self/task").glob("*/children"):
        try:
            children.update(int(pid) for pid in listing.read_text().split())
        except FileNotFoundError:
            # The thread has ended since it was listed.
            continue
    return children


def command_line(pid: int) -> str:
    """What a process was started as."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:
        return "ended"
    return b" ".join(words).decode(errors="replace").strip() or "ended, but nobody waited for it"

"""How late the event loop comes while a thread works, told from what a busy machine does to it."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from benchmarks.checks import Check

TICK_S = 0.001
LEAST_S = 3.0
SPIN_S = 0.1

Work = Callable[[], Awaitable[object]]


class Lateness(NamedTuple):
    """How late a timer came in 99 of 100 times, in milliseconds.

    `beside_idle`: while a thread did nothing but count, which is what the machine, its other work
    and the turns of threads cost by themselves.
    """

    beside_work: float
    beside_idle: float


async def lateness(work: Work) -> Lateness:
    """Repeat the work for some seconds, and count beside it in turn."""
    late: list[float] = []
    idle: list[float] = []
    for _ in range(3):
        late += await _late_beside(work)
        idle += await _late_beside(lambda: asyncio.to_thread(_count))
    return Lateness(_p99_ms(late), _p99_ms(idle))


def check(name: str, found: Lateness, limit_ms: float) -> Check:
    """Whether the work keeps the loop waiting no longer, what the machine does set aside."""
    own = found.beside_work - found.beside_idle
    value = f"{found.beside_work:.1f} ms ({found.beside_idle:.1f} beside counting)"
    return Check(name, value, f"{limit_ms:.0f} ms more", own <= limit_ms)


async def _late_beside(work: Work) -> list[float]:
    late: list[float] = []
    done = asyncio.Event()

    async def tick() -> None:
        while not done.is_set():
            due = time.perf_counter() + TICK_S
            await asyncio.sleep(TICK_S)
            late.append(time.perf_counter() - due)

    ticking = asyncio.create_task(tick())
    until = time.perf_counter() + LEAST_S / 3
    while time.perf_counter() < until:
        await work()
    done.set()
    await ticking
    return late


def _count() -> None:
    until = time.thread_time() + SPIN_S
    while time.thread_time() < until:
        pass


def _p99_ms(late: list[float]) -> float:
    return statistics.quantiles(late, n=100, method="inclusive")[-1] * 1000

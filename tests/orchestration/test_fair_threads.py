"""Threads that compute give way to the event loop of a program that has opened a backend."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestration.composition import open_backend
from orchestration.fair_threads import TURN_S, let_threads_take_turns


@pytest.fixture(autouse=True)
def usual_turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield
    sys.setswitchinterval(before)


def test_opening_a_backend_shortens_the_turns_of_threads(tmp_path: Path) -> None:
    open_backend(tmp_path, env={})

    assert sys.getswitchinterval() == pytest.approx(TURN_S)


def test_turns_that_are_shorter_already_stay_so() -> None:
    sys.setswitchinterval(TURN_S / 2)

    let_threads_take_turns()

    assert sys.getswitchinterval() == pytest.approx(TURN_S / 2)

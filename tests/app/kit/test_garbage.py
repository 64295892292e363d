"""Garbage is collected on the UI thread and on no other."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.kit.garbage import INTERVAL_MS, UiThreadGarbage, collect_what_is_due


class Circle(QObject):
    """Reachable only from itself, and with a timer that has to be stopped by its own thread."""

    def __init__(self) -> None:
        super().__init__()
        self.me = self
        self.startTimer(1)


@pytest.fixture
def garbage(qapp: QApplication) -> Iterator[UiThreadGarbage]:
    garbage = UiThreadGarbage(qapp)
    yield garbage
    garbage.stop()
    garbage.deleteLater()


def many_objects() -> list[list[int]]:
    return [[number] for number in range(5 * gc.get_threshold()[0])]


def test_a_thread_that_makes_many_objects_collects_nothing(garbage: UiThreadGarbage) -> None:
    dropped = weakref.ref(Circle())

    thread = threading.Thread(target=many_objects)
    thread.start()
    thread.join()

    assert dropped() is not None


def test_the_ui_thread_collects_in_its_loop(garbage: UiThreadGarbage) -> None:
    gc.collect()
    dropped = weakref.ref(Circle())
    loop = QEventLoop()
    weakref.finalize(dropped(), loop.quit)
    give_up = QTimer(interval=20 * INTERVAL_MS)
    give_up.timeout.connect(loop.quit)
    give_up.start()
    kept = many_objects()

    loop.exec()
    give_up.stop()

    assert dropped() is None
    assert kept


def test_nothing_is_collected_before_it_is_due(garbage: UiThreadGarbage) -> None:
    gc.collect()

    assert collect_what_is_due() == 0


def test_afterwards_python_does_it_again(qapp: QApplication) -> None:
    garbage = UiThreadGarbage(qapp)
    garbage.stop()
    garbage.deleteLater()

    assert gc.isenabled()

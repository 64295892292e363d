"""Garbage is collected on the UI thread and on no other."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.kit.garbage import INTERVAL_MS, Collector, UiThreadGarbage


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

    assert Collector().collect_what_is_due() == 0


def full_collections() -> int:
    return int(gc.get_stats()[2]["collections"])


def test_all_objects_are_looked_at_again_only_when_there_are_many_more(
    garbage: UiThreadGarbage,
) -> None:
    collector = Collector()
    kept: list[object] = []

    def make_due() -> None:
        # Until it is the turn of the oldest generation.
        while gc.get_count()[2] <= gc.get_threshold()[2]:
            kept.append(many_objects())
            while gc.get_count()[1] <= gc.get_threshold()[1]:
                gc.collect(0)
            gc.collect(1)

    make_due()
    begin = full_collections()
    collector.collect_what_is_due()
    first = full_collections()
    kept.clear()
    make_due()
    kept.clear()
    collector.collect_what_is_due()
    second = full_collections()
    kept.extend([number] for number in range(len(gc.get_objects())))
    gc.collect(1)
    make_due()
    collector.collect_what_is_due()

    assert (first - begin, second - first, full_collections() - second) == (1, 0, 1)


def test_afterwards_python_does_it_again(qapp: QApplication) -> None:
    garbage = UiThreadGarbage(qapp)
    garbage.stop()
    garbage.deleteLater()

    assert gc.isenabled()

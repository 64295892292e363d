"""The small things that the window is put together from."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.kit.dialogs import confirm
from app.kit.elided_label import ElidedLabel
from app.kit.formats import count_text, duration_text, plural
from app.kit.run_bridge import RunBridge
from app.kit.tasks import Tasks
from app.kit.window_state import WindowState
from engine.vocabulary.events import Aborted, RunEvent
from orchestration.runs.event_hub import EventHub
from tests.support.qt_loop import QtLoop, turns, until


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "< 0.1 s"),
        (0.42, "0.4 s"),
        (0.97, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (1000, "1k"), (1234, "1.2k"), (34_200, "34k"), (1_250_000, "1.2M")],
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count) == text


def test_plurals() -> None:
    assert [plural(1, "node"), plural(2, "node")] == ["1 node", "2 nodes"]


def test_tasks_are_kept_and_their_failures_told(qt_loop: QtLoop) -> None:
    told: list[BaseException] = []

    async def fail() -> None:
        raise ValueError("no")

    async def wait() -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        tasks = Tasks(told.append)
        tasks.spawn(fail(), "failing")
        tasks.spawn(wait(), "waiting")
        await until(lambda: told)
        assert tasks.count == 1
        assert await tasks.drain(1.0)
        assert tasks.count == 0
        assert [str(error) for error in told] == ["no"]
        assert await tasks.drain(1.0)

    qt_loop.run(scenario())


def test_a_task_that_will_not_end_is_left_after_its_time(qt_loop: QtLoop) -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async def scenario() -> None:
        tasks = Tasks(lambda error: None)
        task = tasks.spawn(stubborn(), "stubborn")
        await turns(2)
        assert not await tasks.drain(0.05)
        release.set()
        await task

    qt_loop.run(scenario())


def ignore(event: RunEvent, time: float) -> None:
    """Nothing to project."""


def test_the_bridge_tells_everything_in_order_once_a_frame(qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        hub = EventHub(ignore)
        owner = QObject()
        bridge = RunBridge(hub.subscribe(), owner)
        batches: list[list[int]] = []
        bridge.records.connect(lambda records: batches.append([each.seq for each in records]))

        def has_told(count: int) -> bool:
            return sum(map(len, batches)) == count

        for burst in (1, 2, 3):
            for _ in range(300):
                hub.emit(Aborted())
            await until(partial(has_told, 300 * burst))
            assert len(batches) == burst
        hub.emit(Aborted())
        bridge.close()
        hub.emit(Aborted())
        await turns(40)
        assert [seq for batch in batches for seq in batch] == list(range(1, 902))

    qt_loop.run(scenario())


@pytest.mark.parametrize("yes", [True, False])
def test_a_question_is_awaited_while_other_tasks_go_on(
    qt_loop: QtLoop, qapp: QApplication, yes: bool
) -> None:
    async def scenario() -> None:
        parent = QWidget()
        parent.show()
        steps = 0

        async def count() -> None:
            nonlocal steps
            for _ in range(10):
                await turns(1)
                steps += 1

        asking = asyncio.ensure_future(confirm(parent, "Stop?", "Really?", "Stop"))
        counting = asyncio.ensure_future(count())
        await until(lambda: parent.findChildren(QMessageBox))
        await counting
        assert steps == 10
        box = parent.findChildren(QMessageBox)[0]
        button = next(each for each in box.buttons() if (each.text() == "Stop") is yes)
        button.click()
        assert await asking is yes
        parent.hide()
        parent.deleteLater()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    qt_loop.run(scenario())


def test_the_window_remembers(tmp_path: Path, qapp: QApplication) -> None:
    state = WindowState(tmp_path / "new")
    state.put("theme", "dark")
    state.put("sidebar", False)
    state.remember_open(Path("/a/one.json"), "One")
    state.remember_open(Path("/a/two.json"), "Two, with = and ;")
    state.remember_open(Path("/a/one.json"), "One")
    state.save()

    again = WindowState(tmp_path / "new")
    assert again.text("theme") == "dark"
    assert again.flag("sidebar", True) is False
    assert again.recent() == [
        (Path("/a/one.json"), "One"),
        (Path("/a/two.json"), "Two, with = and ;"),
    ]
    again.forget(Path("/a/one.json"))
    assert [name for _, name in again.recent()] == ["Two, with = and ;"]
    assert again.data("geometry") is None


def test_damaged_memory_is_no_memory(tmp_path: Path, qapp: QApplication) -> None:
    (tmp_path / "window.ini").write_text('[General]\nrecent="{not json"\ngeometry=@nonsense\n')
    state = WindowState(tmp_path)
    assert state.recent() == []
    assert state.data("geometry") is None
    assert state.flag("sidebar", True) is True


def test_a_label_that_yields_leaves_its_neighbour_whole(qtbot: QtBot) -> None:
    bar = QWidget()
    qtbot.addWidget(bar)
    row = QHBoxLayout(bar)
    title, file = ElidedLabel("Feature planning"), ElidedLabel("x" * 80, yields=True)
    row.addWidget(title)
    row.addWidget(file, 1)
    bar.resize(260, 60)
    bar.show()

    assert title.width() >= title.sizeHint().width()
    assert file.width() < file.fontMetrics().horizontalAdvance(file.text())

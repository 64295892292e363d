from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from app.chat.rows import CARDS
from app.history.replay_session import ReplaySession
from engine.vocabulary import events as ev
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import ToolCall, ToolTier
from orchestration.runs.view_values import RunStatus
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, until
from tests.support.stored_runs import keep, stored_run, tell_two_nodes
from tests.support.window_driver import WindowDriver


async def replay(
    driver: WindowDriver, told: FakeRun, status: RunStatus = RunStatus.COMPLETED
) -> ReplaySession:
    """Start, keep the run and open its replay."""
    keep(driver.backend, stored_run(told.run_id, status=status), told)
    await driver.start()
    driver.window.actions_["history"].trigger()
    runs = driver.window.dock.history.runs
    await until(lambda: runs.model.rowCount() == 1)
    runs.choose([told.run_id])
    driver.press(Qt.Key.Key_Return, runs.table)
    await until(lambda: driver.workbench.historian.replay is not None, "no replay was opened")
    await driver.settle()
    session = driver.workbench.historian.replay
    assert session is not None
    return session


async def at(driver: WindowDriver, session: ReplaySession, position: int) -> None:
    await until(lambda: session.position == position, f"event {position} was not reached")
    await driver.settle()


def told_run(driver: WindowDriver, workflow_file: Path) -> FakeRun:
    told = FakeRun("r1", driver.backend.load_workflow(workflow_file))
    tell_two_nodes(told)
    return told


def test_a_replay_shows_what_the_live_run_showed(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        told = told_run(driver, workflow_file)
        session = await replay(driver, told)
        replayed, statuses = driver.texts(), driver.statuses()
        driver.press(Qt.Key.Key_Escape, driver.window.dock.replay_bar.slider)
        await driver.settle()
        assert driver.workbench.historian.replay is None
        assert not driver.window.dock.replay_bar.isVisible()
        run = await driver.run("Uploads that can be resumed")
        tell_two_nodes(run)
        await driver.settle()
        assert driver.texts() == replayed
        assert driver.statuses() == statuses
        assert session.count == len(run.records)
        await driver.close()

    qt_loop.run(scenario())


def test_the_slider_shows_canvas_and_conversation_as_they_were(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        session = await replay(driver, told_run(driver, workflow_file))
        bar = driver.window.dock.replay_bar
        assert driver.statuses()["plan"] == "Done"
        bar.slider.setValue(3)
        await at(driver, session, 3)
        assert driver.statuses()["idea"] == "Thinking"
        assert driver.statuses()["plan"] == "Idle"
        assert driver.texts() == ["Uploads that can be resumed"]
        assert bar.number.text() == f"3 of {session.count}"
        assert bar.moment.text().endswith("Clarify idea: node started")
        assert driver.window.dock.trace.model.rowCount() == 2
        bar.slider.setValue(session.count)
        await at(driver, session, session.count)
        assert driver.statuses()["plan"] == "Done"
        bar.slider.setValue(0)
        await at(driver, session, 0)
        assert driver.texts() == []
        assert set(driver.statuses().values()) == {"Idle"}
        await driver.close()

    qt_loop.run(scenario())


def test_keys_step_and_play_forward_and_back(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        session = await replay(driver, told_run(driver, workflow_file))
        slider = driver.window.dock.replay_bar.slider
        assert slider.hasFocus()
        driver.press(Qt.Key.Key_Left, slider)
        await at(driver, session, session.count - 1)
        driver.press(Qt.Key.Key_Home, slider)
        await at(driver, session, 0)
        driver.press(Qt.Key.Key_Right, slider)
        await at(driver, session, 1)
        driver.press(Qt.Key.Key_Space, slider)
        assert session.direction == 1
        await until(lambda: session.position == session.count, "it did not play to its end")
        await until(lambda: session.direction == 0)
        driver.press(Qt.Key.Key_Backspace, slider)
        assert session.direction == -1
        await until(lambda: session.position < session.count - 1, "it did not play back")
        driver.press(Qt.Key.Key_Backspace, slider)
        assert session.direction == 0
        await driver.close()

    qt_loop.run(scenario())


def test_nothing_can_be_asked_of_a_replay(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        told = FakeRun("r1", driver.backend.load_workflow(workflow_file))
        call = ToolCall("c2", "write", {"path": "a.txt", "content": "x"})
        told.tell(
            ev.NodeStarted("idea", "Clarify idea"),
            ev.ToolCallProposed("idea", "Clarify idea", call),
            ev.ToolApprovalRequested(
                PendingApproval("a1", "idea", "Clarify idea", call, ToolTier.WRITE, "digest")
            ),
            ev.NodeErrored("idea", "Clarify idea", "the service is gone"),
        )
        await replay(driver, told, status=RunStatus.PAUSED)
        assert not driver.cards()
        assert any(row.kind in CARDS for row in driver.rows())
        assert driver.chat.composer.address.kind == "none"
        assert not driver.can("run")
        assert not driver.can("stop")
        assert driver.window.waiting_list.row_texts() == []
        await driver.close()

    qt_loop.run(scenario())


def test_a_replay_is_resumed_or_forked_where_it_stands(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        told = told_run(driver, workflow_file)
        await replay(driver, told, status=RunStatus.STOPPED)
        bar = driver.window.dock.replay_bar
        driver.click(bar.resume)
        await driver.settle()
        assert driver.backend.calls == [("resume_run", "r1")]
        assert not bar.isVisible()
        assert driver.workbench.historian.replay is None
        await driver.close()

    qt_loop.run(scenario())


def test_another_workflow_ends_the_replay(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        await replay(driver, told_run(driver, workflow_file))
        driver.window.actions_["open_example"].trigger()
        await driver.settle()
        assert driver.workbench.historian.replay is None
        assert not driver.window.dock.replay_bar.isVisible()
        await driver.close()

    qt_loop.run(scenario())

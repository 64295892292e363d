"""Opening workflows: by dialog, by drop, from the sidebar; what is broken changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit

from app.first_window import EXAMPLE, first_window, state_folder, window_with
from app.kit.window_state import WindowState
from orchestration.settings.data_folder import data_folder
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow


def test_what_is_open_is_in_the_title(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        assert driver.window.windowTitle() == "Planning (planning.workflow.json) - OpenFlow"
        assert driver.window.top_bar.title.text() == "Planning"
        assert driver.window.top_bar.file.text() == "planning.workflow.json"
        assert "Planning" in driver.window.sidebar.names()
        await driver.close()

    qt_loop.run(scenario())


def test_the_dialog_opens_a_file_while_everything_goes_on(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    other = write_workflow(tmp_path / "other.workflow.json", name="Other")

    async def scenario() -> None:
        await driver.start()
        driver.window.actions_["open"].trigger()
        await until(lambda: driver.window.findChildren(QFileDialog))
        dialog = driver.window.findChildren(QFileDialog)[0]
        await turns(20)
        assert driver.workbench.tasks.count == 1

        name = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(name, QLineEdit)
        name.setText(str(other))
        dialog.accept()
        await driver.settle()

        assert driver.window.document.path == other
        assert driver.window.windowTitle().startswith("Other")
        await driver.close()

    qt_loop.run(scenario())


def test_a_dialog_that_is_cancelled_changes_nothing(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    async def scenario() -> None:
        await driver.start()
        driver.window.actions_["open"].trigger()
        await until(lambda: driver.window.findChildren(QFileDialog))
        driver.window.findChildren(QFileDialog)[0].reject()
        await driver.settle()
        assert driver.window.document.path == workflow_file
        assert driver.window.toasts.texts() == []
        await driver.close()

    qt_loop.run(scenario())


def test_a_file_can_be_dropped_on_the_window(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    other = write_workflow(tmp_path / "other.workflow.json", name="Other")

    async def scenario() -> None:
        await driver.start()
        files = QMimeData()
        files.setUrls([QUrl.fromLocalFile(str(other))])
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        copy, target = Qt.DropAction.CopyAction, driver.window.canvas.viewport()
        enter = QDragEnterEvent(QPoint(30, 30), copy, files, buttons, keys)
        QApplication.sendEvent(target, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(target, QDropEvent(QPointF(30, 30), copy, files, buttons, keys))
        await driver.settle()
        assert driver.window.document.path == other
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{broken", "is not a workflow"),
        (b"[1, 2]", "is not a workflow"),
        (b"", "is not a workflow"),
        (None, "there is no file"),
    ],
)
def test_a_broken_file_is_told_and_leaves_the_open_workflow_alone(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path, content: bytes | None, words: str
) -> None:
    broken = tmp_path / "broken.workflow.json"
    if content is not None:
        broken.write_bytes(content)

    async def scenario() -> None:
        await driver.start()
        before = driver.window.document.path
        driver.window.sidebar.chosen.emit(broken)
        await driver.settle()

        (told,) = driver.window.toasts.texts()
        assert words in told.lower()
        assert str(broken) in told
        assert driver.window.document.path == before
        assert list(driver.statuses()) == ["idea", "plan", "risk", "brief"]
        assert driver.can("run")
        await driver.close()

    qt_loop.run(scenario())


def test_a_broken_file_at_the_start_is_told_and_nothing_is_open(
    qt_loop: QtLoop, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.workflow.json"
    broken.write_text('{"nodes": [{"id": "a"}]}')
    driver = WindowDriver(broken)

    async def scenario() -> None:
        await driver.start()
        assert "is not a workflow" in driver.window.toasts.texts()[0]
        assert driver.statuses() == {}
        assert not driver.can("run")
        assert driver.window.top_bar.chip.text == "No workflow is open"
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_an_outline_that_could_be_drawn_is_taken_back_if_the_file_is_no_workflow(
    qt_loop: QtLoop, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.workflow.json"
    broken.write_text('{"nodes": [{"id": "a", "label": "A", "kind": "agent"}]}')
    driver = WindowDriver(broken)
    assert list(driver.statuses()) == ["a"]

    async def scenario() -> None:
        await driver.start()
        assert driver.statuses() == {}
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_the_last_workflow_is_open_again_after_a_restart(
    qapp: QApplication, qt_loop: QtLoop, tmp_path: Path, workflow_file: Path
) -> None:
    folder = tmp_path / "state"
    driver = WindowDriver(workflow_file, WindowState(folder))

    async def scenario() -> None:
        await driver.start()
        driver.window.actions_["sidebar"].trigger()
        driver.window.remember()
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()

    again = WindowDriver(None, WindowState(folder))
    assert again.window.document.path == workflow_file
    assert list(again.statuses()) == ["idea", "plan", "risk", "brief"]
    assert not again.window._left.isVisible()
    again.dispose()


def test_the_first_start_opens_the_example(qapp: QApplication, data_dir: Path) -> None:
    window = first_window(None, data_dir)
    path = window.document.path
    window.deleteLater()
    assert path is not None
    assert path.name == EXAMPLE


def test_state_is_kept_in_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert state_folder(tmp_path) == tmp_path
    assert state_folder(None) == data_folder(None, os.environ)
    monkeypatch.delenv("OPENFLOW_DATA_DIR")
    assert state_folder(None) == data_folder(None, os.environ)


def test_a_window_without_any_workflow_says_what_to_do(
    qt_loop: QtLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.first_window._last_or_example", lambda state: None)
    driver = WindowDriver(None)

    async def scenario() -> None:
        await driver.start()
        assert driver.chat.empty_text()[0] == "Open a workflow"
        assert driver.window.windowTitle() == "OpenFlow"
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()


def test_a_memory_without_a_folder_keeps_nothing(qapp: QApplication, workflow_file: Path) -> None:
    window = window_with(workflow_file, WindowState(None))
    assert window.document.graph.name == "Planning"
    window.deleteLater()

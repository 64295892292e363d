"""Windows for tests: real widgets on a real loop, over a backend that does what it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from tests.support.qt_loop import QtLoop
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

# What the platform for tests without a screen says of itself; it is no fault of ours.
HARMLESS = ("This plugin does not support", "This plugin supports")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the offscreen platform say what it cannot do."""
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.qt_log_ignore(*HARMLESS, extend=True))


@pytest.fixture(autouse=True)
def _windows_go_with_their_test(qapp: QApplication) -> Iterator[None]:
    """Take down what a test has left on screen: a new style is laid over every widget there is.

    Colours are the application's as well: the next test begins with those of the system.
    """
    before = set(qapp.topLevelWidgets())
    colors = qapp.palette()
    yield
    for widget in qapp.topLevelWidgets():
        if widget not in before:
            widget.hide()
            widget.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    qapp.setPalette(colors)


@pytest.fixture
def qt_loop(qapp: QApplication) -> Iterator[QtLoop]:
    """A loop for the test; nothing may be left on it and nothing may have gone wrong unseen."""
    loop = QtLoop(qapp)
    yield loop
    loop.close()
    assert not loop.complaints, "\n".join(loop.complaints)


@pytest.fixture
def workflow_file(tmp_path: Path) -> Path:
    """The workflow that most tests open: `idea` leads to `plan` and `risk`, both to `brief`."""
    return write_workflow(tmp_path / "planning.workflow.json")


@pytest.fixture
def driver(qapp: QApplication, workflow_file: Path) -> Iterator[WindowDriver]:
    """A window with that workflow; whatever it leaves running fails the test."""
    driver = WindowDriver(workflow_file)
    yield driver
    driver.dispose()

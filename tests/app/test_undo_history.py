"""The undo list on screen: what it lists, what it marks, and where a click leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.canvas import commands
from app.undo_history import OPENED, UndoHistory
from engine.graph.serialization import load_workflow
from tests.support.edited_canvas import Canvas


@pytest.fixture
def canvas(qapp: QApplication, workflow_file: Path) -> Canvas:
    return Canvas(qapp, load_workflow(workflow_file.read_bytes()))


@pytest.fixture
def history(canvas: Canvas) -> UndoHistory:
    panel = UndoHistory(canvas.window)
    panel.ask()
    return panel


def spoken(panel: UndoHistory) -> list[str]:
    role = Qt.ItemDataRole.AccessibleTextRole
    return [panel.steps.index(row).data(role) for row in range(panel.steps.rowCount())]


def row_of(panel: UndoHistory, title: str) -> QModelIndex:
    rows = (panel.steps.index(row) for row in range(panel.steps.rowCount()))
    return next(index for index in rows if index.data() == title)


def click(panel: UndoHistory, title: str) -> None:
    spot = panel.list.visualRect(row_of(panel, title)).center()
    QTest.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=spot)


def test_a_click_goes_to_the_step(canvas: Canvas, history: UndoHistory) -> None:
    start = canvas.text()
    first = canvas.ids()[0]
    assert spoken(history) == [f"{OPENED}, current, saved"]
    commands.rename(canvas.document, first, "One")
    canvas.document.undo_stack.setClean()
    commands.delete(canvas.document, nodes=[first])
    titles = [history.steps.index(row).data() for row in range(history.steps.rowCount())]
    assert spoken(history) == [OPENED, f"{titles[1]}, saved", f"{titles[2]}, current"]

    click(history, titles[1])
    assert canvas.document.label(first) == "One"
    assert not canvas.document.is_changed
    assert spoken(history)[1:] == [f"{titles[1]}, current, saved", f"{titles[2]}, undone"]
    click(history, OPENED)
    assert canvas.text() == start
    click(history, titles[2])
    assert first not in canvas.ids()


def test_the_arrow_keys_go_from_step_to_step(canvas: Canvas, history: UndoHistory) -> None:
    texts = [canvas.text()]
    for name in ("One", "Two", "Three"):
        commands.rename(canvas.document, canvas.ids()[0], name)
        texts.append(canvas.text())
    for key, wanted in (
        (Qt.Key.Key_Up, 2),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Up, 0),
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_End, 3),
        (Qt.Key.Key_Down, 3),
    ):
        canvas.hand.key(key)
        assert canvas.text() == texts[wanted]
    canvas.hand.key(Qt.Key.Key_Escape)
    assert not history.isVisible()
    assert canvas.window.canvas.hasFocus()


def test_typing_goes_on_in_a_step_of_its_own(canvas: Canvas, history: UndoHistory) -> None:
    def typed(name: str) -> None:
        canvas.document.edit(
            "Type a name",
            lambda workflow: workflow.model_copy(update={"name": name}),
            merge="name",
        )

    typed("a")
    typed("ab")
    assert history.steps.rowCount() == 2
    click(history, OPENED)
    click(history, "Type a name")
    typed("abc")
    assert history.steps.rowCount() == 3
    history.dismiss()
    typed("abcd")
    history.ask()
    assert history.told.text() == "2 steps"

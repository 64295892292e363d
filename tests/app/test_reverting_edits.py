"""Undoing what an editing call did, from its line in the conversation."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QPushButton

from engine.vocabulary import events as ev
from engine.vocabulary.tools import EditBatch, FileSnapshot, ToolCall
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.window_driver import WindowDriver, begin

BATCH = EditBatch("b1", "idea", "c1", "edit", 1_000, (FileSnapshot("a.py", True, "old"),))


async def edited(driver: WindowDriver) -> FakeRun:
    """A run in which one call has edited a file and another has read one."""
    await driver.start()
    run = await driver.run("Go")
    begin(run)
    for call_id, name in (("c0", "read"), ("c1", "edit")):
        call = ToolCall(call_id, name, {"path": "a.py"})
        run.tell(
            ev.ToolCallProposed("idea", "Clarify idea", call),
            ev.ToolStarted("idea", call_id, name, call.arguments),
        )
        if name == "edit":
            run.tell(ev.EditBatchRecorded("idea", BATCH))
        run.tell(ev.ToolCompleted("idea", call_id, name, "done"))
    await driver.settle()
    return run


def entries(driver: WindowDriver, call_id: str) -> QMenu:
    """The menu of a call's line."""
    transcript = driver.chat.transcript
    opened: list[QMenu] = []
    row = next(row for row in driver.rows() if row.tool and row.tool.call_id == call_id)
    menu = QMenu(transcript)
    opened.append(menu)
    transcript.menu_opening.emit(row, menu)
    return menu


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions()]


def test_an_edit_can_be_reverted_once_from_its_line(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        run = await edited(driver)
        assert texts(entries(driver, "c0")) == []
        menu = entries(driver, "c1")
        assert texts(menu) == ["Revert This Edit (1 file)"]
        menu.actions()[0].trigger()
        await driver.settle()
        assert driver.backend.calls == [("revert_edit_batch", "b1")]
        run.tell(ev.EditBatchUndone("idea", "b1"))
        await driver.settle()
        assert texts(entries(driver, "c1")) == []
        await driver.close()

    qt_loop.run(scenario())


def test_the_menu_below_the_pointer_has_it(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await edited(driver)
        transcript = driver.chat.transcript
        told: list[object] = []
        transcript.menu_opening.connect(lambda row, menu: told.append(row))
        middle = transcript.viewport().rect().center()
        for y in range(0, transcript.viewport().height(), 8):
            here = QPoint(middle.x(), y)
            event = QContextMenuEvent(
                QContextMenuEvent.Reason.Mouse, here, transcript.viewport().mapToGlobal(here)
            )
            QApplication.sendEvent(transcript.viewport(), event)
            popup = QApplication.activePopupWidget()
            if popup is not None:
                popup.close()
        assert any(getattr(row, "tool", None) is not None for row in told)
        await driver.close()

    qt_loop.run(scenario())


def test_files_that_were_changed_since_are_asked_about(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await edited(driver)
        driver.backend.changed_since = ("a.py",)
        for answer in ("Cancel", "Revert"):
            entries(driver, "c1").actions()[0].trigger()
            await until(lambda: driver.window.findChildren(QMessageBox))
            box = driver.window.findChildren(QMessageBox)[-1]
            assert "Changed since this edit: a.py" in box.informativeText()
            next(b for b in box.findChildren(QPushButton) if b.text() == answer).click()
            await driver.settle()
            await turns(4)
        assert driver.backend.calls == [("revert_edit_batch", "b1", "force")]
        assert "files were changed since" in driver.window.toasts.texts()[0]
        await driver.close()

    qt_loop.run(scenario())

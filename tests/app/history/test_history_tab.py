from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget

from app.history.fork_dialog import ForkDialog
from app.history.run_dialogs import TidyDialog
from app.history.run_list import RunList
from app.history.run_table_model import PAGE
from orchestration.errors import UserError
from orchestration.runs.stored import ForkChanges
from orchestration.runs.view_values import RunStatus
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, turns, until
from tests.support.stored_runs import (
    NOW,
    comparison,
    keep,
    stored_run,
    tell_two_nodes,
)
from tests.support.window_driver import WindowDriver


def runs_of(driver: WindowDriver) -> RunList:
    return driver.window.dock.history.runs


def names(driver: WindowDriver) -> list[str]:
    model = runs_of(driver).model
    return [model.index(row, 0).data() for row in range(model.rowCount())]


async def open_history(driver: WindowDriver, count: int) -> None:
    """Start, open the tab and wait for its rows."""
    await driver.start()
    driver.window.actions_["history"].trigger()
    await until(lambda: runs_of(driver).model.rowCount() == count, "the runs were not listed")
    await driver.settle()


def keep_told(
    driver: WindowDriver, workflow_file: Path, run_id: str = "r1", **facts: Any
) -> FakeRun:
    """A stored run of two nodes."""
    told = FakeRun(run_id, driver.backend.load_workflow(workflow_file))
    tell_two_nodes(told)
    keep(driver.backend, stored_run(run_id, **facts), told)
    return told


def button(parent: QWidget, text: str) -> QPushButton:
    return next(each for each in parent.findChildren(QPushButton) if each.text() == text)


async def dialog_of(kind: type) -> Any:
    """The dialog that comes up."""
    shown: list[Any] = []

    def is_there() -> bool:
        widgets = QApplication.topLevelWidgets()
        shown[:] = [each for each in widgets if isinstance(each, kind) and each.isVisible()]
        return bool(shown)

    await until(is_there, f"no {kind.__name__} came up")
    return shown[0]


def test_runs_of_the_open_workflow_are_listed_or_of_all(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    driver.backend.stored = [
        stored_run("r1", "Older", updated=NOW - 900),
        stored_run("r2", "Newer", status=RunStatus.FAILED),
        stored_run("r3", "Elsewhere", workflow_id="other", workflow_name="Other"),
    ]

    async def scenario() -> None:
        await open_history(driver, 2)
        assert names(driver) == ["Newer", "Older"]
        assert runs_of(driver).table.isColumnHidden(2)
        driver.click(runs_of(driver).scope)
        await until(lambda: len(names(driver)) == 3)
        assert not runs_of(driver).table.isColumnHidden(2)
        await driver.close()

    qt_loop.run(scenario())


def test_the_list_is_searched_and_filtered_by_status(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.stored = [
        stored_run("r1", "Uploads"),
        stored_run("r2", "Search", status=RunStatus.STOPPED),
        stored_run("r3", "Upload limits", status=RunStatus.STOPPED),
    ]

    async def scenario() -> None:
        await open_history(driver, 3)
        runs = runs_of(driver)
        QTest.keyClicks(runs.search, "upload")
        await until(lambda: sorted(names(driver)) == ["Upload limits", "Uploads"])
        stopped = next(each for each in runs._statuses.actions() if each.text() == "Stopped")
        stopped.trigger()
        await until(lambda: names(driver) == ["Upload limits"])
        runs.search.setText("nothing like this")
        await until(lambda: names(driver) == [])
        assert runs._empty.text() == "No run matches."
        await driver.close()

    qt_loop.run(scenario())


def test_ten_thousand_runs_come_page_by_page(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.stored = [
        stored_run(f"r{number}", updated=NOW - number) for number in range(10_000)
    ]

    async def scenario() -> None:
        await driver.start()
        driver.window.actions_["history"].trigger()
        await until(lambda: names(driver))
        await driver.settle()
        assert len(names(driver)) == PAGE
        table = runs_of(driver).table
        table.scrollToBottom()
        await until(lambda: len(names(driver)) == 2 * PAGE, "no second page was fetched")
        await driver.settle()
        assert len(names(driver)) == 2 * PAGE
        assert names(driver) == [f"Run r{number}" for number in range(len(names(driver)))]
        assert {query.limit for query in driver.backend.queries} == {PAGE + 1}
        await driver.close()

    qt_loop.run(scenario())


def test_a_run_is_renamed_in_its_row(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.stored = [stored_run("r1", "Before")]

    async def scenario() -> None:
        await open_history(driver, 1)
        runs = runs_of(driver)
        runs.choose(["r1"])
        runs.asked.emit("rename")
        editor = runs.table.viewport().findChild(type(runs.search))
        assert editor is not None
        editor.setText("After")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await until(lambda: names(driver) == ["After"])
        assert ("rename_run", "r1", "After") in driver.backend.calls
        assert [run.run_id for run in runs.chosen()] == ["r1"]
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.parametrize("is_wanted", [True, False])
def test_deleting_is_asked_first(driver: WindowDriver, qt_loop: QtLoop, is_wanted: bool) -> None:
    driver.backend.stored = [stored_run("r1"), stored_run("r2")]

    async def scenario() -> None:
        await open_history(driver, 2)
        runs_of(driver).choose(["r1"])
        driver.press(Qt.Key.Key_Delete, runs_of(driver).table)
        box = await dialog_of(QMessageBox)
        assert box.text() == "Delete “Run r1”?"
        button(box, "Delete" if is_wanted else "Cancel").click()
        await driver.settle()
        assert (("delete_run", "r1") in driver.backend.calls) is is_wanted
        assert len(names(driver)) == (1 if is_wanted else 2)
        await driver.close()

    qt_loop.run(scenario())


def test_what_cannot_be_done_with_the_chosen_runs_is_not_offered(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    driver.backend.stored = [
        stored_run("done"),
        stored_run("paused", status=RunStatus.PAUSED),
        stored_run("on", status=RunStatus.RUNNING, driven_by="process 7"),
    ]

    async def scenario() -> None:
        await open_history(driver, 3)
        runs = runs_of(driver)
        offered = {}
        for chosen in (["done"], ["paused"], ["on"], ["done", "paused"], []):
            runs.choose(chosen)
            offered[tuple(chosen)] = [key for key, each in runs.buttons.items() if each.isEnabled()]
        assert offered["done",] == ["replay", "fork"]
        assert offered["paused",] == ["replay", "resume", "fork"]
        assert offered["on",] == ["replay", "fork"]
        assert offered["done", "paused"] == ["compare"]
        assert offered[()] == []
        await driver.close()

    qt_loop.run(scenario())


def test_a_run_that_cannot_be_read_is_said_and_the_window_goes_on(
    driver: WindowDriver, qt_loop: QtLoop
) -> None:
    async def scenario() -> None:
        await driver.start()
        driver.backend.error = UserError("the run database is damaged")
        driver.window.actions_["history"].trigger()
        await driver.settle()
        assert driver.window.toasts.texts() == ["The run database is damaged"]
        driver.backend.error = None
        await driver.close()

    qt_loop.run(scenario())


def test_a_paused_run_is_resumed_into_the_conversation(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    keep_told(driver, workflow_file, status=RunStatus.STOPPED)

    async def scenario() -> None:
        await open_history(driver, 1)
        runs_of(driver).choose(["r1"])
        driver.click(runs_of(driver).buttons["resume"])
        await driver.settle()
        assert ("resume_run", "r1") in driver.backend.calls
        assert driver.window.dock.tab == 0
        assert "Chunks of 4 MiB, each with a checksum." in driver.texts()
        await driver.close()

    qt_loop.run(scenario())


def test_two_runs_are_compared_side_by_side(driver: WindowDriver, qt_loop: QtLoop) -> None:
    older, newer = stored_run("r1", "First", started=NOW - 900), stored_run("r2", "Second")
    driver.backend.stored = [older, newer]
    driver.backend.comparisons["r1", "r2"] = comparison(older, newer)

    async def scenario() -> None:
        await open_history(driver, 2)
        runs_of(driver).choose(["r1", "r2"])
        driver.click(runs_of(driver).buttons["compare"])
        await driver.settle()
        view = driver.window.dock.history.comparison
        assert driver.window.dock.history.is_comparing
        rows = [
            [view.nodes.topLevelItem(row).text(column) for column in range(4)]  # type: ignore[union-attr]
            for row in range(view.nodes.topLevelItemCount())
        ]
        assert rows[1] == [
            "Clarify idea",
            "6 s · 640 tokens",
            "6 s · 640 tokens",
            "Same",
        ]
        assert [row[3] for row in rows] == ["", "Same", "Different", ""]
        assert rows[3][2] == "not there"
        assert '"Chunks"' in view.sides[0].toPlainText()
        assert '"Parts"' in view.sides[1].toPlainText()
        assert "another task prompt" in view.differences.text()
        driver.click(view.back)
        assert runs_of(driver).isVisible()
        await driver.close()

    qt_loop.run(scenario())


def test_a_run_is_forked_at_a_turn_with_something_changed(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    keep_told(driver, workflow_file)

    async def scenario() -> None:
        await open_history(driver, 1)
        runs_of(driver).choose(["r1"])
        driver.click(runs_of(driver).buttons["fork"])
        dialog: ForkDialog = await dialog_of(ForkDialog)
        assert [dialog.node.itemText(row) for row in range(dialog.node.count())] == [
            "Clarify idea",
            "Create plan",
        ]
        QTest.keyClicks(dialog.system_prompt, "Be brief.")
        dialog.call.setCurrentIndex(1)
        assert dialog.new_result.toPlainText() == "# Notes"
        dialog.new_result.setPlainText("# Other notes")
        dialog.begin.click()
        await driver.settle()
        changes = ForkChanges(system_prompt="Be brief.", tool_results={"c1": "# Other notes"})
        assert ("fork_run", "r1", "idea", 1, None, changes) in driver.backend.calls
        assert driver.window.dock.tab == 0
        assert driver.can("stop")
        await driver.close()

    qt_loop.run(scenario())


def test_old_runs_are_tidied_up(driver: WindowDriver, qt_loop: QtLoop) -> None:
    driver.backend.stored = [stored_run("r1")]

    async def scenario() -> None:
        await open_history(driver, 1)
        runs_of(driver).asked.emit("prune")
        dialog: TidyDialog = await dialog_of(TidyDialog)
        dialog.days.setValue(7)
        dialog.by_size.setChecked(True)
        dialog.megabytes.setValue(2)
        dialog.tidy.click()
        await driver.settle()
        assert ("prune_runs", 7 * 86_400, 2 * 2**20) in driver.backend.calls
        await driver.close()

    qt_loop.run(scenario())


def test_replays_and_lists_leave_nothing_behind(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    keep_told(driver, workflow_file)

    async def scenario() -> None:
        await open_history(driver, 1)
        runs_of(driver).choose(["r1"])
        runs_of(driver).asked.emit("replay")
        await until(lambda: driver.workbench.historian.replay is not None)
        driver.workbench.historian.replay.play(-1)  # type: ignore[union-attr]
        await turns(4)
        await driver.close()

    qt_loop.run(scenario())

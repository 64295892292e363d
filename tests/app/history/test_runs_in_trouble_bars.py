"""What stands in the way of runs is said where it can be put right."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from engine.graph.serialization import load_workflow
from engine.vocabulary import events as ev
from orchestration.runs.folder_turns import FolderBusy
from orchestration.storage.errors import StorageDamaged
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, until
from tests.support.stored_runs import keep, stored_run, tell_two_nodes
from tests.support.window_driver import WindowDriver

WAITS = (
    "waiting for run 'one' of process 7, which has this folder and waits for a person: "
    "answer it, stop it or let this run go first"
)


def test_a_run_goes_first_at_the_press_of_one_button(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run("go")
        bar = driver.window.dock.folder_bar
        assert not bar.isVisible()
        run.tell(ev.RunWaiting("waiting for run 'one', which works in this folder"))
        await driver.settle()
        assert not bar.isVisible()
        run.tell(ev.RunWaiting(WAITS, may_go_first=True))
        await until(bar.isVisible)
        assert bar.words.text() == ("Run 'one' of process 7 has this folder and waits for a person")
        driver.click(bar.button)
        assert not bar.button.isEnabled()
        await driver.settle()
        assert [call for call in driver.backend.calls if call[0] == "give_way"] == [
            ("give_way", run.run_id)
        ]
        run.tell(ev.RunWaiting())
        await until(lambda: not bar.isVisible())
        await driver.close()

    qt_loop.run(scenario())


def test_a_wish_to_go_first_that_is_refused_can_be_said_again(
    driver: WindowDriver, qt_loop: QtLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(run_id: str) -> None:
        raise FolderBusy("run 'one' is at work in the folder: wait or stop it")

    monkeypatch.setattr(driver.backend, "give_way", refuse)

    async def scenario() -> None:
        await driver.start()
        run = await driver.run("go")
        run.tell(ev.RunWaiting(WAITS, may_go_first=True))
        bar = driver.window.dock.folder_bar
        await until(bar.isVisible)
        driver.click(bar.button)
        await until(bar.button.isEnabled)
        await driver.close()

    qt_loop.run(scenario())


def test_a_damaged_database_is_restored_from_its_copy(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    driver.backend.error = StorageDamaged("it is damaged", tmp_path / "openflow.db.backup")

    async def scenario() -> None:
        await driver.start()
        bar = driver.window.dock.damage_bar
        driver.window.actions_["history"].trigger()
        await until(bar.isVisible)
        driver.click(bar.button)
        box: list[QMessageBox] = []

        def asked() -> bool:
            box[:] = [
                w
                for w in QApplication.topLevelWidgets()
                if isinstance(w, QMessageBox) and w.isVisible()
            ]
            return bool(box)

        await until(asked)
        assert "Runs that were stored later" in box[0].informativeText()
        buttons = box[0].findChildren(QPushButton)
        next(each for each in buttons if each.text() == "Restore").click()
        await until(lambda: not bar.isVisible())
        assert ("restore_runs",) in driver.backend.calls
        await driver.close()

    qt_loop.run(scenario())


def test_a_run_is_replayed_on_the_workflow_that_it_ran_with(
    driver: WindowDriver, qt_loop: QtLoop, workflow_file: Path
) -> None:
    before = workflow_file.read_bytes()
    today = driver.backend.load_workflow(workflow_file)
    ran = today.model_copy(update={"id": "another", "name": "Long gone"})
    told = FakeRun("r1", ran)
    tell_two_nodes(told)
    run = stored_run("r1", "Old", workflow_id="another", workflow_name="Long gone")
    keep(driver.backend, run, told)

    async def scenario() -> None:
        await driver.start()
        history = driver.window.dock.history.runs
        history.show_all()
        driver.window.actions_["history"].trigger()
        await until(lambda: history.model.rowCount() == 1)
        history.choose(["r1"])
        history.asked.emit("replay")
        await until(driver.window.dock.replay_bar.isVisible)
        document = driver.window.document
        assert document.path is not None
        assert document.path != workflow_file
        assert document.graph.name == "Long gone (as it ran)"
        assert load_workflow(document.path.read_bytes()).id == "another"
        await driver.close()

    qt_loop.run(scenario())
    assert workflow_file.read_bytes() == before

"""The history over a real database, one page of which is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QPushButton

from orchestration.runs.requests import RunRequest
from orchestration.storage.backups import backup_file
from tests.support.qt_loop import QtLoop, until
from tests.support.run_rig import scripted_backend
from tests.support.scripted_model import summary
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow

PAGE = 4096


async def dialog_of(kind: type) -> Any:
    """The dialog that comes up."""
    shown: list[Any] = []

    def is_there() -> bool:
        widgets = QApplication.topLevelWidgets()
        shown[:] = [each for each in widgets if isinstance(each, kind) and each.isVisible()]
        return bool(shown)

    await until(is_there, f"no {kind.__name__} came up")
    return shown[0]


def press(dialog: QDialog, text: str) -> None:
    next(each for each in dialog.findChildren(QPushButton) if each.text() == text).click()


def damage(database: Path) -> None:
    """Overwrite the page that the list of runs is read from."""
    with closing(sqlite3.connect(database)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
        ).fetchone()
    with database.open("rb+") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xa5" * PAGE)


def test_a_really_damaged_page_is_restored_in_the_window(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path
) -> None:
    file = write_workflow(tmp_path / "planning.workflow.json", model="gpt-4o")
    database = data_dir / "openflow.db"
    before = scripted_backend(lambda request: summary("ok"), data_dir)
    broken = scripted_backend(lambda request: summary("ok"), data_dir)
    driver = WindowDriver(file, backend=broken)

    async def scenario() -> None:
        run_id = await before.start_run(RunRequest(before.load_workflow(file), cwd=tmp_path))
        await before.settled(run_id)
        await before.aclose()
        backup_file(database).unlink()
        copied = scripted_backend(lambda request: summary("ok"), data_dir)
        second = await copied.start_run(RunRequest(copied.load_workflow(file), cwd=tmp_path))
        await copied.settled(second)
        await copied.aclose()
        damage(database)

        await driver.start()
        bar = driver.window.dock.damage_bar
        driver.window.actions_["history"].trigger()
        await until(bar.isVisible, "the copy was not offered")
        driver.click(bar.button)
        press(await dialog_of(QMessageBox), "Restore")
        model = driver.window.dock.history.runs.model
        driver.window.dock.history.runs.show_all()
        await until(lambda: model.rowCount() >= 1, "the runs of the copy are not listed")
        assert not bar.isVisible()
        await driver.close()

    qt_loop.run(scenario())
    assert list(data_dir.glob("openflow.db.damaged-*[0-9]"))
    driver.dispose()

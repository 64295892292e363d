"""The history over a real database: a page of it damaged, and a run forked in each way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QPushButton

from app.history.fork_dialog import ForkDialog
from app.history.historian import CHAT
from engine.graph.serialization import dump_workflow
from engine.vocabulary.messages import ResultItem, UserMessage
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.runs.requests import RunRequest
from orchestration.storage.backups import backup_file
from tests.support.engine_driver import ASKING, workflow
from tests.support.qt_loop import QtLoop, until
from tests.support.run_rig import request_of, scripted_backend
from tests.support.scripted_model import Scripted, ask, summary, use
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


READING = workflow(nodes=["a"], agents={"a": {**ASKING, "tools": {"approvalMode": "yolo"}}})


def reading_script(request: AgentRequest) -> Scripted:
    """Read a file, ask, and tell what all of it came to."""
    results = [item for item in request.transcript if isinstance(item, ResultItem)]
    said = [item.content for item in request.transcript if isinstance(item, UserMessage)]
    if not results:
        return use(("read", {"path": "f"}))
    if not said:
        return ask("What now?")
    read = "new" if "a new result" in str(results[-1]) else "old"
    return summary(f"{request.model}, {request.task_prompt}, {read}, {said[-1]}")


@pytest.mark.parametrize(
    ("field", "text", "outcome"),
    [
        ("task_prompt", "Another task", "scripted, Another task, old, first"),
        ("model", "larger", "larger, {task}, old, first"),
        ("answer", "second", "scripted, {task}, old, second"),
        ("new_result", "a new result", "scripted, {task}, new, first"),
    ],
)
def test_a_stored_run_is_forked_with_one_thing_other(
    qt_loop: QtLoop, tmp_path: Path, data_dir: Path, field: str, text: str, outcome: str
) -> None:
    file = tmp_path / "reading.workflow.json"
    file.write_text(dump_workflow(READING))
    (tmp_path / "f").write_text("in the file")
    backend = scripted_backend(reading_script, data_dir)
    driver = WindowDriver(file, backend=backend)
    task = READING.nodes[0].agent.task_prompt if READING.nodes[0].agent is not None else ""

    async def scenario() -> None:
        run_id = await backend.start_run(request_of(READING, "go", cwd=tmp_path))
        await backend.settled(run_id)
        await backend.answer(run_id, "a", "first")
        assert isinstance(await backend.settled(run_id), RunCompleted)
        told = backend.view(run_id).outputs["a"]["summary"]
        assert told == f"scripted, {task}, old, first"

        await driver.start()
        driver.window.actions_["history"].trigger()
        history = driver.window.dock.history.runs
        history.show_all()
        await until(lambda: history.model.rowCount() == 1)
        history.choose([run_id])
        history.asked.emit("fork")
        dialog = await dialog_of(ForkDialog)
        dialog.turn.setValue(dialog.turn.maximum())
        if field == "new_result":
            dialog.call.setCurrentIndex(1)
        changed = getattr(dialog, field)
        assert changed.isVisible()
        (changed.setText if field == "model" else changed.setPlainText)(text)
        press(dialog, "Fork")
        await driver.settle()
        await until(lambda: driver.window.dock.tab == CHAT, "the fork is not shown")
        fork = next(run for run in await backend.runs() if run.run_id != run_id)
        outcome_of_fork = await backend.settled(fork.run_id)
        assert isinstance(outcome_of_fork, RunCompleted), outcome_of_fork
        assert fork.parent_id == run_id
        assert backend.view(fork.run_id).outputs["a"]["summary"] == outcome.format(task=task)
        await driver.close()

    qt_loop.run(scenario())
    driver.dispose()

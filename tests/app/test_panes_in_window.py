"""The trace, the terminal and the files in the real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.dock import CHAT, FILES, TERMINAL, TRACE
from app.files.panel import FilesPanel
from app.terminal.panel import TerminalPanel
from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import FileChangeOp, FileChangeRecord, ToolCall
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import QtLoop, until
from tests.support.window_driver import WindowDriver, begin


def work(run: FakeRun) -> None:
    call = ToolCall("c1", "bash", {"command": "make"})
    begin(run)
    run.tell(
        ev.PhaseTimed("ai_invoke", "Clarify idea", 1000, "idea"),
        ev.UsageReported("idea", Usage(prompt_tokens=900, completion_tokens=100), "model-x"),
        ev.ToolCallProposed("idea", "Clarify idea", call),
        ev.ToolStarted("idea", "c1", "bash", call.arguments),
        ev.ToolCompleted("idea", "c1", "bash", "it worked"),
        seconds=2,
    )


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/sh")
    monkeypatch.setenv("PS1", "$ ")


def test_a_bar_is_walked_to_and_shown_in_the_chat(driver: WindowDriver, qt_loop: QtLoop) -> None:
    async def scenario() -> None:
        await driver.start()
        work(await driver.run("Go"))
        dock = driver.window.dock
        dock.show_tab(TRACE)
        await driver.settle()
        timeline, details = dock.trace.timeline, dock.trace.details

        labels = ["Clarify idea", "Turn 1", "bash", "Turn 2"]
        assert [row.span.label for row in timeline.rows] == labels
        timeline.setFocus()
        driver.press(Qt.Key.Key_End, timeline)
        assert "Running" in timeline.accessibleDescription()
        driver.press(Qt.Key.Key_Up, timeline)
        await driver.settle()
        assert details.title.text() == "Run Command"
        assert details.given.text.toPlainText() == "command: make"
        assert details.gave.text.toPlainText() == "it worked"
        assert driver.window.scene.chosen_node() == "idea"
        driver.press(Qt.Key.Key_Left, timeline)
        driver.press(Qt.Key.Key_Left, timeline)
        assert len(timeline.rows) == 3

        driver.press(Qt.Key.Key_Return, timeline)
        await driver.settle()
        assert dock.tab == CHAT
        await driver.close()

    qt_loop.run(scenario())


@pytest.mark.usefixtures("shell")
def test_a_terminal_begins_in_the_folder_and_ends_with_the_window(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run("Go")
        folder = tmp_path / "execution folder"
        folder.mkdir()
        driver.backend.folders[run.run_id] = folder
        dock = driver.window.dock
        assert dock.made(TERMINAL) is None
        dock.show_tab(TERMINAL)
        panel = dock.made(TERMINAL)
        assert isinstance(panel, TerminalPanel)
        await until(lambda: panel.views and panel.views[0].session.is_on)
        view = panel.views[0]
        screen = view.session.emulator.screen

        def says(words: str) -> bool:
            return any(words in row.string() for row in (*screen.history, *screen.rows))

        await until(lambda: says("$"))
        QTest.keyClicks(view, "pwd; echo o''k")
        driver.press(Qt.Key.Key_Return, view)
        await until(lambda: says("ok") and says("execution folder"))

        view.selection.mark_line(screen, screen.first_line)
        view.copy()
        assert QGuiApplication.clipboard().text()
        QGuiApplication.clipboard().setText("exit 3\n")
        view.paste()
        await until(lambda: not view.session.is_on)
        await until(lambda: "code 3" in panel.ending.words.text())
        driver.click(panel.ending.again)
        await until(lambda: view.session.is_on)
        view.send(b"yes\n")
        await until(lambda: len(screen.history) > 100)
        await driver.close()

    qt_loop.run(scenario())


def test_a_file_is_opened_at_its_line_and_follows_changes(
    driver: WindowDriver, qt_loop: QtLoop, tmp_path: Path
) -> None:
    async def scenario() -> None:
        await driver.start()
        run = await driver.run("Go")
        folder = tmp_path / "work"
        (folder / "src").mkdir(parents=True)
        file = folder / "src" / "odd\nname.py"
        file.write_text("".join(f"line{n} = {n}\n" for n in range(1, 300)))
        driver.backend.folders[run.run_id] = folder
        record = FileChangeRecord("src/odd\nname.py", FileChangeOp.UPDATE, 1)
        run.tell(ev.FileChanged("idea", record))

        driver.chat.intents.file_opened.emit("src/odd\nname.py", 120)
        dock = driver.window.dock
        panel = dock.made(FILES)
        assert isinstance(panel, FilesPanel)
        await until(lambda: panel.page.content is not None)
        code = panel.page.code
        assert code.textCursor().blockNumber() + 1 == 120
        await until(lambda: panel.model.rowCount() > 0)
        top = panel.model.index(0, 0)
        assert panel.model.data(top) == "src"
        await until(lambda: panel.tree.currentIndex().parent() == top)
        assert panel.model.data(panel.tree.currentIndex()) == "odd name.py"

        panel.page.ask_for_words()
        panel.page.bar.field.setText("line77 ")
        assert panel.page.bar.told.text() == "1 of 1"
        file.write_text("changed = True\n")
        await until(lambda: code.toPlainText() == "changed = True\n")

        driver.chat.intents.file_opened.emit("../outside", 0)
        await until(lambda: "leads out of" in panel.page.words.text())
        for each in folder.rglob("*.py"):
            each.unlink()
        (folder / "src").rmdir()
        folder.rmdir()
        await until(lambda: "not there any more" in panel._empty.text())
        await driver.close()

    qt_loop.run(scenario())

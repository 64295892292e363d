"""Opens, closes and edits tabs as a person would, in any of the windows."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QMessageBox, QPushButton

from app.canvas import commands
from engine.vocabulary import events as ev
from tests.support.fake_backend import FakeRun
from tests.support.qt_loop import until
from tests.support.window_driver import WindowDriver
from tests.support.workflow_files import write_workflow


class TabHand:
    """A driver, and what tabs are there."""

    def __init__(self, driver: WindowDriver, folder: Path) -> None:
        self.driver = driver
        self.window = driver.window
        self.folder = folder

    async def open(self, name: str) -> Path:
        file = self.folder / f"{name.lower()}.workflow.json"
        if not file.exists():
            write_workflow(file, name=name)
        self.window.sidebar.chosen.emit(file)
        await self.driver.settle()
        return file

    def tabs(self) -> list[str]:
        """What the tabs say; an asterisk stands for unsaved edits."""
        strip = self.window.tab_strip
        return [look.name + ("*" if look.is_edited else "") for look in strip.looks]

    def front(self) -> str:
        return self.window.document.graph.name

    def first_label(self) -> str:
        return self.window.document.graph.cards[0].label

    def rename_first(self, label: str) -> None:
        commands.rename(self.window.document, self.window.document.graph.cards[0].id, label)

    async def trigger(self, action_id: str) -> None:
        self.window.actions_[action_id].trigger()
        await self.driver.settle()

    async def answer(self, text: str) -> str:
        """Press a button of the question that is asked; gives what was asked."""
        boxes = self.driver.program.windows
        await until(lambda: any(w.findChildren(QMessageBox) for w in boxes), "nothing was asked")
        box = next(found for w in boxes for found in w.findChildren(QMessageBox))
        asked = f"{box.text()}\n{box.informativeText()}"
        next(b for b in box.findChildren(QPushButton) if b.text() == text).click()
        await until(lambda: not any(w.findChildren(QMessageBox) for w in boxes))
        await self.driver.settle()
        return asked

    def ask(self, run: FakeRun) -> None:
        """Let the node that is at work ask a question."""
        run.tell(
            ev.NodeAwaitingInput(
                "idea", "Clarify idea", "", pause_id="p1", question="Which app is it for?"
            )
        )

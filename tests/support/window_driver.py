"""Drives a window as a person would, and reads what a person would see."""

from __future__ import annotations

import gc
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from shiboken6 import isValid

from app.chat.cards import Card
from app.chat.panel import ChatPanel
from app.chat.rows import Row
from app.first_window import window_with
from app.kit.window_state import WindowState
from app.main_window import MainWindow
from app.program import Program
from app.theme.statuses import status_style
from app.workbench import Workbench
from engine.vocabulary import events as ev
from orchestration.backend import Backend
from tests.support.fake_backend import FakeBackend, FakeRun
from tests.support.qt_loop import turns, until


class WindowDriver:
    """One window over a fake backend; `start` brings it to life."""

    def __init__(
        self, file: Path | None, state: WindowState | None = None, backend: Backend | None = None
    ) -> None:
        self._timers_before = active_timers()
        self.backend = FakeBackend()
        self._real = backend or self.backend.as_backend
        self.window: MainWindow = window_with(file, state or WindowState(None))
        self.window.resize(1280, 900)
        self.window.show()
        self.program: Program
        self.workbench: Workbench

    async def start(self) -> None:
        """Furnish the window and wait until it can run."""
        self.window.furnish()
        self.take_up()
        await until(lambda: self.workbench.tasks.count == 0, "the workflow was not opened")

    def take_up(self) -> None:
        """Join the window and the backend, without waiting for anything."""
        self.program = Program(self.window, self._real)
        self.workbench = self.program.workbenches[0]
        self.program.begin()

    async def close(self) -> None:
        """End what is behind the windows."""
        await self.program.close()

    def dispose(self) -> None:
        """Take the window away and see that no timer of it goes on."""
        application = QApplication.instance()
        assert application is not None
        for window in self.program.windows if hasattr(self, "program") else [self.window]:
            window.hide()
            window.deleteLater()
        application.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        left = [timer for timer in active_timers() if timer not in self._timers_before]
        assert not left, f"timers were left running: {left}"

    async def run(self, text: str = "") -> FakeRun:
        """Start a run through the composer and give it."""
        known = len(self.backend.live_runs)
        self.write(text)
        self.press_enter()
        await until(lambda: len(self.backend.live_runs) > known, "no run was started")
        await self.settle()
        return self.backend.run

    async def settle(self) -> None:
        """Let a frame pass, and whatever was asked for be done."""
        await until(lambda: self.workbench.tasks.count == 0)
        await turns(24)

    @property
    def chat(self) -> ChatPanel:
        return self.window.dock.chat

    def write(self, text: str) -> None:
        """Put a text into the composer, key by key."""
        field = self.chat.composer.field
        field.setFocus()
        field.clear()
        QTest.keyClicks(field, text)

    def press_enter(self, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press Enter in the composer."""
        QTest.keyClick(self.chat.composer.field, Qt.Key.Key_Return, modifier)

    def press(self, key: Qt.Key, widget: QWidget | None = None) -> None:
        """Press a key, in the window as a whole unless a widget is named."""
        QTest.keyClick(widget or self.window, key)

    def click(self, button: QWidget) -> None:
        """Click into the middle of a widget."""
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def rows(self) -> list[Row]:
        """The rows of the conversation that pass the filter."""
        model = self.chat.model
        return [shown.row for shown in model.shown] if model is not None else []

    def texts(self) -> list[str]:
        """What those rows say."""
        return [row.text for row in self.rows()]

    def says(self, text: str) -> bool:
        """Whether those rows say this and nothing else."""
        return self.texts() == [text]

    def cards(self) -> list[Card]:
        """The cards on screen, from top to bottom."""
        found = self.chat.transcript.viewport().findChildren(Card)
        return sorted((card for card in found if card.isVisible()), key=lambda card: card.y())

    def card_button(self, text: str) -> QPushButton:
        """A button of one of the cards, by what it says."""
        for card in self.cards():
            for button in card.findChildren(QPushButton):
                if button.text() == text:
                    return button
        raise AssertionError(f"no card on screen has a button '{text}'")

    def statuses(self) -> dict[str, str]:
        """What each node's card says about its status."""
        return {
            key: status_style(item.info.status).label
            for key, item in self.window.scene.items_by_node.items()
        }

    def can(self, action_id: str) -> bool:
        """Whether something can be asked for now."""
        return self.window.actions_[action_id].isEnabled()

    def focused(self) -> QWidget | None:
        """Where keys go."""
        return QApplication.focusWidget()


def active_timers() -> list[QTimer]:
    """Every timer that Python knows of and that goes on for ever; others end by themselves."""
    timers = [each for each in gc.get_objects() if isinstance(each, QTimer)]
    return [
        timer
        for timer in timers
        if isValid(timer) and timer.isActive() and not timer.isSingleShot()
    ]


def begin(run: FakeRun, node: str = "idea", label: str = "Clarify idea") -> None:
    """Let a node start."""
    run.tell(ev.NodeQueued(node, label), ev.NodeStarted(node, label))

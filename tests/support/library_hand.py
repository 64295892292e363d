"""Uses the library's list as a person does: by mouse, by keys, by drops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton

from app.kit.toasts import Toast
from app.library.rows import Row
from orchestration.library.library import Library
from tests.support.qt_loop import turns, until
from tests.support.window_driver import WindowDriver


class LibraryHand:
    """Acts on the list of one driven window."""

    def __init__(self, driver: WindowDriver) -> None:
        self.driver = driver
        self.window = driver.window
        self.backend = driver.backend

    @property
    def library(self) -> Library:
        """What the list stands for."""
        return self.backend.library

    def rows(self) -> tuple[Row, ...]:
        """What is listed now."""
        return self.window.sidebar.rows()

    def names(self, kind: str) -> list[str]:
        """The names of the rows of a kind."""
        return [row.name for row in self.rows() if row.kind == kind]

    def row(self, name: str) -> Row:
        """The row with this name."""
        found = [row for row in self.rows() if row.name == name]
        assert found, f"no row is called {name}; there are {[row.name for row in self.rows()]}"
        return found[-1]

    def middle_of(self, name: str) -> QPoint:
        """Where a row is in the list."""
        tree = self.window.sidebar.library
        index = tree.index_of(self.row(name).key)
        assert index is not None
        tree.scrollTo(index)
        return tree.visualRect(index).center()

    async def settle(self) -> None:
        """Let what was asked for be done."""
        await turns(4)
        await self.driver.settle()

    async def click(self, name: str) -> None:
        """Click a row."""
        viewport = self.window.sidebar.library.viewport()
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=self.middle_of(name))
        await self.settle()

    async def press(
        self,
        name: str,
        key: Qt.Key,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    ) -> None:
        """Go to a row and press a key."""
        tree = self.window.sidebar.library
        tree.setFocus()
        assert tree.go_to(self.row(name).key)
        QTest.keyClick(tree, key, modifier)
        await self.settle()

    async def type_name(self, name: str, key: Qt.Key = Qt.Key.Key_Return) -> None:
        """Type a name into the field that is open in the list."""
        field = self.window.sidebar.library.viewport().findChild(QLineEdit)
        assert isinstance(field, QLineEdit), "no name can be typed"
        field.selectAll()
        QTest.keyClicks(field, name)
        QTest.keyClick(field, key)
        await self.settle()

    def offers(self, name: str) -> list[str]:
        """What the context menu of a row offers."""
        self._open_menu(name)
        menu = self.window.sidebar.library.menu
        assert menu is not None
        return [action.text() for action in menu.actions() if not action.isSeparator()]

    async def choose(self, name: str, *words: str) -> None:
        """Choose from the context menu of a row, through menus inside it."""
        self._open_menu(name)
        menu = self.window.sidebar.library.menu
        assert menu is not None
        actions = menu.actions()
        for word in words[:-1]:
            inside = next(action.menu() for action in actions if action.text() == word)
            assert inside is not None
            actions = inside.actions()  # type: ignore[attr-defined]
        next(action for action in actions if action.text() == words[-1]).trigger()
        menu.close()
        await self.settle()

    async def drop(self, paths: Sequence[Path], on: str) -> None:
        """Let files go over a row."""
        viewport = self.window.sidebar.library.viewport()
        at = self.middle_of(on)
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        copy = Qt.DropAction.CopyAction
        buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(at, copy, data, buttons, keys)
        QApplication.sendEvent(viewport, enter)
        assert enter.isAccepted()
        QApplication.sendEvent(viewport, QDropEvent(QPointF(at), copy, data, buttons, keys))
        await self.settle()

    async def filter(self, words: str) -> None:
        """Type into the field above the list."""
        field = self.window.sidebar.filter
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, words)
        await self.settle()

    async def press_toast(self, text: str) -> None:
        """Press the button of a message."""
        await until(lambda: self._buttons(text), f"no message has the button {text}")
        QTest.mouseClick(self._buttons(text)[-1], Qt.MouseButton.LeftButton)
        await self.settle()

    def _buttons(self, text: str) -> list[QPushButton]:
        toasts = self.window.toasts.findChildren(Toast)
        buttons = [button for toast in toasts for button in toast.findChildren(QPushButton)]
        return [button for button in buttons if button.text() == text and button.isVisible()]

    def _open_menu(self, name: str) -> None:
        tree = self.window.sidebar.library
        at = self.middle_of(name)
        reason = QContextMenuEvent.Reason.Mouse
        event = QContextMenuEvent(reason, at, tree.viewport().mapToGlobal(at))
        QApplication.sendEvent(tree.viewport(), event)

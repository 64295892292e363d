"""The terminal tab: shells beside each other, each with a tab of its own."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.kit.elided_label import ElidedLabel
from app.terminal.input_view import TerminalInput
from app.terminal.shell_session import ShellSession
from app.terminal.view import FONT_PIXELS
from app.theme.theme import Theme
from orchestration.terminal.pseudo_terminal import TerminalNotStarted

Do = Callable[[Coroutine[Any, Any, None], str], None]
FolderNow = Callable[[], Coroutine[Any, Any, Path | None]]
MOST = 12
"""So many shells may be open at once."""


class TerminalPanel(QWidget):
    """Makes shells, the first one when the panel is first shown.

    `folder_now` gives the folder that a new shell begins in.
    """

    def __init__(self, theme: Theme, do: Do, folder_now: FolderNow, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._do = do
        self._folder_now = folder_now
        self._pixels = self._scaled = theme.scaled(FONT_PIXELS)
        self._is_closed = False
        self._was_shown = False
        self._is_opening = False
        self.views: list[TerminalInput] = []
        self.tabs = QTabBar(self)
        self.tabs.setAccessibleName("Terminals")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.tabs.currentChanged.connect(self._on_chosen)
        self._new = QToolButton(self)
        self._new.setToolTip("New terminal")
        self._new.setAccessibleName("New terminal")
        self._new.clicked.connect(self.open)
        self.folder = ElidedLabel("", self)
        self.folder.setProperty("kind", "small")
        self._bar = QWidget(self)
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(12, 0, 12, 2)
        row.setSpacing(6)
        row.addWidget(self.tabs)
        row.addWidget(self._new)
        row.addSpacing(10)
        row.addWidget(self.folder, 1)
        self.ending = _Ending(self)
        self.ending.again.clicked.connect(self._restart)
        self._empty = self._made_empty()
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._empty)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._bar)
        box.addWidget(self._stack, 1)
        box.addWidget(self.ending)
        theme.changed.connect(self._dress)
        self._dress()
        self._show_current()

    def showEvent(self, event: QShowEvent) -> None:
        """Open a first terminal by itself."""
        super().showEvent(event)
        if not self._was_shown:
            self._was_shown = True
            self.open()

    def open(self) -> None:
        """Open one more terminal, in the folder that is worked in now."""
        if not self._is_closed and not self._is_opening and len(self.views) < MOST:
            self._is_opening = True
            self._do(self._open(), "open a terminal")

    @property
    def current(self) -> TerminalInput | None:
        """The terminal in front."""
        widget = self._stack.currentWidget()
        return widget if isinstance(widget, TerminalInput) else None

    def take_focus(self) -> None:
        """Let the person type into the terminal in front."""
        (self.current or self._first_button).setFocus()

    def close_all(self) -> None:
        """Hang up all shells: they end soon, with all that they started."""
        self._is_closed = True
        for view in self.views:
            view.session.end()

    async def _open(self) -> None:
        try:
            folder = await self._folder_now()
            if self._is_closed:
                return
            session = ShellSession(folder, self)
            view = TerminalInput(session, self._theme, self)
            view.set_font_pixels(self._pixels)
            view.zoomed.connect(self._on_zoomed)
            session.ended.connect(self._show_current)
            self.views.append(view)
            self._stack.addWidget(view)
            index = self.tabs.addTab(session.name)
            self.tabs.setTabToolTip(index, session.folder)
            self.tabs.setTabButton(
                index, QTabBar.ButtonPosition.RightSide, self._close_button(view)
            )
            self.tabs.setCurrentIndex(index)
            self._show_current()
            if self.isVisible():
                view.setFocus()
        finally:
            self._is_opening = False
        await self._start(session)

    async def _start(self, session: ShellSession) -> None:
        try:
            await session.start()
        except TerminalNotStarted as error:
            session.ending = f"{str(error)[:1].upper()}{str(error)[1:]}."
        self._show_current()

    def _restart(self) -> None:
        view = self.current
        if view is not None and not view.session.is_on:
            self._do(self._start(view.session), "start a shell again")
            view.setFocus()

    def _close_button(self, view: TerminalInput) -> QToolButton:
        button = QToolButton(self.tabs)
        button.setProperty("kind", "tab-close")
        button.setToolTip("Close this terminal")
        button.setAccessibleName("Close this terminal")
        button.setIcon(self._theme.icons.icon("close"))
        button.setIconSize(QSize(11, 11))
        button.setFixedSize(20, 20)
        button.clicked.connect(lambda: self._on_close(self.views.index(view)))
        return button

    def _on_close(self, index: int) -> None:
        view = self.views.pop(index)
        self.tabs.removeTab(index)
        self._stack.removeWidget(view)
        view.hide()
        self._do(self._close(view), "close a terminal")
        self._show_current()
        self.take_focus()

    async def _close(self, view: TerminalInput) -> None:
        await view.session.close()
        view.session.deleteLater()
        view.deleteLater()

    def _on_chosen(self, index: int) -> None:
        if 0 <= index < len(self.views):
            self._show_current()
            if self.isVisible():
                self.views[index].setFocus()

    def _on_zoomed(self, pixels: int) -> None:
        self._pixels = pixels
        for view in self.views:
            view.set_font_pixels(pixels)

    def _show_current(self) -> None:
        index = self.tabs.currentIndex()
        view = self.views[index] if 0 <= index < len(self.views) else None
        self._stack.setCurrentWidget(view or self._empty)
        self._bar.setVisible(view is not None)
        self._new.setEnabled(len(self.views) < MOST)
        self.folder.setText(view.session.folder if view is not None else "")
        words = view.session.ending if view is not None and not view.session.is_on else ""
        self.ending.show_words(words)

    def _made_empty(self) -> QWidget:
        page = QWidget(self)
        words = QLabel("No terminal is open.", page)
        words.setProperty("kind", "second")
        self._first_button = QPushButton("Open a Terminal", page)
        self._first_button.clicked.connect(self.open)
        box = QVBoxLayout(page)
        box.setSpacing(10)
        box.addStretch(1)
        box.addWidget(words, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addWidget(self._first_button, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addStretch(1)
        return page

    def _dress(self) -> None:
        scaled = self._theme.scaled(FONT_PIXELS)
        if scaled != self._scaled:  # the size of all texts was changed
            self._scaled = scaled
            self._on_zoomed(scaled)
        self._new.setIcon(self._theme.icons.icon("plus"))
        self._new.setIconSize(QSize(14, 14))
        for index in range(self.tabs.count()):
            button = self.tabs.tabButton(index, QTabBar.ButtonPosition.RightSide)
            if isinstance(button, QToolButton):
                button.setIcon(self._theme.icons.icon("close"))


class _Ending(QFrame):
    """Says below a terminal that its shell has ended, and offers another one."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = QLabel(self)
        self.words.setProperty("kind", "second")
        self.words.setWordWrap(True)
        self.again = QPushButton("Start Again", self)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 12, 8)
        row.addWidget(self.words, 1)
        row.addWidget(self.again)

    def show_words(self, words: str) -> None:
        """Say this; with nothing to say it is not there."""
        self.words.setText(words)
        self.setVisible(bool(words))

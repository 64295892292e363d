"""The lower part of the window: conversation, trace, history, terminal and files behind tabs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.actions import Actions
from app.chat.panel import ChatPanel
from app.history.history_panel import HistoryPanel
from app.history.interrupted_bar import InterruptedBar
from app.history.offer_bar import OfferBar
from app.history.replay_bar import ReplayBar
from app.theme.theme import Theme
from app.trace.trace_panel import TracePanel

CHAT, TRACE, HISTORY, TERMINAL, FILES = range(5)
TABS = ("Chat", "Trace", "History", "Terminal", "Files")


class Dock(QFrame):
    """The tabs and what is behind them; folded, only the tabs are left.

    Signals:
        opened: A tab was chosen, perhaps while the dock was folded.
        tab_shown: The number of the tab that is in front now.
    """

    opened = Signal()
    tab_shown = Signal(int)

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.is_folded = False
        self.setProperty("kind", "ground")
        self.chat = ChatPanel(theme, self)
        self.trace = TracePanel(theme, self)
        self.history = HistoryPanel(theme, self)
        self.replay_bar = ReplayBar(theme, self)
        self.interrupted_bar = InterruptedBar(theme, self)
        self.folder_bar = OfferBar(theme, "Let This Run Go First", self)
        self.damage_bar = OfferBar(theme, "Restore the Copy…", self)
        self._stack = QStackedWidget(self)
        self._makers: dict[int, Callable[[], QWidget]] = {}
        self._made: dict[int, QWidget] = {}
        for page in (self.chat, self.trace, self.history, QWidget(self), QWidget(self)):
            self._stack.addWidget(page)
        self._tabs = QButtonGroup(self)
        self._tabs.idClicked.connect(self.show_tab)
        self._fold = QToolButton(self)
        self._fold.setToolTip(actions.tip("dock"))
        self._fold.setAccessibleName("Fold or unfold")
        self._fold.clicked.connect(actions["dock"].trigger)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 6, 10, 4)
        bar.setSpacing(4)
        for index, name in enumerate(TABS):
            tab = QPushButton(name, self)
            tab.setProperty("kind", "tab")
            tab.setCheckable(True)
            self._tabs.addButton(tab, index)
            tab.setToolTip(actions.tip(f"tab_{name.lower()}"))
            bar.addWidget(tab)
        bar.addSpacing(12)
        bar.addWidget(self.chat.filter_bar, 1)
        bar.addStretch(0)
        bar.addWidget(self._fold)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(bar)
        box.addWidget(self.damage_bar)
        box.addWidget(self.interrupted_bar)
        box.addWidget(self.folder_bar)
        box.addWidget(self.replay_bar)
        box.addWidget(self._stack, 1)
        theme.changed.connect(self._dress)
        self.show_tab(0)
        self._dress()

    @property
    def tab(self) -> int:
        """The number of the tab that is in front."""
        return self._stack.currentIndex()

    def show_tab(self, index: int) -> None:
        """Show the page with this number; see `CHAT` to `FILES`. It may be made only now."""
        maker = self._makers.pop(index, None)
        if maker is not None:
            page = self._made[index] = maker()
            old = self._stack.widget(index)
            self._stack.insertWidget(index, page)
            if old is not None:
                self._stack.removeWidget(old)
                old.deleteLater()
        self._tabs.button(index).setChecked(True)
        self._stack.setCurrentIndex(index)
        self.chat.filter_bar.setVisible(index == 0)
        self.opened.emit()
        self.tab_shown.emit(index)

    def make_later(self, index: int, maker: Callable[[], QWidget]) -> None:
        """Have a page made when it is first opened."""
        self._makers[index] = maker

    def made(self, index: int) -> QWidget | None:
        """A page that is made when it is first opened, if it has been."""
        return self._made.get(index)

    def take_focus(self) -> None:
        """Let keys go to the page in front."""
        page = self._stack.currentWidget()
        for widget in page.findChildren(QWidget) if page is not None else ():
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisibleTo(self):
                widget.setFocus()
                return

    def write(self) -> None:
        """Put the cursor into the composer."""
        self.show_tab(0)
        self.chat.composer.field.setFocus()

    def set_folded(self, is_folded: bool) -> None:
        """Leave only the tabs, or show everything again."""
        self.is_folded = is_folded
        self._stack.setVisible(not is_folded)
        self._dress()

    def _dress(self) -> None:
        name = "chevron-up" if self.is_folded else "chevron-down"
        self._fold.setIcon(self._theme.icons.icon(name))

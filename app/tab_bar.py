"""The strip of tabs above the canvas: one for each open workflow, not there while it is one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QIcon,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QTabBar, QToolButton, QWidget

from app.actions import Actions
from app.kit.pens import solid_pen
from app.theme.statuses import paint_mark
from app.theme.theme import Theme

_WIDEST, _NARROWEST = 220, 116
_HEIGHT = 34
_MARK = 12
_CLOSE = 18
_MENU = ("close_tab", "close_other_tabs", "", "copy_path", "move_tab", "", "reopen_tab")


class TabLook(NamedTuple):
    """What one tab says; `mark` and `color` are those of a status, empty for none."""

    name: str
    path: Path | None
    is_edited: bool = False
    mark: str = ""
    color: str = ""
    status: str = ""

    @property
    def spoken(self) -> str:
        """The same in words."""
        parts = (self.name, "edited" if self.is_edited else "", self.status)
        return ", ".join(part for part in parts if part)


class TabStrip(QFrame):
    """The tabs, and a button that lists them all where they do not fit.

    Signals:
        chosen: The number of the tab that is wanted in front.
        closed: The number of a tab that is to be closed.
        moved: A tab was dragged; its number before and after.
    """

    chosen = Signal(int)
    closed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, theme: Theme, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._actions = actions
        self._looks: tuple[TabLook, ...] = ()
        self._menu: QMenu | None = None
        self.setProperty("kind", "panel")
        self.bar = _Bar(theme, self)
        self.bar.currentChanged.connect(self._on_current)
        self.bar.tabMoved.connect(self.moved)
        self.bar.close_wanted.connect(self.closed)
        self.bar.menu_wanted.connect(self._open_menu)
        self.more = QToolButton(self)
        self.more.setAccessibleName("All tabs")
        self.more.setToolTip("All tabs")
        self.more.clicked.connect(self._list_all)
        self.more.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(4)
        row.addWidget(self.bar, 1)
        row.addWidget(self.more)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def looks(self) -> tuple[TabLook, ...]:
        """What the tabs say, from left to right."""
        return self._looks

    @property
    def menu(self) -> QMenu | None:
        """The menu that was opened last."""
        return self._menu

    def show_tabs(self, looks: Sequence[TabLook], front: int) -> None:
        """Show these tabs, with one of them in front."""
        new = tuple(looks)
        if new != self._looks:
            self._looks = new
            self._fill()
        if self.bar.currentIndex() != front:
            self.bar.blockSignals(True)
            self.bar.setCurrentIndex(front)
            self.bar.blockSignals(False)
            self.bar.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See whether all tabs still fit."""
        super().resizeEvent(event)
        self._see_what_fits()

    def _fill(self) -> None:
        bar = self.bar
        bar.blockSignals(True)
        while bar.count() > len(self._looks):
            bar.removeTab(bar.count() - 1)
        while bar.count() < len(self._looks):
            bar.add_tab()
        for index, look in enumerate(self._looks):
            bar.show_look(index, look)
        bar.blockSignals(False)
        self._see_what_fits()

    def _see_what_fits(self) -> None:
        self.more.setVisible(len(self._looks) * _NARROWEST > self.width() - 40)
        self.bar.set_room(self.width() - (56 if not self.more.isHidden() else 20))

    def _on_current(self, index: int) -> None:
        if index >= 0:
            self.chosen.emit(index)

    def _open_menu(self, index: int, at: QPoint) -> None:
        self.chosen.emit(index)
        menu = self._new_menu()
        for action_id in _MENU:
            if action_id:
                menu.addAction(self._actions[action_id])
            else:
                menu.addSeparator()
        menu.popup(at)

    def _list_all(self) -> None:
        menu = self._new_menu()
        for index, look in enumerate(self._looks):
            entry = menu.addAction(look.name + (" •" if look.is_edited else ""))
            entry.setIcon(self.bar.tabIcon(index))
            if index == self.bar.currentIndex():
                menu.setActiveAction(entry)
            entry.triggered.connect(partial(self._choose, index))
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height() + 2)))

    def _choose(self, index: int, _: bool = False) -> None:
        self.chosen.emit(index)

    def _new_menu(self) -> QMenu:
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = QMenu(self)
        return self._menu

    def _dress(self) -> None:
        self.more.setIcon(self._theme.icons.icon("chevron-down"))
        for index, look in enumerate(self._looks):
            self.bar.show_look(index, look)


class _Bar(QTabBar):
    """The tabs themselves.

    Signals:
        close_wanted: The number of a tab.
        menu_wanted: The number of a tab and a point of the screen.
    """

    close_wanted = Signal(int)
    menu_wanted = Signal(int, QPoint)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._room = 0
        self.setAccessibleName("Open workflows")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setIconSize(QSize(_MARK, _MARK))
        self.setUsesScrollButtons(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def add_tab(self) -> None:
        """Add an empty tab at the end."""
        index = self.addTab("")
        button = _CloseButton(self._theme, self)
        button.clicked.connect(partial(self._on_close, button))
        self.setTabButton(index, QTabBar.ButtonPosition.RightSide, button)

    def show_look(self, index: int, look: TabLook) -> None:
        """Let a tab say this."""
        self.setTabText(index, look.name.replace("&", "&&"))
        self.setTabToolTip(index, str(look.path or look.name))
        self.setAccessibleTabName(index, look.spoken)
        self.setTabIcon(index, self._icon(look))
        button = self.tabButton(index, QTabBar.ButtonPosition.RightSide)
        assert isinstance(button, _CloseButton)
        button.show_edited(look.is_edited, look.name)

    def set_room(self, width: int) -> None:
        """Share so many pixels among the tabs."""
        if width != self._room:
            self._room = width
            self.setIconSize(self.iconSize())  # the sizes of the tabs are worked out anew

    def tabSizeHint(self, index: int) -> QSize:
        """As wide as its text needs, within what all of them have."""
        wanted = super().tabSizeHint(index)
        share = self._room // max(1, self.count())
        most = min(_WIDEST, max(_NARROWEST, share))
        return QSize(min(max(wanted.width(), _NARROWEST), most), _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the tabs, and where the keys are."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(solid_pen(self._theme.tokens.color("accent")))
            box = QRectF(self.tabRect(self.currentIndex())).adjusted(0.5, 3.5, -2.5, -3.5)
            painter.drawRoundedRect(box, 8, 8)
            painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The middle button closes what it is over."""
        if event.button() == Qt.MouseButton.MiddleButton:
            index = self.tabAt(event.position().toPoint())
            if index >= 0:
                self.close_wanted.emit(index)
            event.accept()
        else:
            super().mouseReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the tab below the pointer, or in front."""
        index = self.tabAt(event.pos())
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = self.currentIndex()
        if index >= 0:
            self.menu_wanted.emit(index, event.globalPos())
        event.accept()

    def _on_close(self, button: QWidget) -> None:
        for index in range(self.count()):
            if self.tabButton(index, QTabBar.ButtonPosition.RightSide) is button:
                self.close_wanted.emit(index)
                return

    def _icon(self, look: TabLook) -> QIcon:
        if not look.mark:
            return QIcon()
        ratio = self.devicePixelRatioF()
        picture = QPixmap(QSize(_MARK, _MARK) * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        color = self._theme.tokens.color(look.color)
        paint_mark(painter, QPointF(_MARK / 2, _MARK / 2), _MARK - 1, look.mark, color)
        painter.end()
        return QIcon(picture)


class _CloseButton(QToolButton):
    """Closes a tab. With unsaved edits it is a dot until the pointer comes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_edited = False
        self.setProperty("kind", "tab-close")
        self.setFixedSize(_CLOSE, _CLOSE)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.changed.connect(self.update)

    def show_edited(self, is_edited: bool, name: str) -> None:
        """Say whether there is something that the file does not have."""
        self._is_edited = is_edited
        words = f"Close {name}"
        self.setAccessibleName(f"{words}, edited" if is_edited else words)
        self.setToolTip(f"{words} (not saved yet)" if is_edited else words)
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Become a cross."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Become what it was."""
        super().leaveEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the dot or the cross."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, box = self._theme.tokens, self.rect()
        if self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.color("hover"))
            painter.drawRoundedRect(box, 5, 5)
        if self._is_edited and not self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.color("waiting"))
            painter.drawEllipse(QPointF(box.width() / 2, box.height() / 2), 3.5, 3.5)
        else:
            icon = self._theme.icons.icon("close", size=12)
            icon.paint(painter, box.adjusted(3, 3, -3, -3))
        painter.end()

"""Presses everything that a window offers: buttons, actions, menus, and what these open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QDialog,
    QFileDialog,
    QMenu,
    QWidget,
)
from shiboken6 import isValid

from app.chat.transcript_view import TranscriptView
from app.library.row_painter import ROW
from tests.support.qt_loop import turns
from tests.support.window_driver import WindowDriver

# They end the window or its tabs, which the tests of tabs and windows see to.
_ENDS = ("move_tab", "new_window", "close_other_tabs", "close_tab")
# They change what is looked at, or end what it is about.
_LATE = ("delete", "cut", "revert", "stop", "new", "open_example", "open")
# They only open the system's dialog for files.
_FILES = frozenset({"open", "save_as", "import", "add_project"})
# How the window looks has nothing to do with how the run stands.
LOOKS = ("theme_", "zoom_", "align_", "distribute_", "tour", "minimap", "reduced_motion")
_MOST_PRESSES = 900
_MOST_ROWS = 4


class Press(NamedTuple):
    """Something to press; `owner` may be gone by the time."""

    name: str
    press: Callable[[], object]
    owner: QObject


class Presser:
    """Presses what it finds in a driver's window, each thing twice, until nothing is new.

    What has nothing to do with how the run stands is left out unless `is_first`: how the window
    looks, files, and the menus of lists. What ends tabs or windows is never pressed.

    Attributes:
        pressed: The names of what was pressed, in order.
    """

    def __init__(self, driver: WindowDriver, *, is_first: bool) -> None:
        self._driver = driver
        self._window = driver.window
        self._is_first = is_first
        self._ours = {id(self._window.actions_[each]) for each in self._window.actions_.ids()}
        self.pressed: list[str] = []
        self._done: set[str] = set()

    async def press_everything(self) -> None:
        """Go on until nothing is left that was not pressed."""
        while len(self.pressed) < _MOST_PRESSES:
            kinds = (self._buttons, self._menus, self._actions, self._menus_of_lists)
            found = next(filter(None, (self._next(kind()) for kind in kinds)), None)
            if found is None:
                break
            await self._press(found, times=2)

    async def press_buttons_in(self, widget: QWidget) -> None:
        """Press the buttons in a part of the window, as long as it is there."""
        for button in widget.findChildren(QAbstractButton):
            if isValid(button) and can_be_pressed(button):
                found = press_of(button)
                is_end = _name(button).startswith("Close")
                if found.name not in self._done and not is_end:
                    await self._press(found, times=2)

    async def _press(self, found: Press, *, times: int) -> None:
        """Press it at once as often, and then all that lies over the window for it."""
        self._done.add(found.name)
        for _ in range(times):
            self._act(found)
        is_new = False
        while True:
            await turns(2)
            inner = self._next(self._over(found.name))
            if inner is not None:
                is_new = True
                self._done.add(inner.name)
                self._act(inner)
                continue
            self.put_away()
            if not is_new or not isValid(found.owner):
                break
            is_new = False
            found.press()  # for the next thing in it
        await turns(1)
        toasts = self._window.toasts.texts()
        assert not [each for each in toasts if "unexpected" in each], (found.name, toasts)

    def _act(self, found: Press) -> None:
        if isValid(found.owner):
            self.pressed.append(found.name)
            found.press()

    def _next(self, found: Iterator[Press]) -> Press | None:
        return next((each for each in found if each.name not in self._done), None)

    def _buttons(self) -> Iterator[Press]:
        """The buttons on screen, those of the conversation first: others may move it away."""
        chat = self._driver.chat
        buttons = self._window.findChildren(QAbstractButton)
        for button in sorted(buttons, key=lambda each: not chat.isAncestorOf(each)):
            if can_be_pressed(button) and not _name(button).startswith("Close"):
                yield press_of(button)

    def _actions(self) -> Iterator[Press]:
        actions = self._window.actions_
        for action_id in sorted(actions.ids(), key=lambda each: each in _LATE):
            is_wanted = self._is_first or not (action_id.startswith(LOOKS) or action_id in _FILES)
            if is_wanted and action_id not in (*_ENDS, "quit") and actions[action_id].isEnabled():
                yield Press(f"action {action_id}", actions[action_id].trigger, actions[action_id])

    def _menus(self) -> Iterator[Press]:
        """The menus below the pointer, at one thing of each kind."""
        window = self._window
        scene, canvas = window.scene, window.canvas
        for key, item in list(scene.items_by_node.items())[:1]:
            middle = canvas.mapFromScene(item.shape_rect().center())
            yield _menu("menu of a node", canvas.viewport(), middle)
            if len(scene.items_by_node) > 1:
                yield Press("menu of several nodes", partial(self._menu_of_all, key), canvas)
        yield _menu("menu of the ground", canvas.viewport(), QPoint(3, canvas.height() - 3))
        strip = window.tab_strip
        if strip.isVisible() and strip.bar.count():
            middle_of_tab = strip.bar.tabRect(strip.bar.currentIndex()).center()
            yield _menu("menu of a tab", strip.bar, middle_of_tab)
        for transcript in window.findChildren(TranscriptView):
            if transcript.isVisible() and self._driver.rows():
                yield _menu("menu of a row", transcript.viewport(), QPoint(40, 40))

    def _menus_of_lists(self) -> Iterator[Press]:
        """The menus of lists come last: files and runs can be deleted there."""
        for view in self._window.findChildren(QAbstractItemView) if self._is_first else ():
            if view.isVisible():
                yield from _menus_of_rows(view)

    def _menu_of_all(self, key: str) -> None:
        self._window.actions_["select_all"].trigger()
        canvas, item = self._window.canvas, self._window.scene.items_by_node.get(key)
        if item is not None:
            _ask_for_menu(canvas.viewport(), canvas.mapFromScene(item.shape_rect().center()))

    def _over(self, opener: str) -> Iterator[Press]:
        """What can be pressed in dialogs and menus over the window."""
        for widget in QApplication.topLevelWidgets():
            if not widget.isVisible() or isinstance(widget, QFileDialog):
                continue
            if isinstance(widget, QDialog):
                title = widget.windowTitle() or type(widget).__name__
                for button in widget.findChildren(QAbstractButton):
                    if can_be_pressed(button):
                        yield Press(f"{title} > {_name(button)}", button.click, button)
            elif isinstance(widget, QMenu):
                for action in entries(widget):
                    if id(action) not in self._ours:
                        yield Press(f"{opener} > {action.text()}", action.trigger, action)

    def put_away(self) -> None:
        """Close what lies over the window."""
        popup = QApplication.activePopupWidget()
        while popup is not None:
            popup.close()
            popup = QApplication.activePopupWidget()
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isVisible():
                widget.reject()
            elif isinstance(widget, QMenu) and widget.isVisible():
                widget.close()


def can_be_pressed(button: QAbstractButton) -> bool:
    """Whether a person could press it now."""
    return button.isVisible() and button.isEnabled()


def entries(menu: QMenu) -> Iterator[QAction]:
    """What a menu and the menus in it offer now."""
    for action in menu.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from entries(inner)
        elif action.isEnabled() and not action.isSeparator():
            yield action


def press_of(button: QAbstractButton) -> Press:
    """A button by what it is in and what it says."""
    return Press(f"{type(button.parent()).__name__}: {_name(button)}", button.click, button)


def _name(button: QAbstractButton) -> str:
    name = button.accessibleName() or button.text() or button.toolTip()
    return name.partition(":")[0]  # what follows is a figure that moves on


def _menus_of_rows(view: QAbstractItemView) -> Iterator[Press]:
    """The menu of the first row of each kind in a list or tree."""
    model, kinds = view.model(), set()
    parents = [view.rootIndex(), *(model.index(row, 0) for row in range(model.rowCount()))]
    for parent in parents:
        for row in range(min(model.rowCount(parent), _MOST_ROWS)):
            index = model.index(row, 0, parent)
            kind = getattr(index.data(ROW), "kind", "row")
            at = view.visualRect(index).center()
            if kind not in kinds and view.viewport().rect().contains(at):
                kinds.add(kind)
                name = f"menu of {view.accessibleName() or type(view).__name__}, {kind}"
                yield _menu(name, view.viewport(), at)


def _menu(name: str, widget: QWidget, at: QPoint) -> Press:
    return Press(name, lambda: _ask_for_menu(widget, at), widget)


def _ask_for_menu(widget: QWidget, at: QPoint) -> None:
    asked = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at), Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(widget, asked)

"""A terminal that can be used: what keys, the mouse, pastes and input methods do in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu

from app.terminal.emulator import (
    APP_CURSOR,
    BRACKETED_PASTE,
    FOCUS_TOLD,
    MOUSE_CLICKS,
    MOUSE_DRAGS,
    MOUSE_MOVES,
    MOUSE_SGR,
)
from app.terminal.key_bytes import key_bytes, mouse_bytes, paste_bytes
from app.terminal.view import FONT_PIXELS, TerminalView

_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_BUTTONS = {
    Qt.MouseButton.LeftButton: 0,
    Qt.MouseButton.MiddleButton: 1,
    Qt.MouseButton.RightButton: 2,
}
_WHEEL_LINES = 3
_OF_THE_WINDOW = (
    *range(Qt.Key.Key_1, Qt.Key.Key_9 + 1),
    Qt.Key.Key_Tab,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Q,
)
"""With Ctrl these stay the window's; a terminal has no use for most of them."""


class TerminalInput(TerminalView):
    """The view of a session that a person works in."""

    _dragged_button = -1
    _wheel_rest = 0

    def event(self, event: QEvent) -> bool:
        """Take the keys that mean something to a shell before the window does."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            modifiers = event.modifiers()
            if not modifiers & _CTRL:
                if event.key() != Qt.Key.Key_F8 or not self._is_alone():
                    event.accept()
            elif _own_command(event) or (
                not modifiers & _SHIFT and event.key() not in _OF_THE_WINDOW
            ):
                event.accept()
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab belongs to the shell."""
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Do what is for the terminal itself, and send everything else."""
        command = _own_command(event)
        bar = self.verticalScrollBar()
        if command == "copy":
            self.copy()
        elif command == "paste":
            self.paste()
        elif command == "larger":
            self._zoom(self.font_pixels + 1)
        elif command == "smaller":
            self._zoom(self.font_pixels - 1)
        elif command == "normal":
            self._zoom(FONT_PIXELS)
        elif command == "page up":
            bar.setValue(bar.value() - bar.pageStep())
        elif command == "page down":
            bar.setValue(bar.value() + bar.pageStep())
        else:
            modes = self.session.emulator.modes
            data = key_bytes(
                event.key(),
                event.modifiers(),
                event.text(),
                application_cursor=APP_CURSOR in modes,
            )
            if not data:
                super().keyPressEvent(event)
                return
            self.send(data)
        event.accept()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Send what was composed."""
        if event.commitString():
            self.send(event.commitString().encode("utf-8", "replace"))
        event.accept()

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> object:
        """Say where the cursor is."""
        if query == Qt.InputMethodQuery.ImCursorRectangle:
            return self.cursor_rectangle()
        if query == Qt.InputMethodQuery.ImEnabled:
            return True
        return super().inputMethodQuery(query)

    def send(self, data: bytes) -> None:
        """Type, and look at what comes of it."""
        self.selection.clear()
        self.session.write(data)
        self.scroll_to_end()

    def paste(self, mode: QClipboard.Mode = QClipboard.Mode.Clipboard) -> None:
        """Type what is on the clipboard."""
        text = QGuiApplication.clipboard().text(mode)
        if text:
            bracketed = BRACKETED_PASTE in self.session.emulator.modes
            self.send(paste_bytes(text, is_bracketed=bracketed))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell a program that asked for it."""
        super().focusInEvent(event)
        self._tell_focus("I")

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell a program that asked for it."""
        super().focusOutEvent(event)
        self._tell_focus("O")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to mark text, paste what is marked elsewhere, or tell the program."""
        if self._tell_mouse(event, is_release=False):
            self._dragged_button = _BUTTONS.get(event.button(), 0)
        elif event.button() == Qt.MouseButton.LeftButton:
            place = self.place_at(event.position())
            if not event.modifiers() & _SHIFT or not self.selection:
                self.selection.anchor = place
            self.selection.head = place
            self.viewport().update()
        elif event.button() == Qt.MouseButton.MiddleButton:
            clipboard = QGuiApplication.clipboard()
            has_selection = clipboard.supportsSelection()
            self.paste(QClipboard.Mode.Selection if has_selection else QClipboard.Mode.Clipboard)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark more, or tell the program."""
        modes = self.session.emulator.modes
        if self._dragged_button >= 0:
            if modes & {MOUSE_DRAGS, MOUSE_MOVES}:
                self._send_mouse(32 + self._dragged_button, event.position().toPoint(), False)
        elif event.buttons() & Qt.MouseButton.LeftButton:
            self.selection.head = self.place_at(event.position())
            height = self.viewport().height()
            bar = self.verticalScrollBar()
            if event.position().y() < 0:
                bar.setValue(bar.value() - 1)
            elif event.position().y() > height:
                bar.setValue(bar.value() + 1)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Offer what is marked to a middle click elsewhere, or tell the program."""
        if self._dragged_button >= 0:
            self._dragged_button = -1
            self._tell_mouse(event, is_release=True)
            return
        clipboard = QGuiApplication.clipboard()
        if self.selection and clipboard.supportsSelection():
            text = self.selection.text(self.session.emulator.screen)
            clipboard.setText(text, QClipboard.Mode.Selection)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Mark a word, or with Shift the line."""
        if self._tell_mouse(event, is_release=False):
            self._dragged_button = _BUTTONS.get(event.button(), 0)
        elif event.button() == Qt.MouseButton.LeftButton:
            place, screen = self.place_at(event.position()), self.session.emulator.screen
            if event.modifiers() & _SHIFT:
                self.selection.mark_line(screen, place.line)
            else:
                self.selection.mark_word(screen, place)
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Look back, or let the program scroll; with Ctrl write larger or smaller."""
        self._wheel_rest += event.angleDelta().y()
        steps, self._wheel_rest = int(self._wheel_rest / 120), self._wheel_rest % 120
        if self._wheel_rest and self._wheel_rest > 60 and event.angleDelta().y() < 0:
            self._wheel_rest -= 120
        emulator = self.session.emulator
        if event.modifiers() & _CTRL:
            self._zoom(self.font_pixels + steps)
        elif self._wants_mouse(event.modifiers()):
            button = 64 if steps > 0 else 65
            for _ in range(abs(steps)):
                self._send_mouse(button, event.position().toPoint(), False)
        elif emulator.screen.is_alternate:
            key = Qt.Key.Key_Up if steps > 0 else Qt.Key.Key_Down
            arrows = key_bytes(
                key,
                Qt.KeyboardModifier.NoModifier,
                "",
                application_cursor=APP_CURSOR in emulator.modes,
            )
            self.session.write(arrows * (abs(steps) * _WHEEL_LINES))
        else:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - steps * _WHEEL_LINES)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy and to paste."""
        if self._wants_mouse(QGuiApplication.keyboardModifiers()):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy\tCtrl+Shift+C")
        copy.setEnabled(bool(self.selection))
        copy.triggered.connect(lambda: self.copy())
        paste = menu.addAction("Paste\tCtrl+Shift+V")
        paste.setEnabled(self.session.is_on and bool(QGuiApplication.clipboard().text()))
        paste.triggered.connect(lambda: self.paste())
        menu.popup(event.globalPos())

    def _is_alone(self) -> bool:
        return not self.session.emulator.screen.is_alternate

    def _zoom(self, pixels: int) -> None:
        self.set_font_pixels(pixels)
        self.zoomed.emit(self.font_pixels)

    def _tell_focus(self, letter: str) -> None:
        self.viewport().update()
        if FOCUS_TOLD in self.session.emulator.modes:
            self.session.write(f"\x1b[{letter}".encode())

    def _wants_mouse(self, modifiers: Qt.KeyboardModifier) -> bool:
        """With Shift the mouse is always the person's own."""
        modes = self.session.emulator.modes
        return bool(modes & {MOUSE_CLICKS, MOUSE_DRAGS, MOUSE_MOVES}) and not modifiers & _SHIFT

    def _tell_mouse(self, event: QMouseEvent, *, is_release: bool) -> bool:
        button = _BUTTONS.get(event.button())
        if button is None or not self._wants_mouse(event.modifiers()):
            return False
        self._send_mouse(button, event.position().toPoint(), is_release)
        return True

    def _send_mouse(self, button: int, position: QPoint, is_release: bool) -> None:
        column, line = self.cell_at(position.toPointF())
        is_sgr = MOUSE_SGR in self.session.emulator.modes
        self.session.write(mouse_bytes(button, column, line, is_release=is_release, is_sgr=is_sgr))


def _own_command(event: QKeyEvent) -> str:
    """What a key means to the terminal itself; empty where it is for the shell."""
    modifiers, key = event.modifiers(), event.key()
    if modifiers & _CTRL:
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            return "larger"
        if not modifiers & _SHIFT:
            return {Qt.Key.Key_Minus: "smaller", Qt.Key.Key_0: "normal"}.get(Qt.Key(key), "")
        return {Qt.Key.Key_C: "copy", Qt.Key.Key_V: "paste"}.get(Qt.Key(key), "")
    if modifiers & _SHIFT:
        return {
            Qt.Key.Key_PageUp: "page up",
            Qt.Key.Key_PageDown: "page down",
            Qt.Key.Key_Insert: "paste",
        }.get(Qt.Key(key), "")
    return ""

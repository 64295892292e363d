"""A frame over the window that goes when it is left or Escape is pressed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout, QWidget

_EDGE = 12


class Popover(QFrame):
    """Opens above or below a widget, inside the window; the focus goes back where it was."""

    def __init__(self, name: str, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._anchor: QWidget | None = None
        self._back_to: QWidget | None = None
        self.setProperty("kind", "popover")
        self.setAccessibleName(name)
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(14, 12, 14, 12)
        self.box.setSpacing(8)
        self.hide()

    def open_at(self, anchor: QWidget, focus: QWidget | None = None) -> None:
        """Show it at a widget and go into it."""
        if not self.isVisible():
            self._back_to = QApplication.focusWidget()
        self._anchor = anchor
        self.place()
        self.show()
        self.raise_()
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)
        (focus or self).setFocus(Qt.FocusReason.PopupFocusReason)

    def close_popover(self) -> None:
        """Take it away; without it on screen nothing happens."""
        if self.isHidden():
            return
        application = QApplication.instance()
        assert application is not None
        application.removeEventFilter(self)
        inside = self.isAncestorOf(QApplication.focusWidget() or self._window)
        self.hide()
        if (inside or self.hasFocus()) and self._back_to is not None:
            self._back_to.setFocus()
        self._back_to = None

    def place(self) -> None:
        """Find the place again, for other contents or another size of the window."""
        anchor = self._anchor
        if anchor is None:
            return
        self.ensurePolished()
        layout = self.box
        layout.activate()
        size = self.sizeHint().expandedTo(self.minimumSize())
        room = self._window.rect()
        width = min(size.width(), room.width() - 2 * _EDGE)
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else size.height()
        height = min(height, room.height() - 2 * _EDGE)
        corner = anchor.mapTo(self._window, QPoint(0, 0))
        above = corner.y() - height - 6
        y = (
            above
            if above >= _EDGE
            else min(corner.y() + anchor.height() + 6, room.height() - height - _EDGE)
        )
        x = min(corner.x() + anchor.width() - width, room.width() - width - _EDGE)
        self.setGeometry(max(_EDGE, x), max(_EDGE, y), width, height)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_popover()
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close when the person presses elsewhere; move along with the window."""
        kind = event.type()
        if kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            mine = watched is self or self.isAncestorOf(watched) or watched is self._anchor
            # A list that drops down out of a field is a window of its own.
            if not mine and watched.window() is self._window:
                self.close_popover()
        elif kind == QEvent.Type.Resize and watched is self._window:
            self.place()
        return False

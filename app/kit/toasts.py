"""Short messages at the top right of the window; they go by themselves or when they are closed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

_LIFE_MS = 12_000
_OFFER_LIFE_MS = 8_000
_MOST = 3
_WIDTH = 360


class Toasts(QWidget):
    """The messages of one window, newest last."""

    def __init__(self, theme: Theme, window: QWidget, top: int) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._top = top
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(8)
        window.installEventFilter(self)
        self.hide()

    def show_error(self, text: str) -> None:
        """Say what went wrong."""
        self._add(text, _LIFE_MS)

    def show_done(self, text: str) -> None:
        """Say what was done."""
        self._add(text, _OFFER_LIFE_MS).mark_done()

    def show_offer(self, text: str, button: str, take: Callable[[], None]) -> None:
        """Say what was done, with a button for what can be done about it now."""
        self._add(text, _OFFER_LIFE_MS, button, take)

    def texts(self) -> list[str]:
        """What is shown now."""
        return [toast.text for toast in self._toasts()]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the window's corner."""
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def remove(self, toast: Toast) -> None:
        """Take one away."""
        self._box.removeWidget(toast)
        toast.hide()
        toast.deleteLater()
        self.setVisible(self._box.count() > 0)
        self._place()

    def _add(
        self, text: str, life_ms: int, button: str = "", take: Callable[[], None] | None = None
    ) -> Toast:
        shown = self._toasts()
        for same in (toast for toast in shown if toast.text == text):
            self.remove(same)
        for oldest in self._toasts()[: max(0, self._box.count() - _MOST + 1)]:
            self.remove(oldest)
        toast = Toast(text, life_ms, self._theme, self)
        if take is not None:
            toast.offer(button, take)
        self._box.addWidget(toast)
        self.show()
        self.raise_()
        self._place()
        return toast

    def _toasts(self) -> list[Toast]:
        items = (self._box.itemAt(index) for index in range(self._box.count()))
        widgets = (item.widget() for item in items if item is not None)
        return [widget for widget in widgets if isinstance(widget, Toast)]

    def _place(self) -> None:
        width = min(_WIDTH, self._window.width() - 32)
        height = self._box.totalHeightForWidth(width) if self._box.hasHeightForWidth() else 0
        height = max(height, self._box.totalMinimumSize().height())
        self.setGeometry(self._window.width() - width - 16, self._top, width, height)


class Toast(QFrame):
    """One message; it stays while the pointer rests on it."""

    def __init__(self, text: str, life_ms: int, theme: Theme, host: Toasts) -> None:
        super().__init__(host)
        self.text = text
        self._host = host
        self._life_ms = life_ms
        self.setProperty("kind", "card")
        self.setAccessibleName(text)
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        close = QToolButton(self)
        close.setIcon(theme.icons.icon("close"))
        close.setAccessibleName("Close this message")
        close.clicked.connect(self._end)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 6, 8)
        row.setSpacing(8)
        sides = Qt.AlignmentFlag
        self._mark = StatusMark(theme, "cross", "failed", 14, self)
        row.addWidget(self._mark, 0, sides.AlignVCenter)
        row.addWidget(label, 1, sides.AlignVCenter)
        row.addWidget(close, 0, sides.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._end)
        self._timer.start(life_ms)

    def mark_done(self) -> None:
        """It is good news."""
        self._mark.show_mark("check", "done")

    def offer(self, text: str, take: Callable[[], None]) -> None:
        """Add a button; pressing it takes the message away."""
        self._mark.show_mark("check", "done")
        button = QPushButton(text, self)
        button.clicked.connect(self._end)
        button.clicked.connect(lambda _: take())
        self._row.insertWidget(2, button, 0, Qt.AlignmentFlag.AlignVCenter)

    def enterEvent(self, event: QEvent) -> None:
        """Stay as long as the pointer rests here."""
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        """Begin to count again."""
        self._timer.start(self._life_ms)

    def _end(self) -> None:
        self._timer.stop()
        self._host.remove(self)

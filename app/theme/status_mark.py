"""The mark of a status as a widget."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme.statuses import paint_mark
from app.theme.theme import Theme


class StatusMark(QWidget):
    """A mark of a fixed size; it follows the theme."""

    def __init__(
        self, theme: Theme, mark: str, color: str, size: int = 14, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mark = mark
        self._color = color
        self._size = size
        self.setFixedSize(QSize(size + 2, size + 2))

    def show_mark(self, mark: str, color: str) -> None:
        """Show another mark."""
        if (mark, color) != (self._mark, self._color):
            self._mark, self._color = mark, color
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the mark."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        center = QPointF(self.width() / 2, self.height() / 2)
        color = self._theme.tokens.color(self._color)
        paint_mark(painter, center, self._size, self._mark, color)
        painter.end()

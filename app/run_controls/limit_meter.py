"""A thin line that fills up as a limit is used up."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme.theme import Theme

_NEARLY = 0.8
_SIZE = QSize(72, 6)


class LimitMeter(QWidget):
    """From 0 to 1; the words beside it say of what, so the colour tells nothing by itself."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.value = 0.0
        self.setFixedSize(_SIZE)
        theme.changed.connect(self.update)

    def show_value(self, value: float, words: str) -> None:
        """Fill up to this point; `words` are for the tooltip and a screen reader."""
        self.setToolTip(f"Limit: {words}")
        self.setAccessibleName(f"Limit: {words}")
        if value != self.value:
            self.value = value
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(0.5, 1, self.width() - 1, self.height() - 2)
        radius = whole.height() / 2
        ground = QPainterPath()
        ground.addRoundedRect(whole, radius, radius)
        painter.fillPath(ground, tokens.color("line_strong"))
        name = "running" if self.value < _NEARLY else "waiting" if self.value < 1 else "failed"
        filled = QPainterPath()
        width = max(whole.height(), whole.width() * self.value)
        filled.addRoundedRect(
            QRectF(whole.left(), whole.top(), width, whole.height()), radius, radius
        )
        if self.value > 0:
            painter.fillPath(filled, tokens.color(name))
        painter.end()

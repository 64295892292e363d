"""A label for Markdown that is as high as its text."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.chat.message_document import MessageDocument
from app.theme.theme import Theme


class MarkdownLabel(QWidget):
    """Shows one text; links and markup of other languages are not followed."""

    def __init__(self, text: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = MessageDocument(theme)
        self._text.show_markdown(text)
        self.setAccessibleName(text)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """It has: the text wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of the text at a width, in pixels."""
        self._text.set_width(width)
        return int(self._text.size().height() + 1)

    def sizeHint(self) -> QSize:
        """A comfortable width and the height for it."""
        return QSize(420, self.heightForWidth(420))

    def minimumSizeHint(self) -> QSize:
        """Narrow is fine: the text wraps."""
        return QSize(120, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text."""
        painter = QPainter(self)
        self._text.set_width(self.width())
        self._text.paint(painter, QPointF(0, 0), QRectF(self.rect()))
        painter.end()

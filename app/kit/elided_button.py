"""A button whose text ends in an ellipsis where there is no room for all of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

_LEAST = 56
_SLACK = 8
"""Rounding, and icons that come and go, must not cost the last letter."""


class ElidedButton(QPushButton):
    """Gives way to its neighbours; the tooltip begins with the whole text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full_text = ""
        self._tip = ""
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str, tip: str) -> None:
        """Show a text, with a sentence on what pressing does."""
        if (text, tip) != (self.full_text, self._tip):
            self.full_text, self._tip = text, tip
            self.setToolTip(f"{text}\n{tip}")
            self._fit()
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for the whole text."""
        self.ensurePolished()
        width = self.fontMetrics().horizontalAdvance(self.full_text) + self._frame() + _SLACK
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Room for a word of it."""
        return QSize(min(_LEAST, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much as fits now."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = max(0, self.width() - self._frame())
        end = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.full_text, end, room)
        if shown != self.text():
            self.setText(shown)

    def _frame(self) -> int:
        """What the style puts around the text."""
        self.ensurePolished()
        inner = self.fontMetrics().horizontalAdvance(self.text())
        return max(8, super().sizeHint().width() - inner)

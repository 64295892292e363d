"""A one-line label that ends in an ellipsis where there is no room for all of it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.kit.pens import solid_pen

_WORD_WIDTH = 64


class ElidedLabel(QLabel):
    """Shows as much of its text as fits; the tooltip has all of it where some is cut off.

    A label that yields takes the room that others leave, and shows nothing where that is too
    little for a word.
    """

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, yields: bool = False
    ) -> None:
        super().__init__(text, parent)
        policy = QSizePolicy.Policy.Ignored if yields else QSizePolicy.Policy.Preferred
        self.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        self.full_tip = ""
        self._least = _WORD_WIDTH if yields else 0

    def minimumSizeHint(self) -> QSize:
        """Room for little more than the ellipsis."""
        return QSize(24, self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """Room for the whole text."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 2, metrics.height() + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what fits."""
        if self.width() < self._least:
            return
        metrics = self.fontMetrics()
        shown = self.text()
        if metrics.horizontalAdvance(shown) > self.width():
            end = Qt.TextElideMode.ElideRight
            shown = metrics.elidedText(shown, end, self.width())
        tip = self.full_tip or (self.text() if shown != self.text() else "")
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(solid_pen(self.palette().color(self.foregroundRole())))
        base = (self.height() + metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(0, base), shown)
        painter.end()

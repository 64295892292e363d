"""Texts that are laid out once and painted often."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QStaticText


def fitted(text: str, font: QFont, room: float) -> tuple[QStaticText, float]:
    """The text, elided to fit into `room`, and how wide it is; both in the units of the font."""
    metrics = QFontMetricsF(font)
    width = metrics.horizontalAdvance(text)
    if width > room:
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(text)
    static = QStaticText(text)
    if "<" in text or "&" in text:
        # Left to itself, Qt would take it for markup.
        static.setTextFormat(Qt.TextFormat.PlainText)
    static.prepare(font=font)
    return static, width

"""A strip that offers one thing that can be done; it waits until the person has a moment."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.kit.elided_label import ElidedLabel
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme


class OfferBar(QFrame):
    """Shown while there is something to offer; it never takes the focus.

    Signals:
        taken: The person wants it. The button waits for the next offer, or for `again`.
    """

    taken = Signal()

    def __init__(self, theme: Theme, offer: str, parent: QWidget | None = None) -> None:
        """`offer` is what the button says."""
        super().__init__(parent)
        self.setProperty("kind", "panel")
        self.words = ElidedLabel("", self)
        self.button = QPushButton(offer, self)
        self.button.setAutoDefault(False)
        self._told = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 10, 5)
        row.setSpacing(8)
        row.addWidget(StatusMark(theme, "exclamation", "waiting", 14, self))
        row.addWidget(self.words, 1)
        row.addWidget(self.button)
        self.button.clicked.connect(self._on_clicked)
        self.hide()

    def offer(self, words: str) -> None:
        """Offer it and say why; without words there is nothing to offer."""
        if words == self._told:
            return
        self._told = words
        self.words.setText(words)
        self.words.setToolTip(words)
        self.setAccessibleName(words)
        self.button.setAccessibleDescription(words)
        self.button.setEnabled(True)
        self.setVisible(bool(words))

    def again(self) -> None:
        """Let the button be pressed once more: nothing came of it."""
        self.button.setEnabled(True)

    def _on_clicked(self) -> None:
        self.button.setEnabled(False)
        self.taken.emit()

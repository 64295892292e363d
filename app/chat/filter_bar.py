"""Chips that show one node's part of the conversation, or all of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QPushButton, QScrollArea, QWidget


class FilterBar(QScrollArea):
    """One chip for all, and one for each node.

    Signals:
        chosen: Id of the node whose rows are wanted; empty for all.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chips: dict[str, QPushButton] = {}
        self._entries: list[tuple[str, str]] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Filter by node")
        self._inside = QWidget(self)
        self._row = QHBoxLayout(self._inside)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._row.addStretch(1)
        self.setWidget(self._inside)
        self.setFixedHeight(28)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(200, 28)

    def show_nodes(self, nodes: Sequence[tuple[str, str]], current: str) -> None:
        """Show chips for these nodes (id and label); none where there is nothing to choose."""
        entries = [("", "All"), *nodes] if nodes else []
        if entries != self._entries:
            self._entries = entries
            for chip in self._chips.values():
                self._group.removeButton(chip)
                chip.deleteLater()
            self._chips = {key: self._chip(key, label) for key, label in entries}
        chosen = self._chips.get(current)
        if chosen is not None:
            chosen.setChecked(True)
            self._reveal(chosen)

    def labels(self) -> list[str]:
        """The texts of the chips, from left to right."""
        return [chip.text() for chip in self._chips.values()]

    def _chip(self, node_id: str, label: str) -> QPushButton:
        chip = QPushButton(label, self._inside)
        chip.setProperty("kind", "chip")
        chip.setProperty("node_id", node_id)
        chip.setCheckable(True)
        chip.setAccessibleName(f"Show {label}" if node_id else "Show all nodes")
        chip.clicked.connect(self._on_clicked)
        self._group.addButton(chip)
        self._row.insertWidget(self._row.count() - 1, chip)
        return chip

    def _reveal(self, chip: QPushButton) -> None:
        area = QRect(chip.pos(), chip.size())
        self.ensureVisible(area.center().x(), area.center().y(), area.width() // 2 + 8, 0)

    def _on_clicked(self) -> None:
        chip = self.sender()
        if isinstance(chip, QPushButton):
            self.chosen.emit(str(chip.property("node_id")))

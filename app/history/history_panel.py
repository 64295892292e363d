"""The History tab: the list of stored runs, or two of them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.history.comparison_view import ComparisonView
from app.history.run_list import RunList
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.stored import RunComparison


class HistoryPanel(QWidget):
    """Shows the list; a comparison covers it until the person goes back."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs = RunList(theme, self)
        self.comparison = ComparisonView(theme, self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.runs)
        self._pages.addWidget(self.comparison)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self._pages)
        self.comparison.left.connect(self.show_list)

    @property
    def is_comparing(self) -> bool:
        """Whether two runs are shown side by side."""
        return self._pages.currentIndex() == 1

    def show_list(self) -> None:
        """Show the list."""
        self._pages.setCurrentIndex(0)
        self.runs.table.setFocus()

    def compare(self, comparison: RunComparison) -> None:
        """Show two runs side by side."""
        self.comparison.show_comparison(comparison)
        self._pages.setCurrentIndex(1)
        self.comparison.nodes.setFocus()

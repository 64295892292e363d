"""A strip that offers runs which were cut off; it waits until the person has a moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from app.history.run_words import moment_text
from app.kit.elided_label import ElidedLabel
from app.kit.formats import plural
from app.theme.status_mark import StatusMark
from app.theme.theme import Theme

if TYPE_CHECKING:
    from orchestration.runs.stored import StoredRun


class InterruptedBar(QFrame):
    """Shown while there is something to offer; it never takes the focus.

    Signals:
        resumed: The run (`StoredRun`) that is to go on.
        shown: The person wants to see them all in the list.
    """

    resumed = Signal(object)
    shown = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: tuple[StoredRun, ...] = ()
        self.setProperty("kind", "panel")
        self.words = ElidedLabel("", self)
        self.resume = QPushButton("Resume", self)
        self.show_all = QPushButton("Show in History", self)
        self.close_button = QToolButton(self)
        self.close_button.setAccessibleName("Not now")
        self.close_button.setToolTip("Not now; the history has them")
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 10, 5)
        row.setSpacing(8)
        row.addWidget(StatusMark(theme, "exclamation", "waiting", 14, self))
        row.addWidget(self.words, 1)
        for button in (self.resume, self.show_all):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addWidget(self.close_button)
        self.resume.clicked.connect(self._on_resume)
        self.show_all.clicked.connect(self._on_show)
        self.close_button.clicked.connect(self.hide)
        theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def offer(self, runs: Sequence[StoredRun]) -> None:
        """Offer these runs; without any there is nothing to see."""
        self._runs = tuple(runs)
        self.setVisible(bool(runs))
        self.resume.setVisible(len(self._runs) == 1)
        if len(self._runs) == 1:
            run = self._runs[0]
            when = moment_text(run.updated, time.time())
            words = f"The program ended in the middle of a run: {run.name} ({when})"
            self.resume.setAccessibleName(f"Resume {run.name}")
        else:
            words = f"The program ended in the middle of {plural(len(self._runs), 'run')}"
        self.words.setText(words)
        self.setAccessibleName(words)

    def forget(self, run_id: str) -> None:
        """Offer this run no longer."""
        if any(run.run_id == run_id for run in self._runs):
            self.offer([run for run in self._runs if run.run_id != run_id])

    def _on_resume(self) -> None:
        self.resumed.emit(self._runs[0])

    def _on_show(self) -> None:
        self.hide()
        self.shown.emit()

    def _dress(self) -> None:
        self.close_button.setIcon(self._theme.icons.icon("close"))

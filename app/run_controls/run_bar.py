"""Above the conversation: how the run, or the node that is looked at, stands and what it takes."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app.kit.elided_button import ElidedButton
from app.kit.elided_label import ElidedLabel
from app.run_controls.limit_meter import LimitMeter
from app.theme.status_mark import StatusMark
from app.theme.statuses import status_style
from app.theme.theme import Theme

_LABEL_WIDTH = 150
_ROOM_FOR_WORDS = 1000
_RUN_MARKS = {
    "running": ("disc", "running"),
    "paused": ("question", "waiting"),
    "completed": ("check", "done"),
    "failed": ("cross", "failed"),
    "stopped": ("square", "idle"),
}


class BarState(NamedTuple):
    """What the bar shows. `node_id` is empty for the run as a whole, whose `status` is `run:...`.

    `usage` is a line of figures, `limit` how full the tightest limit is (with `limit_words`),
    `settings` what the chip says; a chip or a button without words is not there.
    """

    node_id: str
    label: str
    status: str
    usage: str = ""
    usage_tip: str = ""
    limit: float = 0.0
    limit_words: str = ""
    settings: str = ""
    settings_tip: str = ""
    can_interrupt: bool = False
    can_retry: bool = False


class RunBar(QFrame):
    """One line; it is gone while there is no run.

    Signals:
        usage_asked: The figures were pressed.
        settings_asked, interrupt_asked, retry_asked: Id of the node.
    """

    usage_asked = Signal()
    settings_asked = Signal(str)
    interrupt_asked = Signal(str)
    retry_asked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: BarState | None = None
        self.setAccessibleName("The run")
        self.mark = StatusMark(theme, "ring", "idle", 12, self)
        self.label = ElidedLabel(parent=self)
        self.label.setProperty("kind", "caption")
        self.usage = ElidedButton(self)
        self.usage.setProperty("kind", "chip")
        self.usage.clicked.connect(self.usage_asked)
        self.meter = LimitMeter(theme, self)
        self.limit = ElidedLabel(parent=self)
        self.limit.setProperty("kind", "small")
        self.settings = ElidedButton(self)
        self.settings.setProperty("kind", "chip")
        self.settings.clicked.connect(self._ask_settings)
        self.interrupt = QPushButton("Interrupt", self)
        self.interrupt.setProperty("kind", "chip")
        self.interrupt.clicked.connect(self._ask_interrupt)
        self.retry = QPushButton("Retry", self)
        self.retry.setProperty("kind", "chip")
        self.retry.clicked.connect(self._ask_retry)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 12, 4)
        row.setSpacing(8)
        row.addWidget(self.mark)
        row.addWidget(self.label, 1)
        row.addWidget(self.limit)
        row.addWidget(self.meter)
        for button in (self.usage, self.settings, self.interrupt, self.retry):
            row.addWidget(button)
        theme.changed.connect(self._dress)
        self._dress()
        self.show_state(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the meter says it without the words beside it."""
        super().resizeEvent(event)
        self._show_limit_words()

    def _show_limit_words(self) -> None:
        words = self._state.limit_words if self._state is not None else ""
        self.limit.setVisible(bool(words) and self.width() >= _ROOM_FOR_WORDS)

    @property
    def state(self) -> BarState | None:
        """What is shown; `None` while the bar is not there."""
        return self._state

    def show_state(self, state: BarState | None) -> None:
        """Show this; with `None` the bar goes."""
        if state == self._state and state is not None:
            return
        before, self._state = self._state, state
        self.setVisible(state is not None)
        if state is None:
            return
        run_status = state.status.removeprefix("run:")
        if run_status != state.status:
            words, (mark, color) = run_status.capitalize(), _RUN_MARKS[run_status]
        else:
            style = status_style(state.status)
            words, mark, color = style.label, style.mark, style.color
        self.mark.show_mark(mark, color)
        self.label.setText(f"{state.label} · {words}")
        self.label.setMinimumWidth(min(self.label.sizeHint().width(), _LABEL_WIDTH))
        self.label.updateGeometry()
        self.usage.setVisible(bool(state.usage))
        self.usage.show_text(state.usage, state.usage_tip)
        self.usage.setAccessibleName(f"Used up: {state.usage}")
        self.meter.setVisible(bool(state.limit_words))
        self.limit.setText(state.limit_words)
        self._show_limit_words()
        self.limit.updateGeometry()
        self.meter.show_value(state.limit, state.limit_words)
        self.settings.setVisible(bool(state.settings))
        self.settings.show_text(state.settings, state.settings_tip)
        self.settings.setAccessibleName(f"{state.label}, settings for this run: {state.settings}")
        self.interrupt.setVisible(state.can_interrupt)
        self.retry.setVisible(state.can_retry)
        self.interrupt.setAccessibleName(f"Interrupt {state.label}")
        self.retry.setAccessibleName(f"Retry {state.label}")
        if before is None or (before.node_id, before.status) != (state.node_id, state.status):
            self.unlock()

    def unlock(self) -> None:
        """The last wish is settled; the buttons can be used again."""
        for button, words in ((self.interrupt, "Interrupt"), (self.retry, "Retry")):
            button.setEnabled(True)
            button.setText(words)

    def _ask_settings(self) -> None:
        if self._state is not None:
            self.settings_asked.emit(self._state.node_id)

    def _ask_interrupt(self) -> None:
        """A second press finds the button locked."""
        if self._state is not None:
            self.interrupt.setEnabled(False)
            self.interrupt.setText("Interrupting…")
            self.interrupt_asked.emit(self._state.node_id)

    def _ask_retry(self) -> None:
        if self._state is not None:
            self.retry.setEnabled(False)
            self.retry.setText("Retrying…")
            self.retry_asked.emit(self._state.node_id)

    def _dress(self) -> None:
        icons = self._theme.icons
        self.interrupt.setIcon(icons.icon("pause", "text", 12))
        self.retry.setIcon(icons.icon("retry", "text", 12))

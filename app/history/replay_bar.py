"""The strip of a replay: which moment is shown, a slider over all events, and the ways out."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QToolButton,
    QWidget,
)

from app.history.event_words import event_words
from app.history.replay_session import ReplaySession
from app.history.run_menu import offers
from app.kit.elided_label import ElidedLabel
from app.theme.theme import Theme

_LEAP = 10


class EventSlider(QSlider):
    """A slider over events. Arrow keys step, Space plays on, Backspace plays back.

    Signals:
        play_asked: 1 to play forward, -1 to play back.
    """

    play_asked = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setPageStep(_LEAP)
        self.setAccessibleName("Event that is shown")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Play by keys; everything else is the slider's."""
        if event.key() == Qt.Key.Key_Space:
            self.play_asked.emit(1)
        elif event.key() == Qt.Key.Key_Backspace:
            self.play_asked.emit(-1)
        else:
            super().keyPressEvent(event)


class ReplayBar(QFrame):
    """Shows one replay at a time and is hidden without one.

    Signals:
        left: The person has seen enough.
        resumed: The run is to go on.
        forked: A new run is to begin at the moment that is shown.
    """

    left = Signal()
    resumed = Signal()
    forked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._session: ReplaySession | None = None
        self.setProperty("kind", "panel")
        self.setAccessibleName("Replay")
        self.name = ElidedLabel("", self)
        self.name.setProperty("kind", "caption")
        self.moment = ElidedLabel("", self, yields=True)
        self.moment.setProperty("kind", "small")
        self.number = QLabel(self)
        self.number.setProperty("kind", "small")
        self.slider = EventSlider(self)
        self.play_back = self._tool("Play back (Backspace)")
        self.step_back = self._tool("One event back (Left)")
        self.step_on = self._tool("One event on (Right)")
        self.play = self._tool("Play (Space)")
        self.fork = QPushButton("Fork here…", self)
        self.resume = QPushButton("Resume", self)
        self.leave = self._tool("Leave the replay (Escape)")
        for button in (self.fork, self.resume):
            button.setAutoDefault(False)
        self._lay_out()
        self._connect()
        self._dress()
        self.hide()

    def show_session(self, session: ReplaySession | None) -> None:
        """Follow another replay; with `None` there is nothing to see."""
        if self._session is not None:
            self._session.moved.disconnect(self._show_moment)
            self._session.playing_changed.disconnect(self._dress)
        self._session = session
        self.setVisible(session is not None)
        if session is None:
            return
        session.moved.connect(self._show_moment)
        session.playing_changed.connect(self._dress)
        self.name.setText("Replay")
        self.name.full_tip = f"Replay of {session.run.name}"
        self.setAccessibleName(self.name.full_tip)
        why_not = offers([session.run])["resume"].why_not
        self.resume.setEnabled(not why_not)
        self.resume.setToolTip(why_not or "Go on with this run")
        self.slider.setRange(0, session.count)
        self._show_moment()
        self._dress()
        self.slider.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _tool(self, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        return button

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 10, 5)
        row.setSpacing(4)
        row.addWidget(self.name)
        row.addSpacing(6)
        for button in (self.play_back, self.step_back, self.step_on, self.play):
            row.addWidget(button)
        row.addSpacing(4)
        self.slider.setMinimumWidth(90)
        row.addWidget(self.slider, 1)
        row.addSpacing(6)
        row.addWidget(self.number)
        row.addSpacing(4)
        row.addWidget(self.moment, 2)
        row.addSpacing(4)
        for wish in (self.fork, self.resume, self.leave):
            row.addWidget(wish)

    def _connect(self) -> None:
        self.slider.valueChanged.connect(self._on_slid)
        self.slider.play_asked.connect(self._on_play)
        self.play.clicked.connect(lambda: self._on_play(1))
        self.play_back.clicked.connect(lambda: self._on_play(-1))
        self.step_on.clicked.connect(lambda: self._on_step(1))
        self.step_back.clicked.connect(lambda: self._on_step(-1))
        self.fork.clicked.connect(lambda: self.forked.emit())
        self.resume.clicked.connect(lambda: self.resumed.emit())
        self.leave.clicked.connect(lambda: self.left.emit())
        self._theme.changed.connect(self._dress)

    def _on_slid(self, value: int) -> None:
        session = self._session
        if session is not None and value != session.target:
            session.play(0)
            session.seek(value)
            self._show_words()

    def _on_step(self, count: int) -> None:
        if self._session is not None:
            self._session.play(0)
            self._session.step(count)

    def _on_play(self, direction: int) -> None:
        session = self._session
        if session is not None:
            session.play(0 if session.direction == direction else direction)

    def _show_moment(self) -> None:
        session = self._session
        if session is None:
            return
        if not self.slider.isSliderDown() and self.slider.value() != session.target:
            self.slider.blockSignals(True)
            self.slider.setValue(session.target)
            self.slider.blockSignals(False)
        self._show_words()

    def _show_words(self) -> None:
        session = self._session
        if session is not None:
            self.number.setText(f"{session.target} of {session.count}")
            record = session.record
            words = event_words(record, session.view.labels) if record is not None else ""
            self.moment.setText(words or "Before the first event")
            self.step_back.setEnabled(session.target > 0)
            self.step_on.setEnabled(session.target < session.count)

    def _dress(self) -> None:
        icons = self._theme.icons
        direction = self._session.direction if self._session is not None else 0
        self.play.setIcon(icons.icon("pause" if direction > 0 else "play", "text"))
        self.play_back.setIcon(icons.icon("pause" if direction < 0 else "play-back", "text"))
        self.step_on.setIcon(icons.icon("step", "text"))
        self.leave.setIcon(icons.icon("close"))
        self.step_back.setIcon(icons.icon("step-back", "text"))

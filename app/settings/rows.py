"""What a page is made of: groups of rows, each with a caption, its meaning and a control."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.inspector.controls import mark_wrong
from app.inspector.field import WrongLine, small_label
from app.theme.theme import Theme

CONTROL_WIDTH = 320
_SIDE = 16


class Switch(QCheckBox):
    """Yes or no; the knob tells which also without its colour."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(self.sizeHint())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Room for the switch."""
        return QSize(38, 24)

    def hitButton(self, at: object) -> bool:
        """All of it can be clicked."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the track and the knob."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(2, 3, 34, 18)
        painter.setOpacity(1.0 if self.isEnabled() else 0.45)
        on = self.isChecked()
        painter.setPen(tokens.color("accent" if on or self.hasFocus() else "text_second"))
        painter.setBrush(tokens.color("accent") if on else tokens.color("raised"))
        painter.drawRoundedRect(track, 9, 9)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.color("on_accent" if on else "text_second"))
        painter.drawEllipse(QRectF(21 if on else 5, 6, 12, 12))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(tokens.color("text"))
            painter.drawRoundedRect(QRectF(0.5, 1.5, 37, 21), 10.5, 10.5)
        painter.end()


class Row(QWidget):
    """A caption with its meaning at the left, a control at the right, what is wrong below.

    Args:
        theme: the theme of the window.
        caption: what is set here.
        note: what it means.
        wide: the control stands below the caption and takes the whole width.
    """

    def __init__(self, theme: Theme, caption: str, note: str = "", *, wide: bool = False) -> None:
        super().__init__()
        self.caption = caption
        self.theme = theme
        self._stops: list[QWidget] = []
        self.label = QLabel(caption, self)
        self.label.setWordWrap(True)
        self._note = small_label(self, note)
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(2)
        if caption:
            words.addWidget(self.label)
        else:
            self.label.hide()
        words.addWidget(self._note)
        self.right = QWidget(self)
        self.control_box = QHBoxLayout(self.right)
        self.control_box.setContentsMargins(0, 0, 0, 0)
        self.control_box.setSpacing(8)
        self._wrong = WrongLine(theme, self)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(_SIDE, 11, _SIDE, 11)
        outer.setSpacing(4)
        if wide:
            outer.addLayout(words)
            outer.addWidget(self.right)
            outer.addWidget(self._wrong)
        else:
            line = QHBoxLayout()
            line.setSpacing(20)
            line.addLayout(words, 1)
            line.setAlignment(words, Qt.AlignmentFlag.AlignVCenter)
            side = QVBoxLayout()
            side.setSpacing(4)
            side.addWidget(self.right)
            side.addWidget(self._wrong)
            self._wrong.setMaximumWidth(CONTROL_WIDTH)
            line.addLayout(side)
            line.setAlignment(side, Qt.AlignmentFlag.AlignVCenter)
            outer.addLayout(line)

    @property
    def note(self) -> str:
        """What stands below the caption."""
        return self._note.text()

    @property
    def wrong(self) -> str:
        """What is wrong with what is entered; empty if nothing is."""
        return self._wrong.words

    def set_note(self, words: str) -> None:
        """Say below the caption what it means."""
        self._note.setText(words)
        self._note.setVisible(bool(words))
        self._describe()

    def say_wrong(self, words: str) -> None:
        """Say what is wrong with what is entered, or with an empty text that nothing is."""
        if words != self.wrong:
            self._wrong.say(words)
            for control in self._stops:
                mark_wrong(control, bool(words))
            self._describe()

    def adopt(self, control: QWidget, *, name: str = "", stretch: int = 0) -> None:
        """Put a control to the right, known to those who see, hear or press keys."""
        control.setAccessibleName(name or self.caption)
        self.control_box.addWidget(control, stretch)
        self._stops.append(control)
        if len(self._stops) == 1:
            self.label.setBuddy(control)
        self._describe()

    def take_focus(self) -> None:
        """Let the person change it."""
        for control in self._stops:
            if control.isEnabled() and not control.isHidden():
                control.setFocus(Qt.FocusReason.OtherFocusReason)
                return

    def _describe(self) -> None:
        words = ". ".join(part for part in (self.wrong, self.note) if part)
        for control in self._stops:
            control.setAccessibleDescription(words)
            if not control.toolTip() and self.note:
                control.setToolTip(self.note)


class Told(Row):
    """A caption and what it means, with nothing to change."""

    def __init__(self, theme: Theme, caption: str, note: str) -> None:
        super().__init__(theme, caption, note, wide=True)
        self.right.hide()


class Group(QFrame):
    """Rows that belong together, in one frame with a line between them."""

    def __init__(self, parent: QWidget | None = None, title: QLabel | None = None) -> None:
        """Make it; `title` stands above it and comes and goes with it."""
        super().__init__(parent)
        self.title = title
        self.setProperty("kind", "card")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 2, 0, 2)
        self._box.setSpacing(0)

    def add(self, row: QWidget) -> None:
        """Put a row at the end."""
        if self._box.count():
            line = QFrame(self)
            line.setProperty("kind", "line")
            line.setFixedHeight(1)
            self._box.addWidget(line)
        self._box.addWidget(row)

    def show_with_title(self, is_shown: bool) -> None:
        """Show it with what stands above it, or neither."""
        self.setVisible(is_shown)
        if self.title is not None:
            self.title.setVisible(is_shown)

    def clear(self) -> None:
        """Take all rows out."""
        while self._box.count():
            item = self._box.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()

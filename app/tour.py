"""A short tour of the window: a light on one part at a time, and a few words about it."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.kit.pens import solid_pen
from app.main_window import MainWindow

SEEN = "tour_seen"
_GAP = 12
_EDGE = 8
_DIM = 140


class Step(NamedTuple):
    """One stop: what is lit, and what is said."""

    target: QWidget
    title: str
    text: str


class Tour(QWidget):
    """The tour of one window; it is over when the last step or Skip is pressed, or Escape."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._steps: list[Step] = []
        self._at = 0
        self._back_to: QWidget | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.card = QFrame(self)
        self.card.setProperty("kind", "popover")
        self.card.setFixedWidth(320)
        self.title = QLabel(self.card)
        self.title.setProperty("kind", "title")
        self.text = QLabel(self.card)
        self.text.setWordWrap(True)
        self.count = QLabel(self.card)
        self.count.setProperty("kind", "small")
        self.skip = self._button("Skip", self.end)
        self.back = self._button("Back", self.go_back)
        self.next = self._button("Next", self.go_on)
        self.next.setProperty("kind", "primary")
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.count, 1)
        for button in (self.skip, self.back, self.next):
            row.addWidget(button)
        box = QVBoxLayout(self.card)
        box.setContentsMargins(16, 14, 14, 12)
        box.setSpacing(8)
        box.addWidget(self.title)
        box.addWidget(self.text)
        box.addLayout(row)
        window.installEventFilter(self)
        self.hide()

    def begin_once(self) -> None:
        """Begin, unless a person has seen it before."""
        if not self._window.state.flag(SEEN, False):
            self.begin()

    def begin(self) -> None:
        """Begin with the first part that is on screen."""
        self._steps = [step for step in _steps(self._window) if step.target.isVisible()]
        self._at = 0
        if self._steps:
            self._back_to = self._window.focusWidget()
            self.show()
            self.raise_()
            self._show_step()

    def go_on(self) -> None:
        """The next part; after the last one it is over."""
        if self._at + 1 < len(self._steps):
            self._at += 1
            self._show_step()
        else:
            self.end()

    def go_back(self) -> None:
        """The part before."""
        if self._at:
            self._at -= 1
            self._show_step()

    def end(self) -> None:
        """End it; it does not begin by itself again."""
        self._window.state.put(SEEN, True)
        self.hide()
        if self._back_to is not None:
            self._back_to.setFocus()
        self._back_to = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim everything but the part that is spoken of."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shade, hole = QPainterPath(), QPainterPath()
        shade.addRect(QRectF(self.rect()))
        hole.addRoundedRect(QRectF(self._lit()), 12, 12)
        painter.fillPath(shade.subtracted(hole), QColor(0, 0, 0, _DIM))
        painter.strokePath(hole, solid_pen(self._window.theme.tokens.color("accent"), 1.5))
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows lead through it, Enter goes on, Escape ends it."""
        match event.key():
            case Qt.Key.Key_Escape:
                self.end()
            case Qt.Key.Key_Right | Qt.Key.Key_Down | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.go_on()
            case Qt.Key.Key_Left | Qt.Key.Key_Up:
                self.go_back()
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the card does nothing: it is not for what lies below."""
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay over the whole window."""
        if watched is self._window and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _button(self, text: str, handler: object) -> QPushButton:
        button = QPushButton(text, self.card)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(handler)
        return button

    def _show_step(self) -> None:
        step = self._steps[self._at]
        self.title.setText(step.title)
        self.text.setText(step.text)
        self.count.setText(f"{self._at + 1} of {len(self._steps)}")
        self.back.setEnabled(self._at > 0)
        is_last = self._at + 1 == len(self._steps)
        self.next.setText("Done" if is_last else "Next")
        self.skip.setVisible(not is_last)
        self.setAccessibleName(f"Tour, {self.count.text()}: {step.title}. {step.text}")
        self._place()
        self.setFocus()

    def _lit(self) -> QRect:
        target = self._steps[self._at].target
        corner = target.mapTo(self._window, QPoint(0, 0))
        lit = QRect(corner, target.size()).adjusted(-4, -4, 4, 4)
        return lit.intersected(self.rect().adjusted(2, 2, -2, -2))

    def _place(self) -> None:
        self.setGeometry(self._window.rect())
        lit, size = self._lit(), self.card.sizeHint()
        size.setWidth(self.card.width())
        size.setHeight(max(size.height(), self.card.heightForWidth(size.width())))
        room = self.rect().adjusted(_EDGE, _EDGE, -_EDGE, -_EDGE)
        places = (
            QPoint(lit.right() + _GAP, lit.top()),
            QPoint(lit.left() - size.width() - _GAP, lit.top()),
            QPoint(lit.left(), lit.bottom() + _GAP),
            QPoint(lit.left(), lit.top() - size.height() - _GAP),
        )
        best = QRect(lit.center() - QPoint(size.width() // 2, size.height() // 2), size)
        for place in places:
            card = QRect(place, size)
            card.moveTop(max(room.top(), min(card.top(), room.bottom() - size.height())))
            if room.contains(card) and not card.intersects(lit):
                best = card
                break
        self.card.setGeometry(best)
        self.update()


def _steps(window: MainWindow) -> tuple[Step, ...]:
    tip = window.actions_.tip
    return (
        Step(
            window.sidebar,
            "Your library",
            "Workflows, projects, saved agents and examples. Drop files or a folder here; "
            "the + makes something new.",
        ),
        Step(
            window.canvas,
            "The workflow",
            "Each card is an agent; what it hands over follows the lines. Double-click the ground "
            "for a new one, drag from its edge to connect. Everything can be undone.",
        ),
        Step(
            window.top_bar.chip,
            "Ready or not",
            "Which model would answer, or what is missing. The demo model needs nothing: it runs "
            "on your computer.",
        ),
        Step(
            window.top_bar.run,
            "Run",
            f"{tip('run')} starts the workflow; Stop takes its place while it runs.",
        ),
        Step(
            window.dock,
            "The conversation",
            "What the agents say and do, in the order in which it happens. You answer here, and "
            "allow or deny what they want to do.",
        ),
        Step(
            window.top_bar.menu_button,
            "Everything else",
            f"All commands with their keys. {tip('palette')} finds any of them by a few letters.",
        ),
    )

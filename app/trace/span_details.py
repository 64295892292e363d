"""The details of one span: its figures, what happened in it, and what a tool was given and gave."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.chat.tool_words import call_text
from app.theme.theme import Theme
from app.trace.span_words import facts, kind_words, span_name
from orchestration.runs.run_view import RunView
from orchestration.runs.spans import Span, SpanKind

LONGEST = 60_000
"""So many characters of a text are shown here; the conversation has the whole."""
_LEAST_TEXT, _MOST_TEXT = 40, 220


class SpanDetails(QFrame):
    """Says what there is to know of one span.

    Signals:
        wished_for_chat: The span's node is to be shown in the conversation.
    """

    wished_for_chat = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[object, ...] = ()
        self.span: Span | None = None
        self.setProperty("kind", "panel")
        self.setMinimumWidth(220)
        self.kind = _label("section", self)
        self.title = _label("title", self)
        self.title.setWordWrap(True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self.events = _label("small", self)
        self.events.setWordWrap(True)
        self.given = _TextSection("Arguments", self)
        self.gave = _TextSection("Result", self)
        self.to_chat = QPushButton("Show in Chat", self)
        self.to_chat.clicked.connect(self._ask)
        buttons = QHBoxLayout()
        buttons.addWidget(self.to_chat)
        buttons.addStretch(1)
        inner = QWidget(self)
        inner.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        box = QVBoxLayout(inner)
        box.setContentsMargins(16, 12, 16, 14)
        box.setSpacing(8)
        box.addWidget(self.kind)
        box.addWidget(self.title)
        box.addLayout(self._grid)
        box.addWidget(self.events)
        box.addWidget(self.given)
        box.addWidget(self.gave)
        box.addLayout(buttons)
        box.addStretch(1)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(inner)
        self._area.setAccessibleName("Details")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._area)

    def show_span(self, span: Span, view: RunView, now: float, first: float) -> None:
        """Show a span as it is now."""
        found = facts(span, now, first)
        call = view.tool_calls.get(span.actor, {}).get(span.call_id) if span.call_id else None
        given = call_text(call.arguments) if call is not None else ""
        gave = call.last_output if call is not None else ""
        marks = [(mark.time - first, mark.text) for mark in span.marks]
        shown = (span, tuple(found), given, gave, tuple(marks))
        if shown == self._shown:
            return
        if span is not self.span:
            self._area.verticalScrollBar().setValue(0)
        self._shown, self.span = shown, span
        self.kind.setText(kind_words(span).upper())
        self.title.setText(span_name(span))
        self._fill([(fact.name, fact.value) for fact in found])
        lines = [f"{seconds:.1f} s  {escape(text)}" for seconds, text in marks]
        self.events.setText("<br>".join(lines))
        self.events.setTextFormat(Qt.TextFormat.RichText)
        self.events.setVisible(bool(lines))
        self.given.show_text(given if span.kind is SpanKind.TOOL else "")
        self.gave.show_text(gave if span.kind is SpanKind.TOOL else "")
        self.to_chat.setVisible(bool(span.owner))

    def _fill(self, lines: list[tuple[str, str]]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, value) in enumerate(lines):
            key = _label("small", self, name)
            told = _label("", self, value)
            told.setWordWrap(True)
            told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(key, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(told, row, 1)

    def _ask(self) -> None:
        if self.span is not None:
            self.wished_for_chat.emit(self.span)


class _TextSection(QWidget):
    """A text with its name above it; not there where there is none."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._name = name
        self.heading = _label("section", self)
        self.text = QPlainTextEdit(self)
        self.text.setProperty("kind", "code")
        self.text.setReadOnly(True)
        self.text.setAccessibleName(name)
        self.text.setTabChangesFocus(True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 6, 0, 0)
        box.setSpacing(4)
        box.addWidget(self.heading)
        box.addWidget(self.text)

    def show_text(self, text: str) -> None:
        """Show this, and say how much of it where it is too long."""
        self.setVisible(bool(text))
        shown = text[:LONGEST]
        words = self._name.upper()
        if len(shown) < len(text):
            words += f" · THE FIRST {LONGEST:,} OF {len(text):,} CHARACTERS".replace(",", " ")
        self.heading.setText(words)
        if shown != self.text.toPlainText():
            self.text.setPlainText(shown)
            lines = min(shown.count("\n") + 1 + len(shown) // 60, 40)
            wanted = lines * self.text.fontMetrics().lineSpacing() + 22
            self.text.setFixedHeight(min(max(wanted, _LEAST_TEXT), _MOST_TEXT))


def _label(kind: str, parent: QWidget, text: str = "") -> QLabel:
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("kind", kind)
    return label

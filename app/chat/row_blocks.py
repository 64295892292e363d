"""Rows laid out for a width and painted: messages, thinking, tool calls, outputs, notices.

A block paints in its own coordinates: its top left corner is at 0, 0.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.chat.message_document import Mark, MessageDocument
from app.chat.rows import (
    APPROVAL,
    ENDED,
    FAILURE,
    OUTPUT,
    QUESTION,
    TASKS,
    UNCERTAIN,
    USER,
    Row,
)
from app.kit.formats import duration_text
from app.theme.statuses import paint_mark
from app.theme.theme import Theme
from app.theme.tokens import RADIUS_CARD

HEADER = 24.0
GAP = 14.0
TIGHT_GAP = 6.0
_SEAM = 0.0
_CARD_PADDING = 12.0
_BUBBLE_SHARE = 0.82
LINE = 22.0
_BOXED = frozenset({OUTPUT, TASKS})
_WRAPPED = Qt.TextFlag.TextWordWrap.value


class RowBlock:
    """A row that can be painted; the base is also the plain notice, small and wrapped."""

    def __init__(self, row: Row, has_header: bool, theme: Theme) -> None:
        self.row = row
        self.theme = theme
        self.has_header = has_header
        self.height = 0.0
        self.width = 0.0

    @property
    def top(self) -> float:
        """Where the content begins, below the header."""
        return HEADER if self.has_header else 0.0

    def refresh(self) -> None:
        """The row shows something else now."""

    def layout(self, width: float) -> float:
        """Lay out and return the height, the gap below included."""
        self.width = width
        metrics = QFontMetricsF(self.theme.sized_font(12))
        room = metrics.boundingRect(QRectF(0, 0, width, 10_000), _WRAPPED, self.words())
        self.height = self.top + max(LINE, room.height() + 6) + TIGHT_GAP
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, marks: Sequence[Mark]) -> None:
        """Paint the part that lies within `clip`."""
        self.paint_header(painter)
        painter.setFont(self.theme.sized_font(12))
        painter.setPen(self.theme.tokens.color("text_second"))
        box = QRectF(0, self.top + 3, self.width, self.height)
        painter.drawText(box, _WRAPPED, self.words())

    def words(self) -> str:
        """The text of a notice."""
        return self.row.text

    def document_at(self) -> tuple[MessageDocument, QPointF] | None:
        """The text that can be selected, and where it is."""
        return None

    def is_toggle(self, point: QPointF) -> bool:
        """Whether a click here folds or unfolds something."""
        return False

    def toggle(self, point: QPointF | None) -> bool:
        """Fold or unfold what is at a point, or with `None` the first thing there is to fold.

        Tells whether a stack is to be folded or unfolded, which the block cannot do by itself.
        """
        return False

    def link_at(self, point: QPointF) -> str:
        """The address of a link that the block itself paints there; empty where none is."""
        return ""

    def spoken(self) -> str:
        """What a screen reader says of the row."""
        return f"{self.row.label}: {self.row.text}" if self.row.label else self.row.text

    def paint_header(self, painter: QPainter) -> None:
        """The node's name and the time, where the row has a header."""
        if not self.has_header:
            return
        tokens = self.theme.tokens
        strong = self.theme.sized_font(12, strong=True)
        painter.setFont(strong)
        painter.setPen(tokens.color("text"))
        width = QFontMetricsF(strong).horizontalAdvance(self.row.label)
        painter.drawText(QPointF(0, 14), self.row.label)
        painter.setFont(self.theme.sized_font(12))
        painter.setPen(tokens.color("text_second"))
        when = clock.strftime("%H:%M", clock.localtime(self.row.time))
        painter.drawText(QPointF(width + 8, 14), when)


class MessageBlock(RowBlock):
    """What a model said, on the ground; what a person said, in a bubble; an output, in a card."""

    def __init__(self, row: Row, has_header: bool, theme: Theme) -> None:
        super().__init__(row, has_header, theme)
        self._text = MessageDocument(theme)
        self._box = QRectF()
        self._taken = 0
        self._complete: str | None = None
        if row.is_open and row.opening:
            self._text.append(row.opening)
        self.refresh()

    def refresh(self) -> None:
        """Take over what has arrived; render it once it is complete."""
        row = self.row
        if row.is_open and row.kind != QUESTION:
            if len(row.text) > self._taken:
                self._text.append(row.text[self._taken :])
                self._taken = len(row.text)
            return
        whole = f"{row.opening}{row.text}{row.closing}"
        if whole != self._complete:
            self._complete = whole
            if row.kind == USER:
                self._text.show_plain(row.text)
            else:
                self._text.show_markdown(whole)

    def layout(self, width: float) -> float:
        """Lay out as a message, a bubble or a card."""
        self.width = width
        if self.row.kind == USER:
            room = width * _BUBBLE_SHARE - 2 * _CARD_PADDING
            self._text.set_width(room)
            inner = min(room, self._text.document.idealWidth() + 1)
            left = width - inner - 2 * _CARD_PADDING
            self._box = QRectF(left, self.top, inner + 2 * _CARD_PADDING, 0)
            self._box.setHeight(self._text.size().height() + 16)
        elif self.row.kind in _BOXED:
            self._text.set_width(width - 2 * _CARD_PADDING - 4)
            height = self._text.size().height() + LINE + 2 * _CARD_PADDING + 6
            self._box = QRectF(0.5, self.top + 0.5, width - 1, height)
        else:
            self._text.set_width(width)
            self._box = QRectF(0, self.top, width, self._text.size().height())
        goes_on = self.row.after is not None
        self.height = self._box.bottom() + (_SEAM if goes_on and self.row.kind != USER else GAP)
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, marks: Sequence[Mark]) -> None:
        """Paint the box, if there is one, and the text."""
        self.paint_header(painter)
        tokens = self.theme.tokens
        if self.row.kind == USER or self.row.kind in _BOXED:
            painter.setPen(QPen(tokens.color("hairline"), 1))
            painter.setBrush(tokens.color("raised"))
            painter.drawRoundedRect(self._box, RADIUS_CARD, RADIUS_CARD)
        if self.row.kind in _BOXED:
            self._paint_head(painter)
        at = self._text_at()
        within = clip.translated(-at).intersected(
            QRectF(0, 0, self._text.document.textWidth(), self._text.size().height())
        )
        self._text.paint(painter, at, within, marks)

    def document_at(self) -> tuple[MessageDocument, QPointF] | None:
        """The message itself."""
        return self._text, self._text_at()

    def _text_at(self) -> QPointF:
        if self.row.kind == USER:
            return QPointF(self._box.left() + _CARD_PADDING, self._box.top() + 8)
        if self.row.kind in _BOXED:
            return QPointF(
                self._box.left() + _CARD_PADDING + 2, self._box.top() + _CARD_PADDING + LINE + 4
            )
        return self._box.topLeft()

    def head(self) -> tuple[str, str, str]:
        """Mark, colour and words of the head of a card."""
        words = f"{self.row.label} is done"
        if self.row.seconds is not None:
            words += f" · {duration_text(self.row.seconds)}"
        return "check", "done", words

    def show(self, markdown: str) -> None:
        """Show another text."""
        self._text.show_markdown(markdown)

    def _paint_head(self, painter: QPainter) -> None:
        tokens = self.theme.tokens
        middle = self._box.top() + _CARD_PADDING + 8
        mark, color, words = self.head()
        at = QPointF(self._box.left() + _CARD_PADDING + 9, middle)
        paint_mark(painter, at, 14, mark, tokens.color(color))
        painter.setFont(self.theme.sized_font(12))
        painter.setPen(tokens.color("text_second"))
        box = QRectF(self._box.left() + _CARD_PADDING + 24, middle - 11, self.width, 22)
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words)


class VerdictBlock(RowBlock):
    """What is left of a card once its matter is settled: one line."""

    def words(self) -> str:
        """The verdict and what it was about."""
        row = self.row
        if row.kind == FAILURE:
            return f"Failed and tried again: {row.text}" if row.payload else f"Failed: {row.text}"
        if row.kind in (APPROVAL, UNCERTAIN):
            return f"{row.verdict or 'No longer needed'} · {row.text}"
        return f"{row.text}, then continued" if row.kind == ENDED else row.text


def estimated_height(row: Row, has_header: bool, width: float) -> float:
    """About how high the row will be; exact heights cost a layout."""
    header = HEADER if has_header else 0.0
    if row.kind in (USER, OUTPUT, TASKS, "assistant"):
        across = max(20.0, width / 7.2)
        lines = row.text.count("\n") + len(row.text) / across + 1
        extra = 50.0 if row.kind in _BOXED else 16.0 if row.kind == USER else 0.0
        return header + lines * 21.0 + GAP + extra
    if row.is_card:
        return header + 150.0
    return header + LINE + TIGHT_GAP

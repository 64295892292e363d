"""Rows laid out for a width and painted: messages, thinking, tool calls, outputs, notices.

A block paints in its own coordinates: its top left corner is at 0, 0.
"""

from __future__ import annotations

import time as clock

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPixmap, QTextCursor

from app.chat.message_document import MessageDocument
from app.chat.rows import APPROVAL, ENDED, FAILURE, OUTPUT, TASKS, UNCERTAIN, USER, Row
from app.kit.formats import duration_text
from app.theme.statuses import paint_mark
from app.theme.theme import Theme
from app.theme.tokens import RADIUS_CARD

HEADER = 24.0
GAP = 14.0
_TIGHT_GAP = 6.0
_CARD_PADDING = 12.0
_BUBBLE_SHARE = 0.82
_LINE = 22.0
_BOXED = frozenset({OUTPUT, TASKS})
_WRAPPED = Qt.TextFlag.TextWordWrap.value
_CALL_MARKS = {
    "completed": ("check", "done"),
    "failed": ("cross", "failed"),
    "blocked": ("bars", "failed"),
    "aborted": ("square", "idle"),
    "running": ("disc", "running"),
    "awaiting_approval": ("exclamation", "waiting"),
}
_CALL_WORDS = {
    "failed": "failed",
    "blocked": "denied",
    "aborted": "stopped",
    "running": "running",
    "awaiting_approval": "waits for your approval",
}


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
        self.height = self.top + max(_LINE, room.height() + 6) + _TIGHT_GAP
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, selection: QTextCursor | None) -> None:
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
        """Whether a click here folds or unfolds the row."""
        return False

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
        if row.is_open:
            self._text.append(row.text)
        elif row.kind == USER:
            self._text.show_plain(row.text)
        else:
            self._text.show_markdown(row.text)
        row.pieces.clear()

    def refresh(self) -> None:
        """Take over what has arrived; render it once it is complete."""
        for piece in self.row.pieces:
            self._text.append(piece)
        self.row.pieces.clear()
        if not self.row.is_open and self._text.is_growing:
            self._text.finish(self.row.text)

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
            height = self._text.size().height() + _LINE + 2 * _CARD_PADDING + 6
            self._box = QRectF(0.5, self.top + 0.5, width - 1, height)
        else:
            self._text.set_width(width)
            self._box = QRectF(0, self.top, width, self._text.size().height())
        self.height = self._box.bottom() + GAP
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, selection: QTextCursor | None) -> None:
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
        self._text.paint(painter, at, within, selection)

    def document_at(self) -> tuple[MessageDocument, QPointF] | None:
        """The message itself."""
        return self._text, self._text_at()

    def _text_at(self) -> QPointF:
        if self.row.kind == USER:
            return QPointF(self._box.left() + _CARD_PADDING, self._box.top() + 8)
        if self.row.kind in _BOXED:
            return QPointF(
                self._box.left() + _CARD_PADDING + 2, self._box.top() + _CARD_PADDING + _LINE + 4
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


class FoldedBlock(RowBlock):
    """A line that opens: thinking, or a tool call with its arguments and its output."""

    def __init__(self, row: Row, has_header: bool, theme: Theme) -> None:
        super().__init__(row, has_header, theme)
        self._text: MessageDocument | None = None
        self._chevrons: tuple[QPixmap, QPixmap] = (
            theme.icons.pixmap("chevron-right"),
            theme.icons.pixmap("chevron-down"),
        )

    def refresh(self) -> None:
        """Read the row anew when it is next laid out."""
        self.row.pieces.clear()
        self._text = None

    def layout(self, width: float) -> float:
        """Lay out the line and, where it is open, what belongs to it."""
        self.width = width
        self.height = self.top + _LINE + _TIGHT_GAP
        if not self.row.is_folded:
            if self._text is None:
                self._text = MessageDocument(self.theme)
                self._text.show_markdown(self._opened_text())
            self._text.set_width(width - 22)
            self.height += self._text.size().height() + GAP
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, selection: QTextCursor | None) -> None:
        """Paint the line and, where it is open, what belongs to it."""
        self.paint_header(painter)
        tokens = self.theme.tokens
        middle = self.top + _LINE / 2
        chevron = self._chevrons[0 if self.row.is_folded else 1]
        painter.drawPixmap(QPointF(0, middle - 8), chevron)
        left = 22.0
        if self.row.tool is not None:
            mark, color = _CALL_MARKS.get(self.row.tool.status, ("dots", "idle"))
            paint_mark(painter, QPointF(left + 6, middle), 12, mark, tokens.color(color))
            left += 20
        strong, rest = self._line()
        font = self.theme.sized_font(13)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(tokens.color("text" if self.row.tool is not None else "text_second"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRectF(left, self.top, self.width - left, _LINE), flags, strong)
        left += metrics.horizontalAdvance(strong) + 8
        painter.setPen(tokens.color("text_second"))
        shown = metrics.elidedText(rest, Qt.TextElideMode.ElideMiddle, self.width - left)
        painter.drawText(QRectF(left, self.top, self.width - left, _LINE), flags, shown)
        if not self.row.is_folded and self._text is not None:
            at = QPointF(22, self.top + _LINE + _TIGHT_GAP)
            self._text.paint(painter, at, clip.translated(-at), selection)

    def document_at(self) -> tuple[MessageDocument, QPointF] | None:
        """What the line opens to."""
        if self.row.is_folded or self._text is None:
            return None
        return self._text, QPointF(22, self.top + _LINE + _TIGHT_GAP)

    def is_toggle(self, point: QPointF) -> bool:
        """The whole line folds."""
        return self.top <= point.y() <= self.top + _LINE

    def _line(self) -> tuple[str, str]:
        tool = self.row.tool
        if tool is None:
            if self.row.is_open:
                return "Thinking…", ""
            seconds = self.row.seconds
            return (
                f"Thought for {duration_text(seconds)}" if seconds is not None else "Thought"
            ), ""
        parts = [tool.target, _CALL_WORDS.get(tool.status, "")]
        if tool.seconds is not None:
            parts.append(duration_text(tool.seconds))
        return tool.verb, " · ".join(part for part in parts if part)

    def _opened_text(self) -> str:
        tool = self.row.tool
        if tool is None:
            return self.row.text
        text = f"Arguments\n\n{_fenced(tool.arguments)}"
        if tool.output:
            text += f"\n\nOutput\n\n{_fenced(_shortened(tool.output))}"
        return text


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
    return header + _LINE + _TIGHT_GAP


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _shortened(text: str, lines: int = 200) -> str:
    parts = text.split("\n", lines)
    if len(parts) <= lines:
        return text
    return "\n".join(parts[:lines]) + f"\n… and {parts[lines].count(chr(10)) + 1} more lines"

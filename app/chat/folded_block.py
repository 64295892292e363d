"""Lines that open: thinking, tool calls with their output, and stacks of several calls."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontDatabase, QFontMetricsF, QPainter, QPixmap

from app.chat.file_links import address_of
from app.chat.long_text import shortened
from app.chat.message_document import Mark, MessageDocument
from app.chat.row_blocks import GAP, LINE, TIGHT_GAP, RowBlock
from app.chat.rows import Row, ToolLine
from app.chat.tool_words import stack_words
from app.kit.formats import duration_text
from app.kit.visible import visible, visible_lines
from app.theme.statuses import paint_mark
from app.theme.theme import Theme

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
_LIVE = frozenset({"running", "proposed"})
_TAIL_LINES = 5
_TAIL_LINE = 17.0
_INDENT = 22.0


class FoldedBlock(RowBlock):
    """One line, and below it what it opens to.

    The first call of a stack has the stack's line above its own. A call that runs shows the last
    lines of its output as they come.
    """

    def __init__(self, row: Row, has_header: bool, theme: Theme) -> None:
        super().__init__(row, has_header, theme)
        self._text: MessageDocument | None = None
        self._tail: list[str] = []
        self._target = QRectF()
        self._chevrons: tuple[QPixmap, QPixmap] = (
            theme.icons.pixmap("chevron-right"),
            theme.icons.pixmap("chevron-down"),
        )

    def refresh(self) -> None:
        """Read the row anew when it is next laid out."""
        self._text = None

    def layout(self, width: float) -> float:
        """Lay out the line and, where it is open, what belongs to it."""
        self.width = width
        self.height = self._line_top + TIGHT_GAP
        if self._shows_line:
            self.height += LINE
        self._tail = self._live_tail()
        if self._tail:
            self.height += len(self._tail) * _TAIL_LINE + 14
        if self._is_opened:
            if self._text is None:
                self._text = MessageDocument(self.theme)
                self._text.show_markdown(self._opened_text())
            self._text.set_width(width - self._left - _INDENT)
            self.height += self._text.size().height() + GAP
        return self.height

    def paint(self, painter: QPainter, clip: QRectF, marks: Sequence[Mark]) -> None:
        """Paint the lines and, where it is open, what belongs to it."""
        self.paint_header(painter)
        if self._has_stack:
            assert self.row.stack is not None
            words, rest, status = stack_words([each.tool for each in self.row.stack if each.tool])
            self._paint_line(
                painter, self.top, 0.0, self.row.is_stack_folded, status, words, rest, True
            )
        if self._shows_line:
            tool = self.row.tool
            status = tool.status if tool is not None else ""
            words, rest = self._line()
            is_folded = self.row.is_folded
            self._paint_line(
                painter, self._line_top, self._left, is_folded, status, words, rest, bool(tool)
            )
        if self._tail:
            self._paint_tail(painter)
        if self._is_opened and self._text is not None:
            at = self._text_at()
            within = clip.translated(-at).intersected(
                QRectF(0, 0, self.width, self._text.size().height())
            )
            self._text.paint(painter, at, within, marks)

    def document_at(self) -> tuple[MessageDocument, QPointF] | None:
        """What the line opens to."""
        if not self._is_opened or self._text is None:
            return None
        return self._text, self._text_at()

    def is_toggle(self, point: QPointF) -> bool:
        """The whole line folds."""
        bottom = self._line_top + (LINE if self._shows_line else 0.0)
        return self.top <= point.y() <= bottom and not self.link_at(point)

    def toggle(self, point: QPointF | None) -> bool:
        """Fold or unfold the call; on the line of the stack, the stack."""
        if self._has_stack and (point is None or point.y() < self._line_top):
            return True
        self.row.is_folded = not self.row.is_folded
        return False

    def link_at(self, point: QPointF) -> str:
        """The file that a call is about."""
        tool = self.row.tool
        if tool is None or not tool.path or not self._target.contains(point):
            return ""
        path, _, line = tool.path.rpartition(":")
        first = line.partition("-")[0]
        if path and first.isdigit():
            return address_of(path, int(first))
        return address_of(tool.path, 0)

    def spoken(self) -> str:
        """The line, as it is painted."""
        return f"{self.row.label}: {' '.join(self._line())}"

    @property
    def _has_stack(self) -> bool:
        return self.row.stack is not None

    @property
    def _shows_line(self) -> bool:
        return not self._has_stack or not self.row.is_stack_folded

    @property
    def _is_opened(self) -> bool:
        return self._shows_line and not self.row.is_folded

    @property
    def _left(self) -> float:
        return _INDENT if self.row.head is not None else 0.0

    @property
    def _line_top(self) -> float:
        return self.top + (LINE + 2 if self._has_stack else 0.0)

    def _text_at(self) -> QPointF:
        top = self._line_top + LINE + TIGHT_GAP
        if self._tail:
            top += len(self._tail) * _TAIL_LINE + 14
        return QPointF(self._left + _INDENT, top)

    def _paint_line(
        self,
        painter: QPainter,
        top: float,
        left: float,
        is_folded: bool,
        status: str,
        strong: str,
        rest: str,
        is_call: bool,
    ) -> None:
        tokens = self.theme.tokens
        middle = top + LINE / 2
        painter.drawPixmap(QPointF(left, middle - 8), self._chevrons[0 if is_folded else 1])
        left += _INDENT
        if is_call:
            mark, color = _CALL_MARKS.get(status, ("dots", "idle"))
            paint_mark(painter, QPointF(left + 6, middle), 12, mark, tokens.color(color))
            left += 20
        font = self.theme.sized_font(13)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(tokens.color("text" if is_call else "text_second"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        strong = metrics.elidedText(strong, Qt.TextElideMode.ElideRight, self.width - left)
        painter.drawText(QRectF(left, top, self.width - left, LINE), flags, strong)
        left += metrics.horizontalAdvance(strong) + 8
        painter.setPen(tokens.color("text_second"))
        shown = metrics.elidedText(rest, Qt.TextElideMode.ElideMiddle, self.width - left)
        painter.drawText(QRectF(left, top, self.width - left, LINE), flags, shown)
        tool = self.row.tool
        if tool is not None and top == self._line_top:
            wide = min(metrics.horizontalAdvance(visible(tool.target)), self.width - left)
            self._target = QRectF(left, top, wide if tool.path else 0.0, LINE)

    def _paint_tail(self, painter: QPainter) -> None:
        """The last lines of the output, as they come."""
        tokens = self.theme.tokens
        top = self._line_top + (LINE if self._shows_line else 0.0)
        left = self._left + _INDENT
        height = len(self._tail) * _TAIL_LINE + 6
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.color("code_ground"))
        painter.drawRoundedRect(QRectF(left, top, self.width - left, height), 6, 6)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(12)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        painter.setPen(tokens.color("text_second"))
        room = self.width - left - 16
        for line in self._tail:
            shown = metrics.elidedText(line, Qt.TextElideMode.ElideRight, room)
            box = QRectF(left + 8, top + 3, room, _TAIL_LINE)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            top += _TAIL_LINE

    def _live_tail(self) -> list[str]:
        tool = self._live_call()
        if tool is None or not tool.output or (self._shows_line and not self.row.is_folded):
            return []
        end = tool.output[-4_000:].rstrip("\n").split("\n")[-_TAIL_LINES:]
        return [visible(line.expandtabs(4)) for line in end]

    def _live_call(self) -> ToolLine | None:
        """The call at work that this block speaks of."""
        rows = [self.row]
        if self.row.stack is not None and self.row.is_stack_folded:
            rows = self.row.stack[::-1]
        live = (each.tool for each in rows if each.tool and each.tool.status in _LIVE)
        return next(live, None)

    def _line(self) -> tuple[str, str]:
        tool = self.row.tool
        if tool is None:
            if self.row.is_open:
                return "Thinking…", ""
            seconds = self.row.seconds
            if seconds is None:
                return "Thought", ""
            return f"Thought for {duration_text(seconds)}", ""
        parts = [visible(tool.target), _CALL_WORDS.get(tool.status, "")]
        if tool.seconds is not None:
            parts.append(duration_text(tool.seconds))
        return tool.verb, " · ".join(part for part in parts if part)

    def _opened_text(self) -> str:
        tool = self.row.tool
        if tool is None:
            return shortened(self.row.text)
        text = f"Arguments\n\n{_fenced(tool.arguments)}"
        if tool.output:
            text += f"\n\nOutput\n\n{_fenced(tool.output)}"
        return text


def _fenced(text: str) -> str:
    text = "\n".join(visible_lines(shortened(text)))
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"

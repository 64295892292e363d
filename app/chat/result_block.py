"""A node's output: as a tree, or as the document that the next nodes get."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.chat.long_text import shortened
from app.chat.message_document import Mark
from app.chat.output_tree import is_tree, tree_lines
from app.chat.row_blocks import MessageBlock
from app.chat.tool_words import pretty
from app.chat.tree_text import fill_tree
from app.kit.formats import count_text
from app.theme.tokens import RADIUS_CARD

TURN = "turn:"
SWITCH = "switch-output:"
_READING = "*Reading the document…*"


class ResultBlock(MessageBlock):
    """Painted like a message in a card; its head switches between the two ways to see it."""

    def refresh(self) -> None:
        """Show it the way that is wanted now."""
        row = self.row
        if row.shows_handoff and self._is_markdown:
            document = row.handoff_text
            self._text.show_markdown(_READING if document is None else shortened(document))
        elif row.shows_handoff:
            self._text.show_markdown(_as_json(row.payload))
        elif is_tree(row.payload):
            fill_tree(self._text, tree_lines(row.payload, row.turned), self.theme)
        else:
            self._text.show_markdown(row.text)

    def paint(self, painter: QPainter, clip: QRectF, marks: Sequence[Mark]) -> None:
        """Paint the card, and the switch in its head."""
        super().paint(painter, clip, marks)
        if not self.can_switch:
            return
        painter.setFont(self.theme.sized_font(12))
        painter.setPen(self.theme.tokens.color("text_second"))
        where = self._switch_box()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawText(where, Qt.AlignmentFlag.AlignCenter, self._switch_words())
        painter.setPen(self.theme.tokens.color("hairline"))
        painter.drawRoundedRect(where, RADIUS_CARD - 1, RADIUS_CARD - 1)

    @property
    def can_switch(self) -> bool:
        """Whether there are two ways to see it."""
        return is_tree(self.row.payload) or self._is_markdown

    @property
    def _is_markdown(self) -> bool:
        return self.row.handoff is not None and self.row.handoff.format == "markdown"

    def head(self) -> tuple[str, str, str]:
        """Mark, colour and words; also what kind of document is handed on."""
        mark, color, words = super().head()
        if self._is_markdown:
            size = count_text(self.row.handoff.size_bytes)
            words += f" · handed on as a Markdown document of {size} bytes"
        return mark, color, words

    def link_at(self, point: QPointF) -> str:
        """The switch."""
        return SWITCH if self.can_switch and self._switch_box().contains(point) else ""

    def toggle(self, point: QPointF | None) -> bool:
        """From the keyboard: the other way to see it."""
        if self.can_switch:
            self.row.shows_handoff = not self.row.shows_handoff
            self.refresh()
        return False

    def turn(self, place: str) -> None:
        """Fold or unfold a branch."""
        self.row.turned ^= {place}
        self.refresh()

    def _switch_words(self) -> str:
        if not self.row.shows_handoff:
            return "Show handoff"
        return "Show summary" if self._is_markdown else "Show as tree"

    def _switch_box(self) -> QRectF:
        wide = QFontMetricsF(self.theme.sized_font(12)).horizontalAdvance(self._switch_words())
        return QRectF(self._box.right() - wide - 30, self._box.top() + 9, wide + 20, 22)


def _as_json(value: object) -> str:
    return f"```json\n{pretty(value)}\n```"

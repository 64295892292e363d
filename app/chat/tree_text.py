"""The lines of a tree as a text: it wraps, can be selected, and its branches are links."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QFont, QFontMetricsF, QTextBlockFormat, QTextCharFormat, QTextCursor

from app.chat.file_links import link_files
from app.chat.message_document import MessageDocument
from app.chat.output_tree import TreeLine
from app.theme.theme import Theme

_STEP = 20.0
_OPEN, _SHUT = "▾ ", "▸ "


def fill_tree(text: MessageDocument, lines: Sequence[TreeLine], theme: Theme) -> None:
    """Show these lines in place of what was there."""
    text.show_plain("")
    cursor = QTextCursor(text.document)
    hang = QFontMetricsF(text.document.defaultFont()).horizontalAdvance(_OPEN)
    key = QTextCharFormat()
    key.setFontWeight(QFont.Weight.DemiBold)
    plain = QTextCharFormat()
    faint = QTextCharFormat()
    faint.setForeground(theme.tokens.color("text_second"))
    for number, line in enumerate(lines):
        form = QTextBlockFormat()
        form.setLeftMargin(line.depth * _STEP + hang)
        form.setTextIndent(-hang if line.place else 0.0)
        form.setBottomMargin(3)
        if number:
            cursor.insertBlock(form)
        else:
            cursor.setBlockFormat(form)
        if line.place:
            turn = QTextCharFormat(faint)
            turn.setAnchor(True)
            turn.setAnchorHref(f"turn:{line.place}")
            cursor.insertText(_OPEN if line.is_open else _SHUT, turn)
            name = QTextCharFormat(key)
            name.setAnchor(True)
            name.setAnchorHref(f"turn:{line.place}")
            cursor.insertText(line.key, name)
            cursor.insertText(f"  {line.value}", faint)
        else:
            if line.key:
                cursor.insertText(line.key, key)
                cursor.insertText("  ", plain)
            value = line.value.replace("\r", "").replace("\n", "\u2028")
            cursor.insertText(value, plain if line.key else faint)
    link_files(text.document)

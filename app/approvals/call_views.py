"""Texts of a call in a fixed-width font: whole, however long, and nothing in them hidden."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QFontMetricsF, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.kit.visible import visible_lines
from app.theme.theme import Theme
from app.theme.tokens import Tokens

MOST_LINES = 16
"""How many lines are in view; the rest is there to scroll to."""

_LINE_LENGTH = 96
_TINT = 0.16
_MOST_MARKS = 2_000


class CallText(QPlainTextEdit):
    """A text that can be read and selected. Characters that would hide or turn others are spelled.

    Attributes:
        is_long: There is more than is in view.
    """

    def __init__(self, text: str, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("kind", "code")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(12)
        self.setFont(font)
        lines = visible_lines(text)
        self.setPlainText("\n".join(lines))
        rows = sum(1 + len(line) // _LINE_LENGTH for line in lines)
        self.is_long = rows > MOST_LINES
        if not self.is_long:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        height = QFontMetricsF(font).lineSpacing() * min(rows, MOST_LINES)
        self.setFixedHeight(round(height) + 24)
        self._found = ("", -1)

    def show_found(self, words: str, number: int, tokens: Tokens) -> None:
        """Mark all matches, match `number` (from 0) stronger and in view; no words: none."""
        if self._found == (words, number):
            return
        self._found = (words, number)
        cursors: list[QTextCursor] = []
        cursor = self.document().find(words, 0) if words else QTextCursor()
        while not cursor.isNull() and len(cursors) < _MOST_MARKS:
            cursors.append(cursor)
            cursor = self.document().find(words, cursor)
        here = min(number, len(cursors) - 1)
        marks = []
        for at, found in enumerate(cursors):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = found
            mark.format.setBackground(tokens.tint("waiting", 0.75 if at == here else 0.3))
            marks.append(mark)
        self.setExtraSelections(marks)
        if here >= 0:
            place = QTextCursor(cursors[here])
            place.clearSelection()
            self.setTextCursor(place)
            self.ensureCursorVisible()


class DiffText(CallText):
    """A numbered diff: added and removed lines have a ground of their own besides their signs."""

    def __init__(self, diff: str, name: str, theme: Theme, parent: QWidget) -> None:
        super().__init__(diff, name, parent)
        grounds = {
            sign: _ground(theme.tokens, color) for sign, color in (("+", "done"), ("-", "failed"))
        }
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        block = self.document().begin()
        while block.isValid():
            found = grounds.get(block.text()[:1])
            if found is not None:
                cursor.setPosition(block.position())
                cursor.setBlockFormat(found)
            block = block.next()
        cursor.endEditBlock()


def _ground(tokens: Tokens, name: str) -> QTextBlockFormat:
    form = QTextBlockFormat()
    form.setBackground(tokens.tint(name, _TINT))
    return form

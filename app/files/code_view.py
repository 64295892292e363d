"""A text to read: numbered lines, colours for those in view, and a place that was meant."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLayout,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.files.highlighting import Part
from app.theme.theme import Theme

FONT_PIXELS = 13
_LIGHT = {
    "comment": "#6b7280",
    "string": "#1f7a4d",
    "number": "#8f5a10",
    "keyword": "#4350c9",
    "name": "#8a3a9c",
    "builtin": "#17727d",
    "deleted": "#b04d57",
}
_DARK = {
    "comment": "#8b8b93",
    "string": "#7fd6a5",
    "number": "#e5b454",
    "keyword": "#9aa4ff",
    "name": "#d8a6f2",
    "builtin": "#74cfdb",
    "deleted": "#f0808a",
}


class CodeView(QPlainTextEdit):
    """Shows one text; nothing can be changed in it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parts: Sequence[Sequence[Part]] = ()
        self._formats: dict[str, QTextCharFormat] = {}
        self._dressed: set[int] = set()
        self._meant = 0
        self._matches: list[QTextEdit.ExtraSelection] = []
        self.setReadOnly(True)
        self.setProperty("kind", "source")
        self.setUndoRedoEnabled(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setTabChangesFocus(True)
        self.setAccessibleName("File")
        self.gutter = _Gutter(self)
        self.verticalScrollBar().valueChanged.connect(self._dress_in_view)
        self.updateRequest.connect(self._on_update)
        theme.changed.connect(self._restyle)
        self._restyle()

    def show_text(self, text: str) -> None:
        """Show another text from its beginning, without colours until `show_parts`."""
        self._parts, self._meant = (), 0
        self._dressed.clear()
        self.show_matches([])
        self.setPlainText(text)
        self._fit_gutter()

    def show_parts(self, parts: Sequence[Sequence[Part]]) -> None:
        """Give the parts of the text their colours."""
        self._parts = parts
        self._dressed.clear()
        self._dress_in_view()

    def go_to(self, line: int) -> int:
        """Go to a line, from 1, and mark it; beyond the end it is the last. Gives the line."""
        count = self.blockCount()
        line = min(max(line, 1), count)
        block = self.document().findBlockByNumber(line - 1)
        cursor = QTextCursor(block)
        self.setTextCursor(cursor)
        self._meant = line
        self.centerCursor()
        self._show_selections()
        self._dress_in_view()
        return line

    def show_matches(self, cursors: Sequence[QTextCursor]) -> None:
        """Mark what was found."""
        shade = self._theme.tokens.tint("waiting", 0.35)
        self._matches = []
        for cursor in cursors:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            selection.format.setBackground(shade)
            self._matches.append(selection)
        self._show_selections()

    def find_all(self, words: str, most: int) -> list[QTextCursor]:
        """Where these words are, at most so often."""
        found: list[QTextCursor] = []
        cursor = QTextCursor(self.document())
        while words and len(found) < most:
            cursor = self.document().find(words, cursor, QTextDocument.FindFlag(0))
            if cursor.isNull():
                break
            found.append(QTextCursor(cursor))
        return found

    def gutter_width(self) -> int:
        """How much room the numbers of the lines take."""
        digits = max(3, len(str(self.blockCount())))
        return 22 + self.fontMetrics().horizontalAdvance("9") * digits

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the gutter its place."""
        super().resizeEvent(event)
        self._fit_gutter()
        self._dress_in_view()

    def changeEvent(self, event: QEvent) -> None:
        """Measure anew when the font is another."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "gutter"):
            self._fit_gutter()

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Paint the numbers of the lines in view."""
        painter = QPainter(self.gutter)
        tokens = self._theme.tokens
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        width = self.gutter.width() - 12
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            is_meant = number == self._meant
            painter.setPen(tokens.color("text" if is_meant else "text_second"))
            place = QRect(0, round(top), width, round(height))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(number))
            top += height
            block = block.next()
        painter.end()

    def _fit_gutter(self) -> None:
        width = self.gutter_width()
        self.setViewportMargins(width, 0, 0, 0)
        room = self.contentsRect()
        self.gutter.setGeometry(room.left(), room.top(), width, room.height())

    def _on_update(self, room: QRect, moved: int) -> None:
        if moved:
            self.gutter.scroll(0, moved)
        else:
            self.gutter.update(0, room.y(), self.gutter.width(), room.height())

    def _dress_in_view(self) -> None:
        """Colours are set for the lines in view alone: a document may have very many."""
        if not self._parts:
            return
        block = self.firstVisibleBlock()
        bottom = self.viewport().height()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= bottom:
            self._dress(block)
            top += self.blockBoundingRect(block).height()
            block = block.next()

    def _dress(self, block: QTextBlock) -> None:
        number = block.blockNumber()
        if number in self._dressed or number >= len(self._parts):
            return
        self._dressed.add(number)
        ranges = []
        for part in self._parts[number]:
            if part.start >= block.length():
                break
            each = QTextLayout.FormatRange()
            each.start, each.length = part.start, part.length
            each.format = self._formats[part.role]
            ranges.append(each)
        if ranges:
            block.layout().setFormats(ranges)
            self.document().markContentsDirty(block.position(), block.length())

    def _show_selections(self) -> None:
        shown = list(self._matches)
        if self._meant:
            line = QTextEdit.ExtraSelection()
            block = self.document().findBlockByNumber(self._meant - 1)
            line.cursor = QTextCursor(block)
            shade = self._theme.tokens.tint("running", 0.14)
            line.format.setBackground(shade)
            line.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            shown.insert(0, line)
        self.setExtraSelections(shown)
        self.gutter.update()

    def _restyle(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(FONT_PIXELS)
        font.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(font)
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * 4)
        colors = _DARK if self._theme.tokens.is_dark else _LIGHT
        self._formats = {}
        for role, color in colors.items():
            made = QTextCharFormat()
            made.setForeground(QColor(color))
            if role == "comment":
                made.setFontItalic(True)
            self._formats[role] = made
        self._dressed.clear()
        self._dress_in_view()
        self._show_selections()


class _Gutter(QWidget):
    """The numbers left of the text."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        """As wide as the numbers."""
        return QSize(self._view.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Let the view paint it."""
        self._view.paint_gutter(event)

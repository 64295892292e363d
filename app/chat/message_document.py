"""One message as a laid-out text: Markdown where it is complete, plain while it still grows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
    QTextOption,
)

from app.chat.markdown_blocks import TELLING, closed_length
from app.chat.markdown_style import BLOCK_GAP, dress, is_code, prose_block
from app.theme.theme import Theme
from app.theme.tokens import RADIUS_FIELD, TEXT_PROSE

_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)
_INDENT = 24.0
_RENDERED_AT_ONCE = 60_000
"""Longer messages keep the blocks that they were put together from, in characters."""


class MessageDocument:
    """A `QTextDocument` that grows by pieces; every piece costs the same however long it is."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._pieces: list[str] = []
        self._length = 0
        self._tail = ""
        self._tail_start = 0
        self._wants_block = False
        self.is_growing = False
        self._code_rows: list[tuple[int, int]] = []
        self.document = _empty_document(theme)
        self._cursor = QTextCursor(self.document)

    def show_markdown(self, text: str) -> None:
        """Show a complete message."""
        self._remember(text)
        self.document.setMarkdown(text, _FEATURES)
        dress(self.document, self._theme)
        last = QTextCursor(self.document)
        last.movePosition(QTextCursor.MoveOperation.End)
        if not is_code(last.block()):
            flat = QTextBlockFormat()
            flat.setBottomMargin(0)
            last.mergeBlockFormat(flat)
        self._rescan_code()

    def show_plain(self, text: str) -> None:
        """Show a text in which nothing is markup, such as what a person typed."""
        self._remember(text)
        self.document.setPlainText(text)
        cursor = QTextCursor(self.document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(prose_block())

    def append(self, piece: str) -> None:
        """Let the message grow; blocks that are complete now are rendered."""
        self.is_growing = True
        self._pieces.append(piece)
        self._length += len(piece)
        self._tail += piece
        self._insert_plain(piece)
        line = len(self._tail) - self._tail.rfind("\n") - 1
        if "\n" in piece or TELLING <= line < TELLING + len(piece):
            length = closed_length(self._tail)
            if length:
                self._replace_tail(self._tail[:length], self._tail[length:])

    def finish(self, text: str) -> None:
        """The message is complete and reads `text`."""
        if self._length > _RENDERED_AT_ONCE and "".join(self._pieces).strip() == text.strip():
            self._replace_tail(self._tail, "")
            self.is_growing = False
        else:
            self.show_markdown(text)

    def set_width(self, width: float) -> None:
        """Lay out for a width in pixels."""
        if self.document.textWidth() != width:
            self.document.setTextWidth(width)

    def size(self) -> QSizeF:
        """The size of the laid-out text."""
        return self.document.size()

    def paint(
        self, painter: QPainter, at: QPointF, clip: QRectF, selection: QTextCursor | None = None
    ) -> None:
        """Paint what lies within `clip` (in the document's own coordinates)."""
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)
        palette.setColor(QPalette.ColorRole.Text, self._theme.tokens.color("text"))
        context.palette = palette
        context.clip = clip
        if selection is not None and selection.hasSelection():
            mark = QAbstractTextDocumentLayout.Selection()
            form = QTextCharFormat()
            form.setBackground(self._theme.tokens.tint("accent", 0.35))
            mark.cursor = selection
            mark.format = form
            context.selections = [mark]
        painter.save()
        painter.translate(at)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        self._paint_code_grounds(painter, clip)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def _remember(self, text: str) -> None:
        self._pieces = [text]
        self._length = len(text)
        self._tail = ""
        self._wants_block = False
        self.is_growing = False

    def _insert_plain(self, text: str) -> None:
        cursor = self._cursor
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if self._wants_block:
            # Fresh formats: otherwise the block inherits those of a code block or a list.
            cursor.insertBlock(prose_block(), QTextCharFormat())
            self._tail_start = cursor.position()
            self._wants_block = False
        elif cursor.position() == 0:
            cursor.setBlockFormat(prose_block())
        cursor.insertText(text, QTextCharFormat())

    def _replace_tail(self, closed: str, rest: str) -> None:
        """Put the rendered form of `closed` in the place of the plain tail, then `rest`."""
        cursor = self._cursor
        cursor.setPosition(self._tail_start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if closed.strip():
            part = _empty_document(self._theme)
            part.setMarkdown(closed, _FEATURES)
            dress(part, self._theme)
            # A fragment keeps the format of the block that it is put into.
            cursor.setBlockFormat(part.firstBlock().blockFormat())
            cursor.insertFragment(QTextDocumentFragment(part))
            cursor.setPosition(self._tail_start)
            if cursor.block().length() == 1 and part.firstBlock().length() > 1:
                # A list does not take the empty block over but begins behind it.
                cursor.deleteChar()
            cursor.movePosition(QTextCursor.MoveOperation.End)
            self._tail_start = cursor.position()
            self._wants_block = True
        self._tail = rest
        if rest:
            self._insert_plain(rest)
        self._rescan_code()

    def _rescan_code(self) -> None:
        """Note which runs of blocks are code, so that each gets one ground behind it."""
        rows: list[tuple[int, int]] = []
        first = -1
        block = self.document.begin()
        while block.isValid():
            if is_code(block):
                first = block.blockNumber() if first < 0 else first
            elif first >= 0:
                rows.append((first, block.blockNumber() - 1))
                first = -1
            block = block.next()
        if first >= 0:
            rows.append((first, self.document.blockCount() - 1))
        self._code_rows = rows

    def _paint_code_grounds(self, painter: QPainter, clip: QRectF) -> None:
        layout = self.document.documentLayout()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.tokens.color("code_ground"))
        for first, last in self._code_rows:
            top = layout.blockBoundingRect(self.document.findBlockByNumber(first))
            end = layout.blockBoundingRect(self.document.findBlockByNumber(last))
            box = QRectF(0, top.top(), self.document.textWidth(), end.bottom() - top.top())
            box.adjust(0, -BLOCK_GAP, 0, BLOCK_GAP)
            if box.intersects(clip):
                painter.drawRoundedRect(box, RADIUS_FIELD, RADIUS_FIELD)


def _empty_document(theme: Theme) -> QTextDocument:
    # Without a parent: it goes when the row that shows it is put away.
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setIndentWidth(_INDENT)
    document.setDefaultFont(theme.sized_font(TEXT_PROSE))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    return document

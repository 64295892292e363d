"""One message as a laid-out text: Markdown where it is complete, plain while it still grows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentFragment,
    QTextFormat,
    QTextOption,
)

from app.chat.file_links import link_files
from app.chat.markdown_blocks import TELLING, closed_length
from app.chat.markdown_style import BLOCK_GAP, dress, is_code, prose_block
from app.theme.theme import Theme
from app.theme.tokens import RADIUS_FIELD, TEXT_PROSE

_FEATURES = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub
    | QTextDocument.MarkdownFeature.MarkdownNoHTML
)
_INDENT = 24.0
Mark = tuple[QTextCursor, QColor]
"""A run of text and the ground that it gets."""


class MessageDocument:
    """A `QTextDocument` that grows by pieces; every piece costs the same however long it is."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._tail = ""
        self._tail_start = 0
        self._wants_block = False
        self.wants_colors = False
        self._code_rows: list[tuple[int, int]] = []
        self.document = _empty_document(theme)
        self._cursor = QTextCursor(self.document)

    def show_markdown(self, text: str) -> None:
        """Show a complete message."""
        self._begin_anew()
        if self.document.textWidth() >= 0:
            # A text that is laid out already would be laid out again with every cell of a table.
            self.document = _empty_document(self._theme)
            self._cursor = QTextCursor(self.document)
        self.document.setMarkdown(text, _FEATURES)
        dress(self.document, self._theme)
        link_files(self.document)
        last = QTextCursor(self.document)
        last.movePosition(QTextCursor.MoveOperation.End)
        if not is_code(last.block()):
            flat = QTextBlockFormat()
            flat.setBottomMargin(0)
            last.mergeBlockFormat(flat)
        self._rescan_code()
        self.wants_colors = bool(self._code_rows)

    def show_plain(self, text: str) -> None:
        """Show a text in which nothing is markup, such as what a person typed."""
        self._begin_anew()
        self.document.setPlainText(text)
        cursor = QTextCursor(self.document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(prose_block())

    def append(self, piece: str) -> None:
        """Let the message grow; blocks that are complete now are rendered."""
        self._tail += piece
        self._insert_plain(piece)
        line = len(self._tail) - self._tail.rfind("\n") - 1
        if "\n" in piece or TELLING <= line < TELLING + len(piece):
            length = closed_length(self._tail)
            if length:
                self._replace_tail(self._tail[:length], self._tail[length:])

    def finish(self, text: str) -> None:
        """The message is complete and reads `text`."""
        self.show_markdown(text)

    def set_width(self, width: float) -> None:
        """Lay out for a width in pixels."""
        if self.document.textWidth() != width:
            self.document.setTextWidth(width)

    def size(self) -> QSizeF:
        """The size of the laid-out text."""
        return self.document.size()

    def paint(
        self, painter: QPainter, at: QPointF, clip: QRectF, marks: Sequence[Mark] = ()
    ) -> None:
        """Paint what lies within `clip` (in the document's own coordinates)."""
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)
        palette.setColor(QPalette.ColorRole.Text, self._theme.tokens.color("text"))
        context.palette = palette
        context.clip = clip
        if marks:
            context.selections = [_painted_mark(cursor, color) for cursor, color in marks]
        painter.save()
        painter.translate(at)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        self._paint_code_grounds(painter, clip)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def _begin_anew(self) -> None:
        self._tail = ""
        self._wants_block = False

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
        cursor.beginEditBlock()
        cursor.setPosition(self._tail_start)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if closed.strip():
            part = _empty_document(self._theme)
            part.setMarkdown(closed, _FEATURES)
            dress(part, self._theme)
            link_files(part)
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
        cursor.endEditBlock()
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
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.tokens.color("code_ground"))
        for number in range(len(self._code_rows)):
            box = self._code_box(number)
            if box.intersects(clip):
                painter.drawRoundedRect(box, RADIUS_FIELD, RADIUS_FIELD)

    def code_at(self, point: QPointF) -> tuple[int, QRectF] | None:
        """Number and place of the code block at a point, in the document's own coordinates."""
        for number in range(len(self._code_rows)):
            box = self._code_box(number)
            if box.contains(point):
                return number, box
        return None

    def code_text(self, number: int) -> str:
        """What a code block holds."""
        first, last = self._code_rows[number]
        find = self.document.findBlockByNumber
        return "\n".join(find(at).text() for at in range(first, last + 1))

    def code_start(self, number: int) -> tuple[int, str]:
        """The number of the first line of a code block in the document, and its language."""
        first = self._code_rows[number][0]
        form = self.document.findBlockByNumber(first).blockFormat()
        return first, str(form.property(QTextFormat.Property.BlockCodeLanguage) or "")

    @property
    def code_count(self) -> int:
        """How many code blocks there are."""
        return len(self._code_rows)

    def _code_box(self, number: int) -> QRectF:
        first, last = self._code_rows[number]
        layout = self.document.documentLayout()
        top = layout.blockBoundingRect(self.document.findBlockByNumber(first))
        end = layout.blockBoundingRect(self.document.findBlockByNumber(last))
        box = QRectF(0, top.top(), self.document.textWidth(), end.bottom() - top.top())
        # Qt leaves out the margins above the first block and below the last one.
        whole = QRectF(0, 0, box.width(), self.document.size().height())
        return box.adjusted(0, -BLOCK_GAP, 0, BLOCK_GAP).intersected(whole)


def _painted_mark(cursor: QTextCursor, color: QColor) -> QAbstractTextDocumentLayout.Selection:
    mark = QAbstractTextDocumentLayout.Selection()
    form = QTextCharFormat()
    form.setBackground(color)
    mark.cursor = cursor
    mark.format = form
    return mark


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

"""The program's own spacing, sizes and colours for Markdown that Qt has rendered."""

from __future__ import annotations

from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)

from app.theme.theme import Theme
from app.theme.tokens import TEXT_PROSE

HEADING_PIXELS = {1: 18, 2: 16, 3: 15}
BLOCK_GAP = 8.0
_ITEM_GAP = 3.0
_CODE_INSET = 10.0
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_PROSE_PERCENT = 128.0
_CODE_PERCENT = 118.0


def prose_block() -> QTextBlockFormat:
    """The block of plain running text."""
    form = QTextBlockFormat()
    form.setLineHeight(_PROSE_PERCENT, _PROPORTIONAL)
    form.setTopMargin(0)
    form.setBottomMargin(0)
    return form


def is_code(block: QTextBlock) -> bool:
    """Whether the block is a line of a code block."""
    form = block.blockFormat()
    return form.hasProperty(QTextFormat.Property.BlockCodeFence) or form.hasProperty(
        QTextFormat.Property.BlockCodeLanguage
    )


def dress(document: QTextDocument, theme: Theme) -> None:
    """Restyle a document that `setMarkdown` has filled."""
    cursor = QTextCursor(document)
    code_font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    code_font.setPixelSize(TEXT_PROSE - 1)
    code_ground = QBrush(theme.tokens.color("code_ground"))
    block = document.begin()
    while block.isValid():
        cursor.setPosition(block.position())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        if cursor.currentTable() is None:
            cursor.mergeBlockFormat(_spacing(block))
            if is_code(block):
                form = QTextCharFormat()
                form.setFont(code_font)
                cursor.mergeCharFormat(form)
            elif level := block.blockFormat().headingLevel():
                pixels = HEADING_PIXELS.get(level, TEXT_PROSE)
                _dress_heading(cursor, block, theme.sized_font(pixels, strong=True))
            elif block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel):
                faint = QTextCharFormat()
                faint.setForeground(theme.tokens.color("text_second"))
                cursor.mergeCharFormat(faint)
        if not is_code(block):
            _dress_inline_code(cursor, block, code_font, code_ground)
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _dress_table(frame, theme.tokens.color("hairline"))


def _spacing(block: QTextBlock) -> QTextBlockFormat:
    form = QTextBlockFormat()
    following = block.next()
    if is_code(block):
        before = block.previous()
        form.setLineHeight(_CODE_PERCENT, _PROPORTIONAL)
        form.setLeftMargin(_CODE_INSET)
        form.setRightMargin(_CODE_INSET)
        form.setNonBreakableLines(False)
        form.setTopMargin(0 if before.isValid() and is_code(before) else _CODE_INSET)
        goes_on = following.isValid() and is_code(following)
        form.setBottomMargin(0 if goes_on else _CODE_INSET + BLOCK_GAP)
        return form
    form.setLineHeight(_PROSE_PERCENT, _PROPORTIONAL)
    is_heading = block.blockFormat().headingLevel() > 0
    form.setTopMargin(BLOCK_GAP if is_heading and block.position() else 0)
    goes_on = (
        block.textList() is not None and following.isValid() and following.textList() is not None
    )
    form.setBottomMargin(_ITEM_GAP if goes_on else BLOCK_GAP)
    return form


def _dress_heading(cursor: QTextCursor, block: QTextBlock, font: QFont) -> None:
    """Set the font; Qt's own steps in size would be added on top, so they are taken out."""
    for start, length, form in _spans(block):
        form.setFont(font, QTextCharFormat.FontPropertiesInheritanceBehavior.FontPropertiesAll)
        form.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(form)


def _spans(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Position, length and format of each run of equal text in the block."""
    spans: list[tuple[int, int, QTextCharFormat]] = []
    fragments = block.begin()
    while not fragments.atEnd():
        fragment = fragments.fragment()
        spans.append((fragment.position(), fragment.length(), fragment.charFormat()))
        fragments += 1
    return spans


def _dress_inline_code(cursor: QTextCursor, block: QTextBlock, font: QFont, ground: QBrush) -> None:
    form = QTextCharFormat()
    form.setFont(font)
    form.setBackground(ground)
    for start, length, old in _spans(block):
        if not old.fontFixedPitch():
            continue
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(form)


def _dress_table(table: QTextTable, line: QColor) -> None:
    form = table.format()
    form.setBorder(1)
    form.setBorderBrush(QBrush(line))
    form.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    form.setBorderCollapse(True)
    form.setCellPadding(5)
    form.setCellSpacing(0)
    form.setTopMargin(BLOCK_GAP)
    form.setBottomMargin(BLOCK_GAP)
    table.setFormat(form)
    strong = QTextCharFormat()
    strong.setFontWeight(QFont.Weight.DemiBold)
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            cursor = cell.firstCursorPosition()
            if cursor.block().length() == 1 and cursor != cell.lastCursorPosition():
                # Qt puts an empty paragraph into the first cell of a table behind a quote.
                cursor.deleteChar()
            cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeBlockFormat(prose_block())
            if row == 0:
                cursor.mergeCharFormat(strong)

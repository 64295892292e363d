"""Selecting and copying text within one message, and following its links."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QWidget

from app.chat.message_document import MessageDocument
from app.chat.row_blocks import RowBlock

_SAFE_SCHEMES = frozenset({"http", "https", "mailto"})


class TextSelection:
    """At most one selection, in the document of one row. Points are in the row's coordinates.

    Attributes:
        row_id: The row that it is in; 0 without one.
    """

    def __init__(self, viewport: QWidget) -> None:
        self._viewport = viewport
        self.row_id = 0
        self._cursor: QTextCursor | None = None
        self._text: MessageDocument | None = None
        self._origin = QPointF()

    @property
    def has_text(self) -> bool:
        """Whether anything is selected."""
        return self._cursor is not None and self._cursor.hasSelection()

    def of(self, row_id: int, block: RowBlock) -> QTextCursor | None:
        """The selection if it is in this row, and in the text that the row shows now."""
        place = block.document_at() if row_id == self.row_id else None
        if place is None or self._cursor is None:
            return None
        return self._cursor if self._cursor.document() is place[0].document else None

    def clear(self) -> None:
        """Select nothing."""
        self.row_id = 0
        self._cursor = None
        self._text = None
        self._viewport.update()

    def begin(self, row_id: int, block: RowBlock, point: QPointF) -> None:
        """Start a selection where the button went down."""
        self.clear()
        place = block.document_at()
        if place is not None:
            self._text, self._origin = place
            self.row_id = row_id
            self._cursor = QTextCursor(self._text.document)
            self._cursor.setPosition(self._hit(point))

    def extend(self, row_id: int, point: QPointF) -> None:
        """Select up to the pointer; in another row, up to the beginning or the end of this one."""
        if self._cursor is None or self._text is None:
            return
        if row_id == self.row_id:
            self._cursor.setPosition(self._hit(point), QTextCursor.MoveMode.KeepAnchor)
        else:
            whole = QTextCursor.MoveOperation
            end = whole.End if row_id > self.row_id else whole.Start
            self._cursor.movePosition(end, QTextCursor.MoveMode.KeepAnchor)
        self._viewport.update()

    def select_word(self, row_id: int, block: RowBlock, point: QPointF) -> None:
        """Select the word under the pointer."""
        self.begin(row_id, block, point)
        if self._cursor is not None:
            self._cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._viewport.update()

    def copy(self) -> None:
        """Put the selection on the clipboard."""
        if self._cursor is not None and self._cursor.hasSelection():
            text = self._cursor.selection().toPlainText()
            QGuiApplication.clipboard().setText(text)

    def is_text(self, block: RowBlock, point: QPointF) -> bool:
        """Whether there is text under the pointer."""
        place = block.document_at()
        if place is None:
            return False
        text, origin = place
        layout = text.document.documentLayout()
        return layout.hitTest(point - origin, Qt.HitTestAccuracy.ExactHit) >= 0

    def link_at(self, block: RowBlock, point: QPointF) -> str:
        """The address of the link under the pointer, or an empty text."""
        place = block.document_at()
        if place is None:
            return ""
        text, origin = place
        return text.document.documentLayout().anchorAt(point - origin)

    def open_link(self, address: str) -> None:
        """Open a link in the browser; addresses of other kinds are ignored."""
        url = QUrl(address)
        if url.scheme().lower() in _SAFE_SCHEMES:
            QDesktopServices.openUrl(url)

    def _hit(self, point: QPointF) -> int:
        if self._text is None:
            return 0
        layout = self._text.document.documentLayout()
        return max(0, layout.hitTest(point - self._origin, Qt.HitTestAccuracy.FuzzyHit))

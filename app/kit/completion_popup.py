"""A list at the cursor of a field of text; the field keeps the focus throughout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel, QTextCursor
from PySide6.QtWidgets import QFrame, QListView, QPlainTextEdit, QVBoxLayout

MOST_OFFERS = 8
_ROW = 28
_GAP = 4
_EDGE = 8


class Offer(NamedTuple):
    """One row: what is put in, and what it is."""

    text: str
    about: str = ""


class CompletionPopup(QObject):
    """Base of all completions: `offer` shows or closes the list, `take` puts a choice in.

    Args:
        field: the field that is typed in.
        name: names the list for those who hear it.
        width: of the list, in pixels.
        above: it stands above the line of the cursor; else below it where there is room.
    """

    def __init__(
        self, field: QPlainTextEdit, name: str, *, width: int, above: bool = False
    ) -> None:
        super().__init__(field)
        self.field = field
        self._name = name
        self._width = width
        self._above = above
        self._frame: QFrame | None = None
        self._list: QListView | None = None
        self._model = QStandardItemModel(self)
        field.installEventFilter(self)
        field.textChanged.connect(self.offer)

    @property
    def offered(self) -> list[str]:
        """The texts that are listed now."""
        if self._frame is None or not self._frame.isVisible():
            return []
        return [str(self._model.item(row).data()) for row in range(self._model.rowCount())]

    def offer(self) -> None:
        """Show what fits what is typed, or close the list."""
        raise NotImplementedError

    def take(self, text: str) -> None:
        """Put what was chosen in the place of what is typed; the list is closed already."""
        raise NotImplementedError

    def before_cursor(self) -> str:
        """The line of the cursor up to it."""
        cursor = self.field.textCursor()
        return cursor.block().text()[: cursor.positionInBlock()]

    def replace_typed(self, length: int, text: str) -> None:
        """Put a text in the place of so many characters before the cursor."""
        cursor = self.field.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length)
        cursor.insertText(text)

    def show_offers(self, offers: Sequence[Offer]) -> None:
        """List these, the first of them chosen."""
        frame, shown = self._made()
        self._model.clear()
        for offer in offers:
            item = QStandardItem(f"{offer.text}   {offer.about}".rstrip())
            item.setData(offer.text)
            item.setEditable(False)
            self._model.appendRow(item)
        shown.setCurrentIndex(self._model.index(0, 0))
        frame.resize(min(self._width, self.field.window().width() - 16), len(offers) * _ROW + 12)
        self._place()
        frame.show()
        frame.raise_()
        # What was typed may have moved the field; that shows once everything is laid out again.
        QTimer.singleShot(0, self._place)

    def close(self) -> None:
        """List nothing."""
        if self._frame is not None:
            self._frame.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lead the list with the keys of the field while it is open."""
        if event.type() == QEvent.Type.FocusOut:
            self.close()
        elif self.offered and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._press(event)
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        assert self._list is not None
        keys, row = Qt.Key, self._list.currentIndex().row()
        match event.key():
            case keys.Key_Down:
                row += 1
            case keys.Key_Up:
                row -= 1
            case keys.Key_Return | keys.Key_Enter | keys.Key_Tab:
                self._choose(self._list.currentIndex())
                return True
            case keys.Key_Escape:
                self.close()
                return True
            case _:
                return False
        self._list.setCurrentIndex(self._model.index(row % self._model.rowCount(), 0))
        return True

    def _choose(self, index: QModelIndex) -> None:
        chosen = self._model.itemFromIndex(index)
        self.close()
        if chosen is not None:
            self.take(str(chosen.data()))

    def _place(self) -> None:
        frame = self._frame
        if frame is None:
            return
        window, cursor = self.field.window(), self.field.cursorRect()
        top = self.field.viewport().mapTo(window, cursor.topLeft())
        x = min(top.x(), window.width() - frame.width() - _EDGE)
        above = top.y() - frame.height() - _GAP
        below = top.y() + cursor.height() + _GAP
        has_room = below + frame.height() <= window.height() - _EDGE
        y = above if self._above or not has_room else below
        frame.move(QPoint(max(_EDGE, x), max(_EDGE, y)))

    def _made(self) -> tuple[QFrame, QListView]:
        """The frame and its list; made when something is offered for the first time."""
        if self._frame is None or self._list is None:
            self._frame = QFrame(self.field.window())
            self._frame.setProperty("kind", "popover")
            self._frame.setAccessibleName("What can be inserted")
            self._list = QListView(self._frame)
            self._list.setModel(self._model)
            self._list.setProperty("kind", "offers")
            self._list.setUniformItemSizes(True)
            self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._list.setAccessibleName(self._name)
            self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
            self._list.clicked.connect(self._choose)
            box = QVBoxLayout(self._frame)
            box.setContentsMargins(5, 5, 5, 5)
            box.addWidget(self._list)
        return self._frame, self._list

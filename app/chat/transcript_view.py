"""The conversation on screen: a virtual list that lays out what is seen and estimates the rest."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QToolButton, QWidget

from app.chat.block_cache import BlockCache
from app.chat.card_shelf import CardMaker, CardShelf
from app.chat.cards import Card
from app.chat.row_blocks import GAP, HEADER, estimated_height
from app.chat.rows import Row
from app.chat.text_selection import TextSelection
from app.chat.transcript_model import Changes, ShownRow, TranscriptModel
from app.theme.theme import Theme

COLUMN = 780
_SIDE = 24
_TOP = 16
_SPOKEN = 400


class TranscriptView(QAbstractScrollArea):
    """Shows a `TranscriptModel`.

    While the last row is in view it stays there as rows grow; otherwise the first row in view
    stays where it is, whatever settles above it.

    Signals:
        menu_opening: The menu of a row is about to be shown; has the row and the menu to add to.
    """

    menu_opening = Signal(object, object)

    def __init__(self, theme: Theme, make_card: CardMaker, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model: TranscriptModel | None = None
        self._heights: list[float] = []
        self._tops: list[float] = []
        self._exact: set[int] = set()
        self._blocks = BlockCache(theme)
        self._cards = CardShelf(self.viewport(), make_card)
        self._is_at_end = True
        self._anchor = 0
        self._offset = 0.0
        self._settling = False
        self.selection = TextSelection(self.viewport())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._menu = QMenu(self)
        self._to_end = QToolButton(self)
        self._to_end.setToolTip("Jump to the end")
        self._to_end.setAccessibleName("Jump to the end of the conversation")
        self._to_end.setObjectName("jump-to-end")
        self._to_end.setProperty("kind", "floating")
        self._to_end.clicked.connect(self.jump_to_end)
        self._to_end.hide()
        theme.changed.connect(self._restyle)
        self._dress_button()

    def set_model(self, model: TranscriptModel | None) -> None:
        """Show another conversation."""
        if self._model is not None:
            self._model.changed.disconnect(self._on_changed)
        self._model = model
        if model is not None:
            model.changed.connect(self._on_changed)
        self._is_at_end = True
        self._on_changed(Changes(reset=True, changed=frozenset()))

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        return self._is_at_end

    def jump_to_end(self) -> None:
        """Show the last row and stay there."""
        self._is_at_end = True
        self._settle()

    def shown_texts(self) -> list[str]:
        """What the rows in view say, from top to bottom."""
        first, last = self._visible_range()
        return [shown.row.text for shown in self._shown()[first:last]]

    def card_of(self, row_id: int) -> Card | None:
        """The widget of a row that has controls and is (or was) in view."""
        return self._cards.get(row_id)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view; cards paint themselves."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scroll = self.verticalScrollBar().value()
        left, width = self._column()
        shown = self._shown()
        first, last = self._visible_range()
        for index in range(first, last):
            item = shown[index]
            block = self._blocks.block(item)
            if block.width != width:
                continue
            top = self._tops[index] - scroll + _TOP
            clip = QRectF(event.rect()).translated(-left, -top)
            painter.save()
            painter.translate(left, top)
            if item.row.is_card:
                block.paint_header(painter)
            else:
                block.paint(painter, clip, self.selection.of(item.row.id))
            painter.restore()
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new width."""
        super().resizeEvent(event)
        size = self._to_end.sizeHint()
        self._to_end.setGeometry(
            self.width() - size.width() - 22, self.height() - size.height() - 12, 34, 34
        )
        if event.oldSize().width() != event.size().width():
            self._exact.clear()
            width = self._column()[1]
            self._heights = [
                estimated_height(item.row, item.has_header, width) for item in self._shown()
            ]
        self._settle()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold a line, or begin to select text."""
        row = self._row_at(event.position())
        if row is None or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        item, point = row
        block = self._blocks.block(item)
        if not item.row.is_card and block.is_toggle(point):
            item.row.is_folded = not item.row.is_folded
            self._exact.discard(item.row.id)
            self._is_at_end = False
            self._settle()
        elif not item.row.is_card:
            self.selection.begin(item.row.id, block, point)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, or show what a click would do."""
        row = self._row_at(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton:
            if row is not None:
                self.selection.extend(row[0].row.id, row[1])
            return
        shape = Qt.CursorShape.ArrowCursor
        if row is not None and not row[0].row.is_card:
            block = self._blocks.block(row[0])
            if block.is_toggle(row[1]) or self.selection.link_at(block, row[1]):
                shape = Qt.CursorShape.PointingHandCursor
            elif self.selection.is_text(block, row[1]):
                shape = Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow a link."""
        row = self._row_at(event.position())
        if row is not None and not row[0].row.is_card and not self.selection.has_text:
            self.selection.open_link(self._blocks.block(row[0]), row[1])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        row = self._row_at(event.position())
        if row is not None and not row[0].row.is_card:
            self.selection.select_word(row[0].row.id, self._blocks.block(row[0]), row[1])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy what is selected, or the whole message below the pointer."""
        row = self._row_at(QPointF(event.pos()))
        self._menu.clear()
        if self.selection.has_text:
            self._menu.addAction("Copy").triggered.connect(self.selection.copy)
        if row is not None and row[0].row.text:
            message = self._menu.addAction("Copy Message")
            message.setData(row[0].row.text)
            message.triggered.connect(self._copy_message)
        if row is not None:
            self.menu_opening.emit(row[0].row, self._menu)
        if not self._menu.isEmpty():
            self._menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, and go to the beginning or the end."""
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.selection.copy()
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_end()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        else:
            super().keyPressEvent(event)

    def _copy_message(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            QGuiApplication.clipboard().setText(str(action.data()))

    def _shown(self) -> list[ShownRow]:
        return self._model.shown if self._model is not None else []

    def _column(self) -> tuple[float, float]:
        """Left edge and width; in the middle of the whole area, so that no scroll bar shifts it."""
        width = max(120, min(COLUMN, self.width() - 2 * _SIDE))
        return max(_SIDE, (self.width() - width) // 2), float(width)

    def _on_changed(self, changes: Changes) -> None:
        shown = self._shown()
        width = self._column()[1]
        if changes.reset:
            self.selection.clear()
            self._blocks.keep_only(shown)
            self._cards.keep_only({item.row.id for item in shown})
            self._exact.clear()
            self._heights = []
        for item in shown[len(self._heights) :]:
            self._heights.append(estimated_height(item.row, item.has_header, width))
        missing = len(changes.changed)
        for item in reversed(shown):
            if not missing:
                break
            if item.row.id in changes.changed:
                missing -= 1
                self._exact.discard(item.row.id)
                self._refresh(item.row)
        self._settle()
        if shown and not shown[-1].row.is_open and QAccessible.isActive():
            self.setAccessibleDescription(shown[-1].row.text[:_SPOKEN])

    def _refresh(self, row: Row) -> None:
        if not row.is_card and row.id in self._cards:
            self._cards.drop(row.id)
            self._blocks.forget(row.id)
        self._blocks.refresh(row.id)

    def _measure(self, index: int, width: float) -> float:
        """The exact height of a row; sizes it if that has not been done for this width."""
        item = self._shown()[index]
        row_id = item.row.id
        if row_id not in self._exact or row_id not in self._blocks:
            block = self._blocks.block(item)
            if item.row.is_card:
                card = self._cards.card(item.row)
                block.width = width
                head = HEADER if item.has_header else 0.0
                self._heights[index] = head + card.height_for(int(width)) + GAP
            else:
                self._heights[index] = block.layout(width)
            self._exact.add(row_id)
        return self._heights[index]

    def _settle(self) -> None:
        """Lay out what is in view, keep the anchor still, and bring the scroll bar in line."""
        if self._settling:
            return
        self._settling = True
        width = self._column()[1]
        room = self.viewport().height()
        count = len(self._heights)
        if self._is_at_end:
            covered, index = 0.0, count
            while index > 0 and covered < room:
                index -= 1
                covered += self._measure(index, width)
        else:
            self._anchor = min(self._anchor, max(0, count - 1))
            index, covered = self._anchor, -self._offset
            while index < count and covered < room:
                covered += self._measure(index, width)
                index += 1
        self._tops = list(accumulate(self._heights, initial=0.0))
        total = self._tops[-1] + 2 * _TOP
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, round(total - room)))
        bar.setPageStep(max(1, room))
        if self._is_at_end:
            bar.setValue(bar.maximum())
        elif count:
            bar.setValue(round(self._tops[self._anchor] + self._offset))
        self._settling = False
        first, last = self._visible_range()
        self._blocks.trim({item.row.id for item in self._shown()[first:last]})
        self._place_cards(width)
        self._tell_end()
        self.viewport().update()

    def _on_scrolled(self, value: int) -> None:
        if self._settling or not self._tops:
            return
        bar = self.verticalScrollBar()
        self._is_at_end = value >= bar.maximum() - 2
        self._anchor = max(0, min(bisect_right(self._tops, value) - 1, len(self._heights) - 1))
        self._offset = value - self._tops[self._anchor]
        if not self._is_at_end and self._heights:
            estimate = self._heights[self._anchor]
            exact = self._measure(self._anchor, self._column()[1])
            # The bottom of the first row stays still when its height turns out to be another one.
            self._offset += exact - estimate
        self._settle()

    def _visible_range(self) -> tuple[int, int]:
        if not self._heights or len(self._tops) <= 1:
            return 0, 0
        scroll = self.verticalScrollBar().value() - _TOP
        first = max(0, bisect_right(self._tops, scroll) - 1)
        last = bisect_right(self._tops, scroll + self.viewport().height())
        return first, min(last, len(self._heights))

    def _row_at(self, point: QPointF) -> tuple[ShownRow, QPointF] | None:
        y = point.y() + self.verticalScrollBar().value() - _TOP
        index = bisect_right(self._tops, y) - 1
        if not 0 <= index < len(self._heights):
            return None
        return self._shown()[index], QPointF(point.x() - self._column()[0], y - self._tops[index])

    def _place_cards(self, width: float) -> None:
        """Cards lie over their rows while these are in view."""
        first, last = self._visible_range()
        scroll = self.verticalScrollBar().value()
        left, shown = int(self._column()[0]), self._shown()
        places: dict[int, QRect] = {}
        for index in range(first, last):
            item = shown[index]
            if item.row.is_card:
                top = self._tops[index] - scroll + _TOP + (HEADER if item.has_header else 0.0)
                height = self._tops[index + 1] - scroll + _TOP - top - GAP
                self._cards.card(item.row)
                places[item.row.id] = QRect(left, round(top), int(width), round(height))
        self._cards.place(places)

    def _tell_end(self) -> None:
        bar = self.verticalScrollBar()
        at_end = self._is_at_end or bar.maximum() == 0
        if self._to_end.isHidden() != at_end:
            self._to_end.setHidden(at_end)

    def _restyle(self) -> None:
        self._blocks.clear()
        self._exact.clear()
        self._cards.keep_only(set())
        self._dress_button()
        self._settle()

    def _dress_button(self) -> None:
        self._to_end.setIcon(self._theme.icons.icon("to-end", "text"))

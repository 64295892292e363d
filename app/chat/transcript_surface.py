"""Where rows lie and how they are painted: what is seen is laid out, the rest is estimated."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolButton, QWidget

from app.chat.block_cache import BlockCache
from app.chat.card_shelf import CardMaker, CardShelf
from app.chat.cards import Card
from app.chat.code_colors import CodeColors
from app.chat.message_document import Mark
from app.chat.row_blocks import GAP, HEADER, RowBlock, estimated_height
from app.chat.row_heights import RowHeights
from app.chat.rows import ASSISTANT, Row
from app.chat.transcript_model import Changes, ShownRow, TranscriptModel
from app.kit.formats import plural
from app.theme.theme import Theme

COLUMN = 780
_SIDE = 24
_TOP = 16
_NESTED = 22.0

Marker = Callable[[Row, RowBlock], Sequence[Mark]]


class TranscriptSurface(QAbstractScrollArea):
    """Shows a `TranscriptModel`; subclasses take what the person does with it.

    While the last row is in view it stays there as rows grow; otherwise the first row in view
    stays where it is, whatever settles above it.

    Attributes:
        to_end: The button that appears when there is more below.

    Signals:
        settled: Rows lie somewhere else now, or others are in view.
    """

    settled = Signal()

    def __init__(self, theme: Theme, make_card: CardMaker, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._model: TranscriptModel | None = None
        self._heights = RowHeights()
        self._blocks = BlockCache(theme)
        self._cards = CardShelf(self.viewport(), make_card)
        self._colors = CodeColors(self)
        self._colors.changed.connect(self.viewport().update)
        self._is_at_end = True
        self._unseen = 0
        self._anchor = 0
        self._offset = 0.0
        self._settling = False
        self._current = 0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.to_end = QToolButton(self)
        self.to_end.setToolTip("Jump to the end (End)")
        self.to_end.setObjectName("jump-to-end")
        self.to_end.setProperty("kind", "floating")
        self.to_end.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.to_end.clicked.connect(self.jump_to_end)
        self.to_end.hide()
        theme.changed.connect(self._restyle)
        self._dress_button()

    def set_model(self, model: TranscriptModel | None) -> None:
        """Show another conversation."""
        if self._model is not None:
            self._model.changed.disconnect(self._on_changed)
        self._model = model
        if model is not None:
            model.changed.connect(self._on_changed)
        # Row ids begin anew in every conversation.
        self._blocks.clear()
        self._cards.clear()
        self._colors.clear()
        self._heights.rebuild(())
        self._is_at_end = True
        self._unseen = self._current = 0
        self._on_changed(Changes(reset=True, changed=frozenset()))

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        return self._is_at_end

    @property
    def unseen(self) -> int:
        """How many rows have come since the person left the end."""
        return self._unseen

    def jump_to_end(self) -> None:
        """Show the last row and stay there."""
        self._is_at_end = True
        self._settle()

    def reveal(self, row_id: int, inside: float = 0.0) -> None:
        """Bring a row into view, or the part of it that begins so far below its top."""
        place = self._heights.place(row_id)
        if place is None:
            return
        self._measure(place)
        bar, room = self.verticalScrollBar(), self.viewport().height()
        y = self._heights.top(place) + inside + _TOP
        if not bar.value() + 8 <= y <= bar.value() + room - 48:
            self._anchor, self._offset = place, inside - room / 3
            self._is_at_end = False
            self._settle()
            self._find_anchor(bar.value())
            self._settle()

    def shown_texts(self) -> list[str]:
        """What the rows in view say, from top to bottom."""
        first, last = self._visible_range()
        return [shown.row.text for shown in self._shown()[first:last]]

    def card_of(self, row_id: int) -> Card | None:
        """The widget of a row that has controls and is (or was) in view."""
        return self._cards.get(row_id)

    def marks_of(self, row: Row, block: RowBlock) -> Sequence[Mark]:
        """What is to be marked in a row's text; subclasses say."""
        return ()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view; cards paint themselves."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scroll = self.verticalScrollBar().value()
        shown = self._shown()
        first, last = self._visible_range()
        for place in range(first, last):
            item = shown[place]
            left, width = self._column_of(item.row)
            block = self._blocks.block(item)
            if block.width != width:
                continue
            top = self._heights.top(place) - scroll + _TOP
            clip = QRectF(event.rect()).translated(-left, -top)
            painter.save()
            painter.translate(left, top)
            self._paint_frame(painter, item, place, width)
            if item.row.is_card:
                block.paint_header(painter)
            else:
                block.paint(painter, clip, self.marks_of(item.row, block))
            painter.restore()
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new width."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._heights.forget_all()
            self._heights.rebuild(self._estimates())
        self._settle()

    def is_in_range(self, place: int) -> bool:
        """Whether the row at a place is one of several that are chosen; subclasses say."""
        return False

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which row is chosen."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The chosen row stands out no more."""
        super().focusOutEvent(event)
        self.viewport().update()

    def _paint_frame(self, painter: QPainter, item: ShownRow, place: int, width: float) -> None:
        """The line that ties a subagent's rows together, and what marks chosen rows."""
        height = self._heights[place]
        tokens = self.theme.tokens
        if item.row.is_nested:
            painter.fillRect(QRectF(-_NESTED / 2 - 3, 0, 2, height), tokens.color("hairline"))
        if self.is_in_range(place):
            painter.fillRect(QRectF(-12, -4, width + 24, height), tokens.tint("accent", 0.14))
        elif item.row.id == self._current and self.hasFocus():
            painter.setPen(QPen(tokens.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(-8, -3, width + 16, height - 2), 6, 6)

    def _estimates(self, start: int = 0) -> list[tuple[int, float]]:
        width = self._column()[1]
        return [
            (item.row.id, estimated_height(item.row, item.has_header, width))
            for item in self._shown()[start:]
        ]

    def _shown(self) -> list[ShownRow]:
        return self._model.shown if self._model is not None else []

    def _column(self) -> tuple[float, float]:
        """Left edge and width; in the middle of the whole area, so that no scroll bar shifts it."""
        width = max(120, min(COLUMN, self.width() - 2 * _SIDE))
        return max(_SIDE, (self.width() - width) // 2), float(width)

    def _column_of(self, row: Row) -> tuple[float, float]:
        left, width = self._column()
        return (left + _NESTED, width - _NESTED) if row.is_nested else (left, width)

    def _on_changed(self, changes: Changes) -> None:
        shown = self._shown()
        before = len(self._heights)
        if changes.reset:
            self._take_over(changes.start)
        width = self._column()[1]
        for item in shown[len(self._heights) :]:
            self._heights.append(item.row.id, estimated_height(item.row, item.has_header, width))
        if not self._is_at_end:
            fresh = shown[before:] if not changes.reset else ()
            self._unseen += sum(item.row.before is None for item in fresh)
        first, last = self._visible_range()
        for row_id in changes.changed:
            place = self._heights.place(row_id)
            if place is not None:
                self._heights.forget(row_id)
                self._refresh(shown[place], place, is_in_view=first <= place < last)
        self._settle()

    def _take_over(self, start: int) -> None:
        """Rows were put in or taken out: the one in view on top stays where it is."""
        old = self._heights
        shown = self._shown()[start:]
        before = old.ids_from(start)
        self._blocks.renew(before, shown)
        self._cards.drop_all(set(before).difference(item.row.id for item in shown))
        if not self._is_at_end and self._anchor >= start and len(old):
            ids = old.ids_from(self._anchor)
            old.rebuild(self._estimates(start), start)
            found = next((at for each in ids if (at := old.place(each)) is not None), None)
            if found is None:
                self._is_at_end = True
            else:
                self._offset = self._offset if old.place(ids[0]) == found else 0.0
                self._anchor = found
        else:
            old.rebuild(self._estimates(start), start)

    def _refresh(self, item: ShownRow, place: int, *, is_in_view: bool) -> None:
        row = item.row
        if row.id in self._cards and not (row.is_card and self._cards.is_current(row)):
            self._cards.drop(row.id)
            self._blocks.forget(row.id)
        if is_in_view:
            self._blocks.refresh(row.id)
        else:
            # Nobody sees it grow: it is made anew when it comes into view.
            self._blocks.forget(row.id)
            if row.kind == ASSISTANT:
                width = self._column_of(row)[1]
                self._heights.estimate(place, estimated_height(row, item.has_header, width))

    def _measure(self, place: int) -> float:
        """The exact height of a row; sizes it if that has not been done for this width."""
        item = self._shown()[place]
        row_id = item.row.id
        if not self._heights.is_exact(row_id) or row_id not in self._blocks:
            width = self._column_of(item.row)[1]
            block = self._blocks.block(item)
            if item.row.is_card:
                card = self._cards.card(item.row)
                block.width = width
                head = HEADER if item.has_header else 0.0
                self._heights.measured(place, head + card.height_for(int(width)) + GAP)
            else:
                self._heights.measured(place, block.layout(width))
                text = block.document_at()
                if text is not None:
                    self._colors.want(text[0], self.theme.tokens)
        return self._heights[place]

    def _settle(self) -> None:
        """Lay out what is in view, keep the anchor still, and bring the scroll bar in line."""
        if self._settling:
            return
        self._settling = True
        room = self.viewport().height()
        count = len(self._heights)
        if self._is_at_end:
            covered, place = 0.0, count
            while place > 0 and covered < room:
                place -= 1
                covered += self._measure(place)
        else:
            self._anchor = min(self._anchor, max(0, count - 1))
            place, covered = self._anchor, -self._offset
            while place < count and covered < room:
                covered += self._measure(place)
                place += 1
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, round(self._heights.total + 2 * _TOP - room)))
        bar.setPageStep(max(1, room))
        if self._is_at_end:
            bar.setValue(bar.maximum())
        elif count:
            bar.setValue(round(self._heights.top(self._anchor) + self._offset))
        self._settling = False
        first, last = self._visible_range()
        self._blocks.trim({item.row.id for item in self._shown()[first:last]})
        self._place_cards()
        self._tell_end()
        self.viewport().update()
        self.settled.emit()

    def _on_scrolled(self, value: int) -> None:
        if self._settling or not len(self._heights):
            return
        self._is_at_end = value >= self.verticalScrollBar().maximum() - 2
        self._find_anchor(value)
        if not self._is_at_end:
            estimate = self._heights[self._anchor]
            exact = self._measure(self._anchor)
            # The bottom of the first row stays still when its height turns out to be another one.
            self._offset += exact - estimate
        self._settle()

    def _find_anchor(self, value: int) -> None:
        last = len(self._heights) - 1
        self._anchor = max(0, min(self._heights.at(value), last))
        self._offset = value - self._heights.top(self._anchor)

    def _visible_range(self) -> tuple[int, int]:
        if not len(self._heights):
            return 0, 0
        scroll = self.verticalScrollBar().value() - _TOP
        first = max(0, self._heights.at(scroll))
        last = self._heights.at(scroll + self.viewport().height()) + 1
        return first, min(last, len(self._heights))

    def _row_at(self, point: QPointF) -> tuple[ShownRow, QPointF] | None:
        y = point.y() + self.verticalScrollBar().value() - _TOP
        place = self._heights.at(y)
        if not 0 <= place < len(self._heights):
            return None
        item = self._shown()[place]
        left = self._column_of(item.row)[0]
        return item, QPointF(point.x() - left, y - self._heights.top(place))

    def _place_of(self, row: Row) -> QPointF | None:
        """The top left corner of a row in the viewport; `None` if it is not shown."""
        place = self._heights.place(row.id)
        if place is None:
            return None
        top = self._heights.top(place) - self.verticalScrollBar().value() + _TOP
        return QPointF(self._column_of(row)[0], top)

    def _place_cards(self) -> None:
        """Cards lie over their rows while these are in view."""
        first, last = self._visible_range()
        scroll = self.verticalScrollBar().value()
        shown = self._shown()
        places: dict[int, QRect] = {}
        for place in range(first, last):
            item = shown[place]
            if item.row.is_card:
                left, width = self._column_of(item.row)
                head = HEADER if item.has_header else 0.0
                top = self._heights.top(place) - scroll + _TOP + head
                bottom = self._heights.top(place + 1) - scroll + _TOP - GAP
                self._cards.card(item.row)
                places[item.row.id] = QRect(int(left), round(top), int(width), round(bottom - top))
        self._cards.place(places)

    def _tell_end(self) -> None:
        at_end = self._is_at_end or self.verticalScrollBar().maximum() == 0
        if at_end:
            self._unseen = 0
        words = f"{self._unseen} new" if self._unseen else ""
        if self.to_end.text() != words or self.to_end.isHidden() != at_end:
            self.to_end.setText(words)
            about = f", {plural(self._unseen, 'new item')}" if self._unseen else ""
            self.to_end.setAccessibleName(f"Jump to the end of the conversation{about}")
            self.to_end.setHidden(at_end)
        size = self.to_end.sizeHint()
        wide = max(34, size.width() + (8 if words else 0))
        self.to_end.setGeometry(self.width() - wide - 22, self.height() - 34 - 12, wide, 34)

    def _restyle(self) -> None:
        self._blocks.clear()
        self._colors.clear()
        self._heights.forget_all()
        self._cards.clear()
        self._dress_button()
        self._settle()

    def _dress_button(self) -> None:
        self.to_end.setIcon(self.theme.icons.icon("to-end", "text"))

"""The conversation on screen, and what hands do with it: fold, select, copy, follow links."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.chat.card_shelf import CardMaker
from app.chat.conversation_text import conversation_text, row_text, whole_code
from app.chat.file_links import reference_in
from app.chat.message_document import Mark
from app.chat.result_block import SWITCH, TURN, ResultBlock
from app.chat.row_blocks import RowBlock
from app.chat.row_search import Search
from app.chat.rows import OUTPUT, Row
from app.chat.text_selection import TextSelection
from app.chat.tool_words import pretty
from app.chat.transcript_model import Changes, ShownRow, TranscriptModel
from app.chat.transcript_surface import COLUMN, TranscriptSurface
from app.theme.theme import Theme

__all__ = ["COLUMN", "TranscriptView"]

_SPOKEN = 400


class TranscriptView(TranscriptSurface):
    """Rows, the marks of a search, and one selection.

    Ctrl+Up and Ctrl+Down choose a row, with Shift all rows up to it, as a click with Shift does;
    Enter folds or unfolds the row, Ctrl+C copies what is chosen.

    Signals:
        menu_opening: The menu of a row is about to be shown; has the row and the menu to add to.
        file_wanted: A reference to a file was followed: its path and its line, or 0.
        handoff_wanted: An output is to show its document, which its row does not have yet.
    """

    menu_opening = Signal(object, object)
    file_wanted = Signal(str, int)
    handoff_wanted = Signal(object)

    def __init__(self, theme: Theme, make_card: CardMaker, parent: QWidget | None = None) -> None:
        super().__init__(theme, make_card, parent)
        self.selection = TextSelection(self.viewport())
        self.search = Search()
        self._hovered: tuple[Row, int] | None = None
        self._range_start = 0
        self._menu = QMenu(self)
        self.copy_code = QToolButton(self.viewport())
        self.copy_code.setText("Copy")
        self.copy_code.setAccessibleName("Copy this code")
        self.copy_code.setProperty("kind", "floating")
        self.copy_code.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.copy_code.clicked.connect(self._copy_hovered_code)
        self.copy_code.hide()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")
        self.viewport().setMouseTracking(True)
        self.settled.connect(self._on_settled)

    def set_model(self, model: TranscriptModel | None) -> None:
        """Show another conversation."""
        self.selection.clear()
        self._hovered = None
        self._range_start = 0
        super().set_model(model)

    def marks_of(self, row: Row, block: RowBlock) -> Sequence[Mark]:
        """What was found, and what is selected."""
        marks = self.search.marks(row, block, self.theme.tokens)
        selected = self.selection.of(row.id, block)
        if selected is not None and selected.hasSelection():
            return [*marks, (selected, self.theme.tokens.tint("accent", 0.35))]
        return marks

    def find_words(self, words: str) -> None:
        """Look for words in all rows of the filter; empty words end the search."""
        rows = self._model.rows if self._model is not None else []
        wanted = self._model.filter if self._model is not None else ""
        self.search.look(words, [row for row in rows if wanted in ("", row.node_id)])
        self._show_match()

    def find_next(self, by: int) -> None:
        """Go to the next or the previous match in what there is by now."""
        self.find_words(self.search.words)
        self.search.step(by)
        self._show_match()

    def _show_match(self) -> None:
        """Bring the match that the search stands at into view; unfolds what hides it."""
        found = self.search.current
        self._mark_cards()
        if found is None or self._model is None:
            self.viewport().update()
            return
        row, number = found
        if row.head is not None and row.head.is_stack_folded:
            self._model.fold_stack(row.head, False)
        if row.is_folded:
            row.is_folded = False
            self._resize_row(row)
        self._current = row.id
        self.reveal(row.id)
        place = self._heights.place(row.id)
        if place is not None:
            self._measure(place)
            block = self._blocks.block(self._shown()[place])
            self.reveal(row.id, self.search.depth(block, number))
        self.viewport().update()

    def _on_settled(self) -> None:
        self._hide_copy()
        if self.search.words:
            self._mark_cards()

    def _mark_cards(self) -> None:
        """Mark in the cards in view what is looked for."""
        found = self.search.current
        first, last = self._visible_range()
        for item in self._shown()[first:last]:
            card = self.card_of(item.row.id)
            if card is not None:
                number = found[1] if found is not None and found[0] is item.row else -1
                card.show_found(self.search.words, number)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold a line, or begin to select text."""
        found = self._row_at(event.position())
        if found is None or event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        item, point = found
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._choose(item.row, is_range=True)
            return
        self._choose(item.row, is_range=False)
        if item.row.is_card:
            return
        block = self._blocks.block(item)
        if block.is_toggle(point):
            self._toggle(item, point)
        else:
            self.selection.begin(item.row.id, block, point)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, or show what a click would do."""
        found = self._row_at(event.position())
        if event.buttons() & Qt.MouseButton.LeftButton:
            if found is not None:
                self.selection.extend(found[0].row.id, found[1])
            return
        shape = Qt.CursorShape.ArrowCursor
        if found is not None and not found[0].row.is_card:
            block = self._blocks.block(found[0])
            if block.is_toggle(found[1]) or self._link(block, found[1]):
                shape = Qt.CursorShape.PointingHandCursor
            elif self.selection.is_text(block, found[1]):
                shape = Qt.CursorShape.IBeamCursor
            self._offer_code(found[0].row, block, found[1])
        else:
            self._hide_copy()
        self.viewport().setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow a link."""
        found = self._row_at(event.position())
        if found is None or found[0].row.is_card or self.selection.has_text:
            return
        block = self._blocks.block(found[0])
        self._follow(found[0].row, block, self._link(block, found[1]))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        found = self._row_at(event.position())
        if found is None or found[0].row.is_card:
            return
        block = self._blocks.block(found[0])
        if block.is_toggle(found[1]):
            self._toggle(*found)
        else:
            self.selection.select_word(found[0].row.id, block, found[1])

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is below the pointer any more."""
        super().leaveEvent(event)
        if not self.copy_code.underMouse():
            self._hide_copy()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy, and what else can be done with the row."""
        found = self._row_at(QPointF(event.pos()))
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self._heights.place(self._current)
            found = (self._shown()[place], QPointF()) if place is not None else None
        self._menu.clear()
        if self.selection.has_text:
            self._menu.addAction("Copy").triggered.connect(self.selection.copy)
        elif len(chosen := self.chosen_rows()) > 1:
            copy = self._menu.addAction(f"Copy {len(chosen)} Items")
            copy.triggered.connect(partial(self._put, conversation_text(chosen)))
        if found is not None:
            self._offer(found[0])
            self.menu_opening.emit(found[0].row, self._menu)
        if self._shown():
            self._menu.addAction("Copy Conversation").triggered.connect(self.copy_conversation)
        if not self._menu.isEmpty():
            self._menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, choose and fold rows, go to the beginning or the end."""
        keys, key = Qt.Key, event.key()
        has_control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        elif has_control and key in (keys.Key_Up, keys.Key_Down):
            is_range = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._step(1 if key == keys.Key_Down else -1, is_range=is_range)
        elif key in (keys.Key_Return, keys.Key_Enter, keys.Key_Space) and not has_control:
            self._toggle_current()
        elif key == keys.Key_End:
            self.jump_to_end()
        elif key == keys.Key_Home:
            self.verticalScrollBar().setValue(0)
        else:
            super().keyPressEvent(event)

    def copy_conversation(self) -> None:
        """Put everything that is shown on the clipboard, as Markdown."""
        rows = [item.row for item in self._shown()]
        QGuiApplication.clipboard().setText(conversation_text(rows))

    def _offer(self, item: ShownRow) -> None:
        row = item.row
        if text := row_text(row):
            copy = self._menu.addAction("Copy Message")
            copy.triggered.connect(partial(self._put, text))
        if row.kind == OUTPUT:
            copy = self._menu.addAction("Copy as JSON")
            copy.triggered.connect(partial(self._put, pretty(row.payload)))
        if row.handoff_text:
            put = partial(self._put, row.handoff_text)
            self._menu.addAction("Copy Handoff").triggered.connect(put)
        place = None if row.is_card else self._blocks.block(item).document_at()
        for number in range(place[0].code_count if place is not None and not row.tool else 0):
            name = "Copy Code" if number == 0 else f"Copy Code {number + 1}"
            copy = self._menu.addAction(name)
            copy.triggered.connect(partial(self._put_code, row, number))

    def _put(self, text: str, _: bool = False) -> None:
        QGuiApplication.clipboard().setText(text)

    def _put_code(self, row: Row, number: int, _: bool = False) -> None:
        place = self._heights.place(row.id)
        if place is None:
            return
        self._measure(place)
        found = self._blocks.block(self._shown()[place]).document_at()
        if found is not None and number < found[0].code_count:
            is_last = number == found[0].code_count - 1
            whole = whole_code(row, is_first=number == 0, is_last=is_last)
            self._put(found[0].code_text(number) if whole is None else whole)

    def _copy(self) -> None:
        if self.selection.has_text:
            self.selection.copy()
            return
        rows = self.chosen_rows()
        if len(rows) > 1:
            self._put(conversation_text(rows))
        elif rows:
            self._put(row_text(rows[0]))

    def chosen_rows(self) -> list[Row]:
        """The chosen row, or all between two that were chosen with Shift; empty without one."""
        end = self._heights.place(self._current)
        if end is None:
            return []
        start = self._heights.place(self._range_start)
        first, last = sorted((end if start is None else start, end))
        return [item.row for item in self._shown()[first : last + 1]]

    def is_in_range(self, place: int) -> bool:
        """Between the two ends of what is chosen."""
        end, start = self._heights.place(self._current), self._heights.place(self._range_start)
        if end is None or start is None:
            return False
        return start != end and min(start, end) <= place <= max(start, end)

    def _choose(self, row: Row, *, is_range: bool) -> None:
        if not is_range:
            self._range_start = 0
        elif not self._range_start:
            self._range_start = self._current or row.id
        if is_range:
            self.selection.clear()
        self._current = row.id
        self.viewport().update()

    def _step(self, by: int, *, is_range: bool = False) -> None:
        """Choose the next or the previous row; without one, the first or last in view."""
        place = self._heights.place(self._current)
        if place is None:
            first, end = self._visible_range()
            place = end if by < 0 else first - 1
        place += by
        if 0 <= place < len(self._heights):
            item = self._shown()[place]
            self._choose(item.row, is_range=is_range)
            self.reveal(item.row.id)
            card = self.card_of(item.row.id)
            if not is_range and card is not None and card.focusPolicy() != Qt.FocusPolicy.NoFocus:
                card.setFocus()
            self.setAccessibleDescription(self._blocks.block(item).spoken()[:_SPOKEN])

    def _toggle_current(self) -> None:
        place = self._heights.place(self._current)
        if place is not None and not self._shown()[place].row.is_card:
            self._toggle(self._shown()[place], None)

    def _toggle(self, item: ShownRow, point: QPointF | None) -> None:
        if self._blocks.block(item).toggle(point) and self._model is not None:
            self._is_at_end = False
            self._model.fold_stack(item.row, not item.row.is_stack_folded)
            return
        self._resize_row(item.row)

    def _resize_row(self, row: Row) -> None:
        """The row has another height now, because the person wanted it."""
        self._heights.forget(row.id)
        self._is_at_end = False
        self._settle()
        if row.is_document_wanted:
            self.handoff_wanted.emit(row)

    def _link(self, block: RowBlock, point: QPointF) -> str:
        return block.link_at(point) or self.selection.link_at(block, point)

    def _follow(self, row: Row, block: RowBlock, address: str) -> None:
        reference = reference_in(address)
        if reference is not None:
            self.file_wanted.emit(*reference)
        elif isinstance(block, ResultBlock) and address == SWITCH:
            block.toggle(None)
            self._resize_row(row)
        elif isinstance(block, ResultBlock) and address.startswith(TURN):
            block.turn(address.removeprefix(TURN))
            self.selection.clear()
            self._resize_row(row)
        elif address:
            self.selection.open_link(address)

    def _offer_code(self, row: Row, block: RowBlock, point: QPointF) -> None:
        """Show a button at the code below the pointer."""
        place = block.document_at()
        corner = self._place_of(row)
        code = place[0].code_at(point - place[1]) if place is not None else None
        if place is None or code is None or corner is None:
            self._hide_copy()
            return
        number, box = code
        self._hovered = (row, number)
        where: QRectF = box.translated(place[1] + corner)
        size = self.copy_code.sizeHint()
        x = where.right() - size.width() - 6
        y = max(where.top() + 5, 4.0)
        self.copy_code.setGeometry(round(x), round(y), size.width(), 24)
        self.copy_code.show()
        self.copy_code.raise_()

    def _copy_hovered_code(self) -> None:
        if self._hovered is not None:
            self._put_code(*self._hovered)

    def _hide_copy(self) -> None:
        self._hovered = None
        self.copy_code.hide()

    def _on_changed(self, changes: Changes) -> None:
        super()._on_changed(changes)
        if self._heights.place(self.selection.row_id) is None:
            self.selection.clear()
        shown = self._shown()
        if shown and not shown[-1].row.is_open and QAccessible.isActive():
            self.setAccessibleDescription(shown[-1].row.text[:_SPOKEN])

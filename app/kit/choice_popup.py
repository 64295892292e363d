"""A list to choose from by typing: for new nodes, for commands, for finding things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.kit.pens import solid_pen
from app.theme.theme import Theme

_ROW = 30
_TALL_ROW = 44
_MOST_ROWS = 9
_ENTRY = Qt.ItemDataRole.UserRole


class Choice(NamedTuple):
    """One entry: `key` is for whoever asked, `note` stands small below or beside the title."""

    key: str
    title: str
    note: str = ""
    hint: str = ""


def matches(choice: Choice, words: str) -> int | None:
    """How well an entry fits what was typed, smaller is better; `None` if it does not.

    Every word must be found, as the beginning of a word, within the text, or letter by letter.
    """
    title = choice.title.casefold()
    whole = f"{title} {choice.note.casefold()}"
    cost = 0
    for word in words.casefold().split():
        at = title.find(word)
        if at == 0 or (at > 0 and not title[at - 1].isalnum()):
            cost += 0 if at == 0 else 1
        elif at > 0:
            cost += 3
        elif word in whole:
            cost += 6
        elif _in_order(word, title):
            cost += 10
        else:
            return None
    return cost


class ChoicePopup(QFrame):
    """A field and a list in a frame over the window. The field keeps the focus throughout.

    Signals:
        chosen: The key of the entry that was taken; the popup is closed by then.
        dismissed: It was closed without a choice.
    """

    chosen = Signal(str)
    dismissed = Signal()

    def __init__(self, theme: Theme, window: QWidget, name: str, width: int = 380) -> None:
        super().__init__(window)
        self._window = window
        self._entries: list[Choice] = []
        self._back_to: QWidget | None = None
        self.setProperty("kind", "popover")
        self.setAccessibleName(name)
        self.setFixedWidth(width)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(name)
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self.list = QListView(self)
        self.list.setModel(self._model)
        self.list.setItemDelegate(_ChoiceRow(theme, self))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.setAccessibleName(f"{name}: results")
        self.list.entered.connect(self.list.setCurrentIndex)
        self.list.clicked.connect(self._take)
        self._nothing = QLabel("Nothing found", self)
        self._nothing.setProperty("kind", "small")
        self._nothing.setContentsMargins(8, 6, 8, 6)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addWidget(self.field)
        box.addWidget(self.list)
        box.addWidget(self._nothing)
        window.installEventFilter(self)
        self.hide()

    def ask(self, entries: Sequence[Choice], prompt: str, at: QPoint | None = None) -> None:
        """Open with these entries, at a point of the window or in its middle."""
        if not self.isVisible():
            self._back_to = QApplication.focusWidget()
        self._entries = list(entries)
        self.field.setPlaceholderText(prompt)
        self.field.clear()
        self._filter("")
        self._place(at)
        self.show()
        self.raise_()
        self.field.setFocus()

    def dismiss(self) -> None:
        """Close without a choice."""
        if self.isVisible():
            self._close()
            self.dismissed.emit()

    def titles(self) -> list[str]:
        """What is listed now."""
        return [self._model.item(row).text() for row in range(self._model.rowCount())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the field lead the list; a click elsewhere closes it."""
        if watched is self.field and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._press(event)
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
        elif watched is self.field and event.type() == QEvent.Type.FocusOut:
            self.dismiss()
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        match event.key():
            case Qt.Key.Key_Escape:
                self.dismiss()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._take(self.list.currentIndex())
            case Qt.Key.Key_Down | Qt.Key.Key_Tab:
                self._step(1)
            case Qt.Key.Key_Up | Qt.Key.Key_Backtab:
                self._step(-1)
            case _:
                return False
        return True

    def _step(self, by: int) -> None:
        count = self._model.rowCount()
        if count:
            row = (self.list.currentIndex().row() + by) % count
            self.list.setCurrentIndex(self._model.index(row, 0))

    def _filter(self, words: str) -> None:
        rated = [(matches(choice, words), choice) for choice in self._entries]
        found = [(cost, choice) for cost, choice in rated if cost is not None]
        if words.strip():
            found.sort(key=lambda pair: pair[0])
        self._model.clear()
        for _, choice in found:
            item = QStandardItem(choice.title)
            item.setData(choice, _ENTRY)
            item.setEditable(False)
            spoken = ", ".join(part for part in (choice.title, choice.note, choice.hint) if part)
            item.setAccessibleText(spoken)
            self._model.appendRow(item)
        self.list.setCurrentIndex(self._model.index(0, 0))
        self.list.setVisible(bool(found))
        self._nothing.setVisible(not found)
        heights = [_row_height(choice) for _, choice in found[:_MOST_ROWS]]
        self.list.setFixedHeight(sum(heights) + 2)
        self.adjustSize()

    def _take(self, index: QModelIndex) -> None:
        choice = index.data(_ENTRY)
        if choice is not None:
            self._close()
            self.chosen.emit(choice.key)

    def _close(self) -> None:
        had_focus = self.field.hasFocus()
        self.hide()
        if had_focus and self._back_to is not None:
            self._back_to.setFocus()
        self._back_to = None

    def _place(self, at: QPoint | None) -> None:
        room = self._window.rect()
        if at is None:
            at = QPoint((room.width() - self.width()) // 2, max(48, room.height() // 8))
        x = max(8, min(at.x(), room.width() - self.width() - 8))
        y = max(8, min(at.y(), room.height() - self.sizeHint().height() - 8))
        self.move(x, y)


class _ChoiceRow(QStyledItemDelegate):
    """An entry: its title, its note below, and a hint such as keys at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]
        """Taller where there is a note."""
        return QSize(100, _row_height(index.data(_ENTRY)))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex,  # type: ignore[override]
    ) -> None:
        """Paint one row."""
        choice: Choice = index.data(_ENTRY)
        tokens, rect = self._theme.tokens, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setBrush(tokens.color("selected"))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 7, 7)
        inner = rect.adjusted(10, 5 if choice.note else 0, -10, -5 if choice.note else 0)
        flags = Qt.AlignmentFlag
        small, plain = self._theme.sized_font(12), self._theme.sized_font(13)
        painter.setFont(small)
        painter.setPen(solid_pen(tokens.color("text_second")))
        hint_width = painter.fontMetrics().horizontalAdvance(choice.hint) + 12 if choice.hint else 0
        painter.drawText(inner, flags.AlignRight | flags.AlignVCenter, choice.hint)
        text = inner.adjusted(0, 0, -hint_width, 0)
        if choice.note:
            note = painter.fontMetrics().elidedText(
                choice.note, Qt.TextElideMode.ElideRight, text.width()
            )
            painter.drawText(text, flags.AlignLeft | flags.AlignBottom, note)
        painter.setFont(plain)
        painter.setPen(solid_pen(tokens.color("text")))
        title = painter.fontMetrics().elidedText(
            choice.title, Qt.TextElideMode.ElideRight, text.width()
        )
        vertical = flags.AlignTop if choice.note else flags.AlignVCenter
        painter.drawText(text, flags.AlignLeft | vertical, title)
        painter.restore()


def _row_height(choice: Choice) -> int:
    return _TALL_ROW if choice.note else _ROW


def _in_order(word: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in word)

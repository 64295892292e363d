"""The undo list of the open workflow, in a panel over the canvas: every step, and a way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPointF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QUndoStack
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
)

from app.kit.formats import plural
from app.kit.pens import solid_pen
from app.main_window import MainWindow

if TYPE_CHECKING:
    from PySide6.QtCore import QPersistentModelIndex

    from app.theme.theme import Theme

    Index = QModelIndex | QPersistentModelIndex

OPENED = "As it was opened"
SAVED = "Saved"
_WIDTH = 280
_MARGIN = 14
_ROW = 28
_MOST_ROWS = 12
_DOT = 14
_ROOT = QModelIndex()


class UndoHistory(QFrame):
    """The panel of one window.

    It stays open while the workflow is edited. A click, or an arrow key in the list, goes to a
    step: what is above it is done, what is below it is undone and can be done again.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window.canvas)
        self._theme = window.theme
        self._canvas = window.canvas
        self._document = window.document
        self.setProperty("kind", "popover")
        self.setAccessibleName("Undo history")
        title = QLabel("Undo history", self)
        title.setProperty("kind", "title")
        self.told = QLabel(self)
        self.told.setProperty("kind", "small")
        self._close = QToolButton(self)
        self._close.setAccessibleName("Close the undo history")
        self._close.setToolTip("Close the undo history")
        self._close.clicked.connect(self.dismiss)
        self.steps = Steps(self._document.undo_stack, self)
        self.list = QListView(self)
        self.list.setModel(self.steps)
        self.list.setItemDelegate(_StepRow(window.theme, self.steps, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setProperty("kind", "steps")
        self.list.setAccessibleName("Steps, the oldest first")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.clicked.connect(self._go_to)
        self.list.installEventFilter(self)
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 0, 0)
        head.addWidget(title, 1)
        head.addWidget(self.told)
        head.addWidget(self._close)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.setSpacing(6)
        box.addLayout(head)
        box.addWidget(self.list)
        self._canvas.installEventFilter(self)
        window.theme.changed.connect(self._dress)
        self._document.undo_changed.connect(self._follow)
        self._document.replaced.connect(self._follow)
        self._dress()
        self.hide()

    def ask(self) -> None:
        """Open it, or go back to it."""
        self.show()
        self.raise_()
        self._follow()
        self.list.setFocus()

    def dismiss(self) -> None:
        """Close it; the keys go back to the canvas."""
        self.hide()
        self._canvas.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows in the list go from step to step; Escape closes it."""
        if watched is self._canvas and event.type() == QEvent.Type.Resize:
            self._place()
        if watched is self.list and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._press(Qt.Key(event.key()))
            # Elsewhere Escape may be the shortcut of something else.
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _press(self, key: Qt.Key) -> bool:
        row, last = self._document.undo_stack.index(), self.steps.rowCount() - 1
        wanted = {
            Qt.Key.Key_Up: row - 1,
            Qt.Key.Key_Down: row + 1,
            Qt.Key.Key_PageUp: row - _MOST_ROWS,
            Qt.Key.Key_PageDown: row + _MOST_ROWS,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(key)
        if wanted is not None:
            self._go_to(self.steps.index(min(max(wanted, 0), last)))
        elif key == Qt.Key.Key_Escape:
            self.dismiss()
        return wanted is not None or key == Qt.Key.Key_Escape

    def _go_to(self, index: QModelIndex) -> None:
        self._document.end_typing()
        self._document.undo_stack.setIndex(index.row())

    def _follow(self) -> None:
        if not self.isVisible():
            return
        self.steps.tell_all()
        count = self.steps.rowCount() - 1
        self.told.setText(plural(count, "step") if count else "Nothing to undo")
        here = self.steps.index(self._document.undo_stack.index())
        self.list.setCurrentIndex(here)
        self._place()
        self.list.scrollTo(here)

    def _place(self) -> None:
        canvas = self._canvas
        rows = min(self.steps.rowCount(), _MOST_ROWS)
        room = max(2 * _ROW, canvas.height() - 2 * _MARGIN - 52)
        self.list.setFixedHeight(min(rows * _ROW + 2, room))
        self.setFixedWidth(max(200, min(_WIDTH, canvas.width() - 2 * _MARGIN)))
        self.adjustSize()
        self.move(_MARGIN, _MARGIN)

    def _dress(self) -> None:
        self._close.setIcon(self._theme.icons.icon("close"))


class Steps(QAbstractListModel):
    """The states that an undo stack can be in: as it was opened, then one for each step."""

    def __init__(self, stack: QUndoStack, parent: QObject) -> None:
        super().__init__(parent)
        self._stack = stack

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One more than there are steps."""
        return 0 if parent.isValid() else self._stack.count() + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        """What a state is called, and how it stands for a screen reader."""
        if not index.isValid():
            return None
        row = index.row()
        title = self._stack.text(row - 1) if row else OPENED
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = [title]
            if row == self._stack.index():
                words.append("current")
            elif self.is_undone(row):
                words.append("undone")
            if self.is_saved(row):
                words.append("saved")
            return ", ".join(words)
        return None

    def is_current(self, row: int) -> bool:
        """Whether the workflow is in this state."""
        return row == self._stack.index()

    def is_undone(self, row: int) -> bool:
        """Whether the step was undone and can be done again."""
        return row > self._stack.index()

    def is_saved(self, row: int) -> bool:
        """Whether the file has this state."""
        return row == self._stack.cleanIndex()

    def tell_all(self) -> None:
        """Let views ask again for everything: steps come, go, merge and change their standing."""
        self.beginResetModel()
        self.endResetModel()


class _StepRow(QStyledItemDelegate):
    """A step on a line of dots: filled what is done, hollow what was undone."""

    def __init__(self, theme: Theme, steps: Steps, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._steps = steps

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """All rows are alike."""
        return QSize(100, _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint one row."""
        rect, state = option.rect, option.state
        tokens, row, steps = self._theme.tokens, index.row(), self._steps
        is_current, is_undone = steps.is_current(row), steps.is_undone(row)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_current or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.color("selected" if is_current else "hover"))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 7, 7)
        middle = QPointF(rect.left() + _DOT, rect.center().y() + 0.5)
        painter.setPen(solid_pen(tokens.color("line_strong"), 1.5))
        if row:
            painter.drawLine(QPointF(middle.x(), rect.top()), middle - QPointF(0, 6))
        if row < steps.rowCount() - 1:
            painter.drawLine(middle + QPointF(0, 6), QPointF(middle.x(), rect.bottom() + 1))
        ink = tokens.color("idle" if is_undone else "running")
        painter.setPen(solid_pen(ink, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush if is_undone else ink)
        radius = 4.5 if is_current else 3.0
        painter.drawEllipse(middle, radius, radius)
        text = rect.adjusted(2 * _DOT, 0, -10, 0)
        flags = Qt.AlignmentFlag
        if steps.is_saved(row):
            painter.setFont(self._theme.sized_font(12))
            painter.setPen(solid_pen(tokens.color("text_second")))
            painter.drawText(text, flags.AlignRight | flags.AlignVCenter, SAVED)
            text.adjust(0, 0, -painter.fontMetrics().horizontalAdvance(SAVED) - 12, 0)
        painter.setFont(self._theme.sized_font(13, strong=is_current))
        painter.setPen(solid_pen(tokens.color("text_second" if is_undone else "text")))
        title = painter.fontMetrics().elidedText(
            str(index.data()), Qt.TextElideMode.ElideRight, text.width()
        )
        painter.drawText(text, flags.AlignLeft | flags.AlignVCenter, title)
        painter.restore()

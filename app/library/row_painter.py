"""How a row of the library looks: an icon, a name, a mark; names are edited in place."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.kit.pens import solid_pen
from app.kit.visible import visible
from app.library.rows import RUN_MARKS, Row
from app.theme.statuses import paint_mark
from app.theme.theme import Theme

ROW = Qt.ItemDataRole.UserRole + 1
IS_OPEN = Qt.ItemDataRole.UserRole + 2

_HEIGHT = 28
_SECTION_HEIGHT = 32
_STEP = 14
_ICON = 16
_ICONS = {
    "workflow": "workflow",
    "outside": "workflow",
    "example": "workflow",
    "damaged": "workflow",
    "project": "open",
    "agent": "agent",
    "chat": "chat",
    "template": "template",
}
_WRAPS = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class RowPainter(QStyledItemDelegate):
    """Paints rows and edits names.

    Signals:
        named: The row and what was typed as its name.
    """

    named = Signal(object, str)

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:  # type: ignore[override]
        """Hints are as tall as they need to be."""
        row: Row | None = index.data(ROW)
        if row is not None and row.kind == "section":
            return QSize(80, _SECTION_HEIGHT)
        if row is not None and row.kind == "hint":
            metrics = self._view.fontMetrics()
            width = max(60, self._view.viewport().width() - 22 - row.depth * _STEP)
            box = metrics.boundingRect(QRect(0, 0, width, 400), _WRAPS, row.name)
            return QSize(80, box.height() + 10)
        return QSize(80, _HEIGHT)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex,  # type: ignore[override]
    ) -> None:
        """Paint one row."""
        row: Row = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.kind == "section":
            self._paint_section(painter, option, index, row)
        elif row.kind == "hint":
            painter.setFont(self._theme.sized_font(12))
            painter.setPen(solid_pen(self._theme.tokens.color("text_second")))
            left = 10 + max(0, row.depth - 1) * _STEP
            painter.drawText(option.rect.adjusted(left, 2, -8, -4), _WRAPS, row.name)
        else:
            self._paint_entry(painter, option, index, row)
        painter.restore()

    def createEditor(  # type: ignore[override]
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex
    ) -> QWidget:
        """A field in the row's place."""
        field = QLineEdit(parent)
        field.setProperty("kind", "inline")
        field.setAccessibleName("New name")
        return field

    def setEditorData(self, editor: QWidget, index: QModelIndex) -> None:  # type: ignore[override]
        """Begin with the name that it has, all of it chosen."""
        assert isinstance(editor, QLineEdit)
        editor.setText(index.data(ROW).name)
        editor.selectAll()

    def setModelData(  # type: ignore[override]
        self, editor: QWidget, model: QAbstractItemModel, index: QModelIndex
    ) -> None:
        """Tell the new name; a blank one, or the old one, is none."""
        assert isinstance(editor, QLineEdit)
        row: Row = index.data(ROW)
        name = editor.text().strip()
        if name and name != row.name:
            self.named.emit(row, name)

    def updateEditorGeometry(  # type: ignore[override]
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex
    ) -> None:
        """Over the name, beside the icon."""
        left = _text_left(index.data(ROW)) - 7
        editor.setGeometry(option.rect.adjusted(left, 1, -4, -1))

    def helpEvent(  # type: ignore[override]
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex,
    ) -> bool:
        """Say in a tooltip what there was no room for."""
        row: Row | None = index.data(ROW)
        if row is None or event.type() != QEvent.Type.ToolTip or row.kind in ("section", "hint"):
            return False
        QToolTip.showText(event.globalPos(), f"{row.spoken}\n{row.note}".strip(), view)
        return True

    def _paint_section(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, row: Row
    ) -> None:
        tokens, rect = self._theme.tokens, option.rect
        if option.state & QStyle.StateFlag.State_HasFocus:
            self._outline(painter, rect.adjusted(1, 4, -1, -2))
        painter.setFont(self._theme.sized_font(11, strong=True))
        painter.setPen(solid_pen(tokens.color("text_second")))
        inner = rect.adjusted(10, 6, -24, 0)
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(inner, middle, row.name.upper())
        self._chevron(painter, rect.adjusted(0, 6, -6, 0), index)

    def _paint_entry(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, row: Row
    ) -> None:
        tokens, rect = self._theme.tokens, option.rect
        box = rect.adjusted(1, 1, -1, -1)
        if index.data(IS_OPEN):
            self._fill(painter, box, "selected")
        elif option.state & QStyle.StateFlag.State_MouseOver:
            self._fill(painter, box, "hover")
        if option.state & QStyle.StateFlag.State_HasFocus:
            self._outline(painter, box)
        left = rect.left() + _text_left(row)
        icon = self._theme.icons.pixmap(_ICONS[row.kind], size=_ICON)
        painter.drawPixmap(left - _ICON - 7, rect.center().y() - _ICON // 2 + 1, icon)
        right = rect.right() - 8
        mark = ("cross", "failed", "") if row.kind == "damaged" else RUN_MARKS.get(row.status)
        if mark is not None:
            center = QRect(right - 12, rect.top(), 12, rect.height()).toRectF().center()
            paint_mark(painter, center, 11, mark[0], tokens.color(mark[1]))
            right -= 18
        elif row.kind == "project":
            self._chevron(painter, rect.adjusted(0, 0, -6, 0), index)
            right -= 18
        painter.setFont(self._theme.sized_font(13))
        color = "text_second" if row.kind in ("damaged", "template") else "text"
        painter.setPen(solid_pen(tokens.color(color)))
        end = Qt.TextElideMode.ElideRight
        name = painter.fontMetrics().elidedText(visible(row.name), end, max(0, right - left))
        where = QRect(left, rect.top(), right - left, rect.height())
        painter.drawText(where, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, name)

    def _chevron(self, painter: QPainter, rect: QRect, index: QModelIndex) -> None:
        if not index.model().hasChildren(index):
            return
        is_open = bool(self._view.isExpanded(index))  # type: ignore[attr-defined]
        icon = self._theme.icons.pixmap("chevron-down" if is_open else "chevron-right", size=12)
        painter.drawPixmap(rect.right() - 12, rect.center().y() - 6, icon)

    def _fill(self, painter: QPainter, rect: QRect, color: str) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.tokens.color(color))
        painter.drawRoundedRect(rect, 8, 8)

    def _outline(self, painter: QPainter, rect: QRect) -> None:
        painter.setPen(solid_pen(self._theme.tokens.color("accent")))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)


def _text_left(row: Row) -> int:
    return 10 + _ICON + 7 + (row.depth - 1) * _STEP

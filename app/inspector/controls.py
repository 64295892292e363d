"""The controls of the forms: Qt's own, in the window's look and with the window's undo."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPolygonF, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.kit.pens import solid_pen
from app.theme.theme import Theme

_ARROW_ROOM = 26
_TEXT_MARGIN = 4


def mark_wrong(control: QWidget, is_wrong: bool) -> None:
    """Give a control the look of one that holds something wrong, or take it away."""
    control.setProperty("wrong", is_wrong)
    control.style().unpolish(control)
    control.style().polish(control)


def leaves_to_window(event: QEvent) -> bool:
    """Whether a text control has to leave these keys to the window: its undo is the only one."""
    return (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.ShortcutOverride
        and (
            event.matches(QKeySequence.StandardKey.Undo)
            or event.matches(QKeySequence.StandardKey.Redo)
        )
    )


class LineField(QLineEdit):
    """One line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.DefaultContextMenu)

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window."""
        if leaves_to_window(event):
            event.ignore()
            return False
        return super().event(event)


class ChoiceBox(QComboBox):
    """A drop-down list. The wheel scrolls the form and never changes a value."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(80)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMaxVisibleItems(14)
        # Qt's own for this list leaves the look of its entries to the system.
        self.setItemDelegate(QStyledItemDelegate(self))
        theme.changed.connect(self.update)

    def show_entries(self, entries: Sequence[str], current: int) -> None:
        """List these texts and show one of them."""
        if list(entries) != [self.itemText(row) for row in range(self.count())]:
            self.clear()
            self.addItems(list(entries))
        self.setCurrentIndex(current)

    def write_in(self, line: QLineEdit) -> None:
        """Let a person write in `line`; what is listed are suggestions, and none is forced."""
        self.setEditable(True)
        self.setLineEdit(line)
        line.setTextMargins(6, 0, 0, 0)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)  # type: ignore[arg-type]
        self.setProperty("writable", True)

    def showPopup(self) -> None:
        """Open the list, wide enough for every entry."""
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + _ARROW_ROOM)
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the form."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box and its arrow."""
        if self.isEditable():
            super().paintEvent(event)
        else:
            self._paint_entry()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = solid_pen(self._theme.tokens.color("text_second"), 1.5)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        middle = QPointF(self.width() - _ARROW_ROOM / 2, self.height() / 2 + 0.5)
        painter.drawPolyline(
            QPolygonF(
                [middle + QPointF(-4, -2), middle + QPointF(0, 2), middle + QPointF(4, -2)],
            )
        )
        painter.end()

    def _paint_entry(self) -> None:
        """Paint the box with as much of its entry as there is room for; Qt would cut it off."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        painter, controls = QStylePainter(self), QStyle.ComplexControl
        painter.drawComplexControl(controls.CC_ComboBox, option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(controls.CC_ComboBox, option, field, self)
        width = min(room.width(), self.width() - _ARROW_ROOM - room.left()) - _TEXT_MARGIN
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, width
        )
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class FlagBox(QCheckBox):
    """A box to tick, with a mark that can be told without its colour."""

    def __init__(self, theme: Theme, words: str, parent: QWidget | None = None) -> None:
        super().__init__(words, parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box and its mark."""
        super().paintEvent(event)
        state = self.checkState()
        if state == Qt.CheckState.Unchecked:
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        element = QStyle.SubElement.SE_CheckBoxIndicator
        box: QRect = self.style().subElementRect(element, option, self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = solid_pen(self._theme.tokens.color("on_accent"), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        center = QPointF(box.center()) + QPointF(0.5, 0.5)
        if state == Qt.CheckState.PartiallyChecked:
            line = [center + QPointF(-3.2, 0), center + QPointF(3.2, 0)]
        else:
            line = [
                center + QPointF(-3.4, 0.2),
                center + QPointF(-1.0, 2.6),
                center + QPointF(3.6, -2.6),
            ]
        painter.drawPolyline(QPolygonF(line))
        painter.end()

"""The tree of files: names with what the run did to them at the right edge."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from app.files.tree_model import MARK_ROLE, FileTreeModel
from app.kit.pens import solid_pen
from app.theme.theme import Theme

_MARK_ROOM = 24


class FileTree(QTreeView):
    """Shows a model of files.

    Signals:
        opened: The row of a file that is to be shown.
    """

    opened = Signal(object)

    def __init__(self, model: FileTreeModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._files = model
        self.setModel(model)
        self.setItemDelegate(_MarkDelegate(theme, self))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setAnimated(False)
        self.setExpandsOnDoubleClick(False)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setAccessibleName("Files")
        # The chosen name has a ground of its own; what is left of it would get a second one.
        self.setStyleSheet("QTreeView { selection-background-color: transparent; }")
        self.clicked.connect(self._on_clicked)
        self.activated.connect(self._on_activated)

    def _on_clicked(self, index: QModelIndex) -> None:
        entry = self._files.entry(index)
        if entry.entry.is_folder:
            self.setExpanded(index, not self.isExpanded(index))
        elif not entry.note:
            self.opened.emit(entry)

    def _on_activated(self, index: QModelIndex) -> None:
        entry = self._files.entry(index)
        if not entry.entry.is_folder and not entry.note:
            self.opened.emit(entry)


class _MarkDelegate(QStyledItemDelegate):
    """Paints a letter where a file was changed, and a dot where one below a folder was."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = theme.sized_font(11, strong=True)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint the row, then its mark."""
        super().paint(painter, option, index)
        mark = index.data(MARK_ROLE)
        if mark is None:
            return
        letter, color = mark
        tokens = self._theme.tokens
        whole: QRect = option.rect
        room = QRect(whole.right() - _MARK_ROOM, whole.top(), _MARK_ROOM, whole.height())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if letter:
            painter.setFont(self._font)
            painter.setPen(solid_pen(tokens.color(color)))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, letter)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(tokens.color(color))
            painter.drawEllipse(room.center(), 3, 3)
        painter.restore()

"""The places of the window for what is put into it, and how large a person has made them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QSplitter, QVBoxLayout, QWidget

from app.kit.window_state import WindowState

SIDEBAR_WIDTH = 216
INSPECTOR_WIDTH = 356
TOP_HEIGHT = 48
TABS_HEIGHT = 35
FOLDED_HEIGHT = 40
DOCK_LEAST = 190
_NO_LIMIT = 16_777_215


class Rooms(QSplitter):
    """Three columns: left, middle, right. The middle has the bars, the canvas and the dock.

    Attributes:
        left: For the sidebar.
        right: For the inspector.
        top: For the bar with Run and Stop.
        tabs: For the tabs; not there while there is only one.
        below: For the dock.
    """

    def __init__(self, canvas: QWidget, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._canvas = canvas
        self.left = _room("panel", self)
        self.right = _room("panel", self)
        self.top = _room("panel", self)
        self.tabs = _room("panel", self)
        self.below = _room("ground", self)
        self._rows = QSplitter(Qt.Orientation.Vertical, self)
        self.left.setMinimumWidth(160)
        self.right.setMinimumWidth(272)
        self.top.setFixedHeight(TOP_HEIGHT)
        self.tabs.setFixedHeight(TABS_HEIGHT)
        self.tabs.hide()
        self._rows.addWidget(canvas)
        self._rows.addWidget(self.below)
        middle = QWidget(self)
        box = QVBoxLayout(middle)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        ending = self.tabs.layout()
        assert ending is not None
        ending.addWidget(_line(self.tabs))
        for bar in (self.top, _line(self), self.tabs):
            box.addWidget(bar)
        box.addWidget(self._rows, 1)
        self.addWidget(self.left)
        self.addWidget(middle)
        self.addWidget(self.right)
        self.setStretchFactor(1, 1)
        for index in (0, 1):
            self._rows.setStretchFactor(index, 1)
        for splitter in (self, self._rows):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)

    def restore(self, state: WindowState, width: int, height: int) -> None:
        """Take the sizes of the last time, or those for a window of this size in pixels."""
        rest = width - SIDEBAR_WIDTH - INSPECTOR_WIDTH
        self.setSizes([SIDEBAR_WIDTH, max(1, rest), INSPECTOR_WIDTH])
        room = height - TOP_HEIGHT
        self._rows.setSizes([round(room * 0.46), round(room * 0.54)])
        for key, splitter in (("columns", self), ("rows", self._rows)):
            data = state.data(key)
            if data is not None:
                splitter.restoreState(data)

    def remember(self, state: WindowState, *, is_folded: bool) -> None:
        """Keep the sizes; heights only where the canvas and the dock are both there."""
        state.put("columns", self.saveState())
        if not self._canvas.isHidden() and not is_folded:
            state.put("rows", self._rows.saveState())

    def fold_below(self, is_folded: bool) -> None:
        """Leave only a bar of the dock, or let it have any height."""
        self.below.setMaximumHeight(FOLDED_HEIGHT if is_folded else _NO_LIMIT)
        self.below.setMinimumHeight(FOLDED_HEIGHT if is_folded else DOCK_LEAST)


def put_into(room: QWidget, furniture: QWidget) -> None:
    """Let a room be filled by what is put into it."""
    layout = room.layout()
    assert isinstance(layout, QVBoxLayout)
    layout.insertWidget(0, furniture)


def _line(parent: QWidget) -> QFrame:
    line = QFrame(parent)
    line.setProperty("kind", "line")
    line.setFixedHeight(1)
    return line


def _room(kind: str, parent: QWidget) -> QFrame:
    """An empty place in the colour of what will be put into it."""
    room = QFrame(parent)
    room.setProperty("kind", kind)
    room.setAutoFillBackground(True)
    if kind == "panel":
        room.setBackgroundRole(QPalette.ColorRole.AlternateBase)
    layout = QVBoxLayout(room)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return room

"""Zoom in, out, to fit, and how far it is zoomed, in the corner of the canvas."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from app.actions import Actions
from app.canvas.view import MAX_SCALE, MIN_SCALE, CanvasView
from app.theme.theme import Theme


class ZoomBar(QFrame):
    """A pill over the lower left corner of the view."""

    def __init__(self, theme: Theme, actions: Actions, view: CanvasView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._actions = actions
        self.setProperty("kind", "popover")
        self._out = self._button("zoom_out")
        self._level = QPushButton("100 %", self)
        self._level.setProperty("kind", "level")
        self._level.setToolTip(actions.tip("zoom_reset"))
        self._level.setAccessibleName("Zoom level; press for actual size")
        self._level.clicked.connect(actions["zoom_reset"].trigger)
        self._in = self._button("zoom_in")
        self._fit = self._button("zoom_fit")
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 3, 4, 3)
        row.setSpacing(2)
        for widget in (self._out, self._level, self._in, self._fit):
            row.addWidget(widget)
        view.zoomed.connect(self._show_scale)
        view.installEventFilter(self)
        theme.changed.connect(self._dress)
        self._dress()
        self._show_scale(view.scale_now)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _button(self, action_id: str) -> QToolButton:
        button = QToolButton(self)
        button.setToolTip(self._actions.tip(action_id))
        button.setAccessibleName(self._actions[action_id].text())
        button.clicked.connect(self._actions[action_id].trigger)
        return button

    def _show_scale(self, scale: float) -> None:
        self._level.setText(f"{round(scale * 100)} %" if scale >= 0.01 else "< 1 %")
        self._out.setEnabled(scale > MIN_SCALE * 1.001)
        self._in.setEnabled(scale < MAX_SCALE * 0.999)

    def _place(self) -> None:
        size = self.sizeHint()
        self.setGeometry(14, self._view.height() - size.height() - 12, size.width(), size.height())

    def _dress(self) -> None:
        icons = self._theme.icons
        self._out.setIcon(icons.icon("minus"))
        self._in.setIcon(icons.icon("plus"))
        self._fit.setIcon(icons.icon("fit"))

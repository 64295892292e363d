"""A hand on the mouse and one on the keys, over a canvas that is on (an offscreen) screen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.canvas.geometry import in_port, out_port
from app.main_window import MainWindow

NO_KEY = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton


class CanvasHand:
    """Presses, moves and lets go where a person would, in points of the scene."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.view = window.canvas
        self.scene = window.scene

    def at(self, node_id: str) -> QPointF:
        """The middle of a card."""
        return self.scene.items_by_node[node_id].shape_rect().center()

    def out_of(self, node_id: str) -> QPointF:
        """The port where edges leave a card."""
        place = self.scene.items_by_node[node_id].pos()
        return out_port(place.x(), place.y())

    def into(self, node_id: str) -> QPointF:
        """The port where edges enter a card."""
        place = self.scene.items_by_node[node_id].pos()
        return in_port(place.x(), place.y())

    def press(self, at: QPointF, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Press the left button."""
        self._send(QEvent.Type.MouseButtonPress, at, LEFT, modifiers)

    def move(self, at: QPointF, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Move with the button down."""
        self._send(QEvent.Type.MouseMove, at, Qt.MouseButton.NoButton, modifiers, LEFT)

    def hover(self, at: QPointF) -> None:
        """Move without any button."""
        none = Qt.MouseButton.NoButton
        self._send(QEvent.Type.MouseMove, at, none, NO_KEY, none)

    def release(self, at: QPointF, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Let go of the left button."""
        none = Qt.MouseButton.NoButton
        self._send(QEvent.Type.MouseButtonRelease, at, LEFT, modifiers, none)

    def click(self, at: QPointF, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Press and let go."""
        self.press(at, modifiers)
        self.release(at, modifiers)

    def double_click(self, at: QPointF) -> None:
        """Click twice."""
        self.click(at)
        self._send(QEvent.Type.MouseButtonDblClick, at, LEFT, NO_KEY)
        self.release(at)

    def drag(self, start: QPointF, end: QPointF, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Press, move in a few steps, let go."""
        self.press(start, modifiers)
        for step in (0.3, 0.7, 1.0):
            self.move(start + (end - start) * step, modifiers)
        self.release(end, modifiers)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NO_KEY) -> None:
        """Press a key on whatever has the focus."""
        QTest.keyClick(self.focused(), key, modifiers)

    def type(self, text: str) -> None:
        """Write into whatever has the focus."""
        QTest.keyClicks(self.focused(), text)

    def focused(self) -> QWidget:
        """What has the focus."""
        widget = QApplication.focusWidget()
        assert widget is not None
        return widget

    def _send(
        self,
        kind: QEvent.Type,
        at: QPointF,
        button: Qt.MouseButton,
        modifiers: Qt.KeyboardModifier,
        held: Qt.MouseButton = LEFT,
    ) -> None:
        here: QPoint = self.view.mapFromScene(at)
        viewport = self.view.viewport()
        event = QMouseEvent(
            kind, QPointF(here), QPointF(viewport.mapToGlobal(here)), button, held, modifiers
        )
        QApplication.sendEvent(viewport, event)

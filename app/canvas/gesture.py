"""What every gesture has: a beginning, movements, and an end that counts or does not."""

from __future__ import annotations

from abc import ABC, abstractmethod

from PySide6.QtCore import QPointF, Qt


class Gesture(ABC):
    """One thing that a hand does from pressing a button to letting go of it.

    Points are in scene units. `finish` or `cancel` comes last, and exactly once.
    """

    cursor = Qt.CursorShape.ArrowCursor

    @abstractmethod
    def move(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """The pointer is here now."""

    @abstractmethod
    def finish(self, at: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        """The button was let go here: what the gesture means becomes a step."""

    @abstractmethod
    def cancel(self) -> None:
        """Leave everything as it was."""

"""Painting that cannot take the program down.

An exception that leaves `paint()` during a synchronous repaint ends the process. Every item with a
`paint` of its own goes through this base instead.
"""

from __future__ import annotations

import logging

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

logger = logging.getLogger(__name__)


class GuardedPaint:
    """Mixed into a graphics item, before its Qt base; the item implements `paint_guarded`."""

    _is_broken = False

    def paint_guarded(self, painter: QPainter, option: QStyleOptionGraphicsItem) -> None:
        """Paint the item; the painter's state is saved before and restored after."""
        raise NotImplementedError

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Paint, or report once why it is not possible and stay empty from then on."""
        if self._is_broken:
            return
        painter.save()
        try:
            self.paint_guarded(painter, option)
        except Exception:
            self._is_broken = True
            logger.exception("%s cannot be painted and is left out", type(self).__name__)
        finally:
            painter.restore()

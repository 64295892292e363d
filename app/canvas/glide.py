"""Gliding from one view of the canvas to another, so that the eye can follow."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QPointF, QVariantAnimation

Look = Callable[[float, QPointF], None]


class Glide(QVariantAnimation):
    """Moves scale and middle together; `look` is called for every step and for the last one."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look
        self._from = (1.0, QPointF())
        self._to = (1.0, QPointF())
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(self._step)

    def go(
        self, start: tuple[float, QPointF], end: tuple[float, QPointF], duration_ms: int
    ) -> None:
        """Go from one scale and middle to another; at once where there is to be no motion."""
        self.stop()
        if duration_ms <= 0:
            self._look(*end)
            return
        self._from, self._to = start, end
        self.setDuration(duration_ms)
        self.start()

    def _step(self, share: float) -> None:
        (scale, middle), (end_scale, end_middle) = self._from, self._to
        now = scale * (end_scale / scale) ** share
        # The middle moves with the scale, not with time: what is zoomed at stays where it is.
        if abs(end_scale - scale) > 1e-9:
            share = (1 / scale - 1 / now) / (1 / scale - 1 / end_scale)
        self._look(now, middle + (end_middle - middle) * share)

"""Unreachable objects are looked for on the UI thread alone.

Python does it on whichever thread happens to make one object too many. A `QObject` that is part of
a circle would then die on a thread that is not its own: its timers stay behind, and the next one
that fires takes the process down.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 500


_OLDEST = 2
_GROWTH = 1.25
"""All objects are looked at only once there are so many times those that stayed the last time."""


class Collector:
    """Decides what is due; looking at all objects takes longer than a frame."""

    def __init__(self) -> None:
        self._stayed = 0

    def collect_what_is_due(self) -> int:
        """Collect as far as Python itself would by now; the number of objects that were freed."""
        due = [
            generation
            for generation, (count, threshold) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if 0 < threshold < count
        ]
        if not due:
            return 0
        if due[-1] < _OLDEST:
            return gc.collect(due[-1])
        if len(gc.get_objects(_OLDEST)) < self._stayed * _GROWTH:
            return gc.collect(_OLDEST - 1)
        freed = gc.collect()
        self._stayed = len(gc.get_objects(_OLDEST))
        return freed


class UiThreadGarbage(QObject):
    """Keeps Python from collecting by itself and does it now and then, as long as it lives.

    Belongs to the thread that makes it.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._collector = Collector()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._collector.collect_what_is_due)
        self._timer.start()

    def stop(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.enable()

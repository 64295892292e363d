"""From a run to the window: everything that happened, once a frame, in one signal."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from orchestration.runs.event_hub import Subscription

FRAME_MS = 33


class RunBridge(QObject):
    """Drains one subscription at most once a frame; between events it does nothing at all.

    Signals:
        records: The `EventRecord`s since the last time, in order.
    """

    records = Signal(list)

    def __init__(self, subscription: Subscription, parent: QObject) -> None:
        super().__init__(parent)
        self._subscription = subscription
        self._last_flush = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.flush)
        subscription.on_ready = self._schedule

    def flush(self) -> None:
        """Hand on what there is now."""
        self._timer.stop()
        drained = self._subscription.drain()
        if drained:
            self._last_flush = time.monotonic()
            self.records.emit(drained)

    def close(self) -> None:
        """Hand on what is left, then nothing any more."""
        self._subscription.on_ready = None
        self.flush()
        self._subscription.close()

    def _schedule(self) -> None:
        if not self._timer.isActive():
            since_ms = (time.monotonic() - self._last_flush) * 1000
            self._timer.start(max(0, round(FRAME_MS - since_ms)))
